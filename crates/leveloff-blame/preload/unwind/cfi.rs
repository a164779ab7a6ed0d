//! Call frame information: from an address to the rule that finds its caller's frame. DWARF 5 section 6.4 and the LSB's
//! `.eh_frame`; only what compilers write for ordinary functions.

use super::bytes::{Bytes, OMITTED};
use super::row::{Machine, Row};
use super::rule::Rule;

/// The rule for an address. `interpreter` is an address in Python's interpreter loop, or 0.
///
/// # Safety
/// `header` is the `.eh_frame_hdr` of an object that is mapped from `start` to `end`.
pub unsafe fn rule(at: usize, header: usize, start: usize, end: usize, interpreter: usize) -> Rule {
    let found = || {
        let entry = find_entry(at, header, end)?;
        let fde = FunctionEntry::parse(entry, start, end)?;
        if !(fde.start..fde.end).contains(&at) {
            return None;
        }
        let row = fde.row_at(at)?;
        Rule::of(&row, (fde.start..fde.end).contains(&interpreter))
    };
    found().unwrap_or(Rule::END)
}

/// Looks the address up in the sorted table of `.eh_frame_hdr`; returns where its function's entry is.
fn find_entry(at: usize, header: usize, end: usize) -> Option<usize> {
    /// Relative to the header, four bytes: what every linker writes.
    const USUAL_TABLE: u8 = 0x3b;
    let mut bytes = Bytes { at: header, end };
    let (version, frame, count, table) = (bytes.u8()?, bytes.u8()?, bytes.u8()?, bytes.u8()?);
    if version != 1 || count == OMITTED || table != USUAL_TABLE {
        return None;
    }
    bytes.pointer(frame, header)?;
    let count = bytes.pointer(count, header)?;
    let first = bytes.at;
    let row = |n: usize| {
        let mut row = Bytes {
            at: first.checked_add(n.checked_mul(8)?)?,
            end,
        };
        Some((row.pointer(table, header)?, row.pointer(table, header)?))
    };
    let (mut low, mut high) = (0, count);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match row(middle)?.0 <= at {
            true => low = middle,
            false => high = middle,
        }
    }
    let (function, entry) = row(low)?;
    (function <= at).then_some(entry)
}

/// What applies to all functions of a compilation unit.
pub struct CommonEntry {
    pub code_factor: u64,
    pub data_factor: i64,
    pub pointers: u8,
    has_augmentation: bool,
    instructions: Bytes,
}

/// One function.
struct FunctionEntry {
    common: CommonEntry,
    start: usize,
    end: usize,
    instructions: Bytes,
}

/// The length of an entry at `at`, and the cursor behind it.
fn entry(at: usize, start: usize, end: usize) -> Option<Bytes> {
    if at < start || at >= end {
        return None;
    }
    let mut bytes = Bytes { at, end };
    let length = bytes.u32()? as usize;
    // 0 is the terminator; the 64-bit format is not used in `.eh_frame`.
    if length == 0 || length == 0xffff_ffff {
        return None;
    }
    bytes.end = bytes.at.checked_add(length).filter(|to| *to <= end)?;
    Some(bytes)
}

impl CommonEntry {
    fn parse(at: usize, start: usize, end: usize) -> Option<CommonEntry> {
        let mut bytes = entry(at, start, end)?;
        if bytes.u32()? != 0 || !matches!(bytes.u8()?, 1 | 3) {
            return None;
        }
        let augmentation = bytes.at;
        while bytes.u8()? != 0 {}
        let augmentation_end = bytes.at;
        let (code_factor, data_factor) = (bytes.uleb()?, bytes.sleb()?);
        bytes.uleb()?;
        let mut common = CommonEntry {
            code_factor,
            data_factor,
            pointers: 0,
            has_augmentation: false,
            instructions: bytes,
        };
        common.read_augmentation(
            Bytes {
                at: augmentation,
                end: augmentation_end,
            },
            &mut bytes,
        )?;
        common.instructions = bytes;
        Some(common)
    }

    fn read_augmentation(&mut self, mut letters: Bytes, bytes: &mut Bytes) -> Option<()> {
        let mut behind = None;
        loop {
            match letters.u8()? {
                0 => break,
                b'z' => {
                    self.has_augmentation = true;
                    let length = bytes.uleb()? as usize;
                    behind = Some(bytes.at.checked_add(length)?);
                }
                b'R' => self.pointers = bytes.u8()?,
                b'P' => {
                    let encoding = bytes.u8()?;
                    bytes.pointer(encoding & !0x80, 0)?;
                }
                b'L' => bytes.skip(1)?,
                b'B' | b'G' => {}
                // A signal's frame has other rules; there is no malloc in one.
                _ => return None,
            }
        }
        if let Some(behind) = behind {
            bytes.skip(behind.checked_sub(bytes.at)?)?;
        }
        Some(())
    }
}

impl FunctionEntry {
    fn parse(at: usize, start: usize, end: usize) -> Option<FunctionEntry> {
        let mut bytes = entry(at, start, end)?;
        let here = bytes.at;
        let back = bytes.u32()? as usize;
        let common = CommonEntry::parse(here.checked_sub(back)?, start, end)?;
        let function = bytes.pointer(common.pointers, 0)?;
        // A length has the format of a pointer, and no relation.
        let length = bytes.pointer(common.pointers & 0x0f, 0)?;
        if common.has_augmentation {
            let length = bytes.uleb()? as usize;
            bytes.skip(length)?;
        }
        Some(FunctionEntry {
            common,
            start: function,
            end: function.checked_add(length)?,
            instructions: bytes,
        })
    }

    /// Runs the instructions up to an address.
    fn row_at(&self, at: usize) -> Option<Row> {
        let mut machine = Machine::new(self.start);
        machine.run(self.common.instructions, &self.common, usize::MAX)?;
        machine.begin_function(self.start);
        machine.run(self.instructions, &self.common, at)?;
        Some(machine.row())
    }
}
