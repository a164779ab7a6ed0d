//! Reads the letters of a word eight at a time.

/// Letters at one place of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Letters {
    /// How many, from none to [`Letters::MOST`].
    pub count: usize,
    /// The letters as one number.
    pub text: u64,
    /// The same in lower case; a `_` has a value of its own.
    pub lower: u64,
}

/// A letter that stands for itself.
pub fn is_plain_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// The highest bit of each byte.
const HIGH: u64 = every(0x80);

impl Letters {
    /// More are read in parts.
    pub const MOST: usize = 8;

    /// The letters at `at`.
    pub fn at(line: &[u8], at: usize) -> Letters {
        let rest = &line[at..];
        let bytes = rest.first_chunk().map_or_else(|| padded(rest), |it| *it);
        let text = u64::from_le_bytes(bytes);
        let others = !letters_in(text) & HIGH;
        let count = (others.trailing_zeros() / 8) as usize;
        let mask = match count {
            Letters::MOST => u64::MAX,
            count => (1 << (8 * count)) - 1,
        };
        Letters {
            count,
            text: text & mask,
            lower: (text | every(0x20)) & mask,
        }
    }
}

/// Fewer than eight bytes, with zeros behind them.
fn padded(rest: &[u8]) -> [u8; Letters::MOST] {
    let mut bytes = [0; Letters::MOST];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}

/// The highest bit of each byte that is a letter. A sum of two bytes below 0x80 never carries into the next byte.
fn letters_in(text: u64) -> u64 {
    let lower = (text | every(0x20)) & !HIGH;
    let from_a = lower + every(0x80 - b'a');
    let behind_z = lower + every(0x80 - b'z' - 1);
    let differs = text ^ every(b'_');
    let is_other = ((differs & !HIGH) + every(0x7f)) | differs;
    (from_a & !behind_z & !text | !is_other) & HIGH
}

/// Eight times the same byte.
const fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_told_from_letters_at_every_place() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                let mut text = *b"aZ_zAbcd";
                text[place] = byte;
                let expected = if is_plain_letter(byte) { 8 } else { place };
                assert_eq!(
                    Letters::at(&text, 0).count,
                    expected,
                    "{byte:#x} at {place}"
                );
            }
        }
    }

    #[test]
    fn case_makes_no_difference_in_lower_case() {
        let [one, other] = [b"Step 1", b"sTEP 2"].map(|line| Letters::at(line, 0));
        assert_eq!((one.count, one.lower), (4, other.lower));
        assert_ne!(one.text, other.text);
        assert_ne!(Letters::at(b"a_b", 0).lower, Letters::at(b"a?b", 0).lower);
    }

    proptest! {
        #[test]
        fn as_many_letters_are_read_as_one_by_one(line in prop::collection::vec(any::<u8>(), 1..20), at in 0usize..20) {
            let at = at.min(line.len());
            let expected = line[at..].iter().take_while(|b| is_plain_letter(**b)).count();
            prop_assert_eq!(Letters::at(&line, at).count, expected.min(Letters::MOST));
        }
    }
}
