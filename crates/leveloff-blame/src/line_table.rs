//! Python's line tables: from an instruction to its line. Each version up to 3.11 has another encoding.

/// Python 3.10, as in `Py_Version >> 16`.
const PYTHON_3_10: u64 = 0x30a;
/// Python 3.11.
const PYTHON_3_11: u64 = 0x30b;

/// The line of an instruction (an index of two-byte units) of a function that begins at `first_line`.
///
/// ```
/// use leveloff_blame::line_table::line;
///
/// // 3.9: pairs of bytes. Four bytes of code on the first line, then the next line.
/// assert_eq!(line(0x309, 10, &[4, 1], 0), Some(10));
/// assert_eq!(line(0x309, 10, &[4, 1], 2), Some(11));
/// ```
pub fn line(python: u64, first_line: u32, table: &[u8], instruction: u64) -> Option<u32> {
    let line = match python {
        ..PYTHON_3_10 => by_increments(first_line, table, instruction * 2),
        PYTHON_3_10 => by_ranges(first_line, table, instruction * 2),
        PYTHON_3_11.. => by_locations(first_line, table, instruction),
    };
    line.and_then(|line| u32::try_from(line).ok())
}

/// Up to 3.9: pairs of an increment of the byte offset and a signed increment of the line.
fn by_increments(first_line: u32, table: &[u8], offset: u64) -> Option<i64> {
    let (mut line, mut at) = (i64::from(first_line), 0);
    for pair in table.chunks_exact(2) {
        at += u64::from(pair[0]);
        if at > offset {
            break;
        }
        line += i64::from(pair[1] as i8);
    }
    Some(line)
}

/// 3.10: pairs of a range's length in bytes and the signed increment of its line; -128 for no line.
fn by_ranges(first_line: u32, table: &[u8], offset: u64) -> Option<i64> {
    let (mut line, mut end) = (i64::from(first_line), 0);
    for pair in table.chunks_exact(2) {
        end += u64::from(pair[0]);
        let has_line = pair[1] as i8 != -128;
        if has_line {
            line += i64::from(pair[1] as i8);
        }
        if offset < end {
            return has_line.then_some(line);
        }
    }
    None
}

/// From 3.11 on: entries of a code, a length in instructions and positions, as `Objects/locations.md` of CPython describes.
fn by_locations(first_line: u32, table: &[u8], instruction: u64) -> Option<i64> {
    /// The codes of an entry.
    const SHORT_FORM: std::ops::RangeInclusive<u8> = 0..=9;
    const ONE_LINE: std::ops::RangeInclusive<u8> = 10..=12;
    const NO_COLUMNS: u8 = 13;
    const LONG_FORM: u8 = 14;
    let mut bytes = table.iter().copied();
    let (mut line, mut end) = (i64::from(first_line), 0);
    while let Some(head) = bytes.next() {
        let code = head >> 3 & 15;
        end += u64::from(head & 7) + 1;
        let mut has_line = true;
        match code {
            code if SHORT_FORM.contains(&code) => skip(&mut bytes, 1),
            code if ONE_LINE.contains(&code) => {
                line += i64::from(code - ONE_LINE.start());
                skip(&mut bytes, 2);
            }
            NO_COLUMNS => line += signed(&mut bytes),
            LONG_FORM => {
                line += signed(&mut bytes);
                for _ in 0..3 {
                    unsigned(&mut bytes);
                }
            }
            _ => has_line = false,
        }
        if instruction < end {
            return has_line.then_some(line);
        }
    }
    None
}

fn skip(bytes: &mut impl Iterator<Item = u8>, count: usize) {
    for _ in 0..count {
        bytes.next();
    }
}

/// Six bits a byte, the lowest first; the seventh says that more follow.
fn unsigned(bytes: &mut impl Iterator<Item = u8>) -> i64 {
    let (mut value, mut shift) = (0, 0);
    for byte in bytes {
        if shift < 60 {
            value |= i64::from(byte & 63) << shift;
        }
        shift += 6;
        if byte & 64 == 0 {
            break;
        }
    }
    value
}

/// The lowest bit is the sign.
fn signed(bytes: &mut impl Iterator<Item = u8>) -> i64 {
    let value = unsigned(bytes);
    if value & 1 == 1 {
        -(value >> 1)
    } else {
        value >> 1
    }
}
