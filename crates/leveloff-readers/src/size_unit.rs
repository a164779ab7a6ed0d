//! Units of memory.

use std::str::FromStr;

use leveloff_model::units::Bytes;

use crate::number::{number, with_thousands};

/// A unit of memory. `MB` is 1,000,000 bytes and `MiB` 1,048,576, here as everywhere in leveloff,
/// although many a program prints MiB and writes MB; a tool known to do so is read as it means it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeUnit {
    /// Bytes.
    B,
    /// 1,000 bytes.
    KB,
    /// 1,024 bytes; what the kernel calls kB.
    KiB,
    /// 1,000,000 bytes.
    MB,
    /// 1,024 KiB.
    MiB,
    /// 1,000,000,000 bytes.
    GB,
    /// 1,024 MiB.
    GiB,
    /// 1,000 GB.
    TB,
    /// 1,024 GiB.
    TiB,
}

/// Not a unit of memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a unit of memory; known: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB")]
pub struct UnknownUnit(String);

impl SizeUnit {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SizeUnit::B => "bytes",
            SizeUnit::KB => "kB",
            SizeUnit::KiB => "KiB",
            SizeUnit::MB => "MB",
            SizeUnit::MiB => "MiB",
            SizeUnit::GB => "GB",
            SizeUnit::GiB => "GiB",
            SizeUnit::TB => "TB",
            SizeUnit::TiB => "TiB",
        }
    }

    /// The unit that a word is, in any case.
    pub fn of_word(word: &[u8]) -> Option<SizeUnit> {
        let mut lower = [0; 8];
        let lower = lower.get_mut(..word.len())?;
        lower.copy_from_slice(word);
        lower.make_ascii_lowercase();
        Some(match &*lower {
            b"b" | b"byte" | b"bytes" => SizeUnit::B,
            b"kb" => SizeUnit::KB,
            b"kib" => SizeUnit::KiB,
            b"mb" => SizeUnit::MB,
            b"mib" => SizeUnit::MiB,
            b"gb" => SizeUnit::GB,
            b"gib" => SizeUnit::GiB,
            b"tb" => SizeUnit::TB,
            b"tib" => SizeUnit::TiB,
            _ => return None,
        })
    }

    /// The unit of a letter glued to a number, as `free -h` and `top` print it: 5.4G are GiB.
    pub fn of_letter(letter: u8) -> Option<SizeUnit> {
        Some(match letter.to_ascii_lowercase() {
            b'k' => SizeUnit::KiB,
            b'm' => SizeUnit::MiB,
            b'g' => SizeUnit::GiB,
            b't' => SizeUnit::TiB,
            _ => return None,
        })
    }

    /// So much of it in bytes; `None` for what is no amount: negative, not finite, too large.
    pub fn bytes(self, value: f64) -> Option<Bytes> {
        /// More than any machine has.
        const LARGEST: f64 = 1e18;
        let bytes = value * self.factor();
        // A negative zero is zero.
        (0.0..LARGEST)
            .contains(&bytes)
            .then(|| Bytes(bytes.round() as u64))
    }

    fn factor(self) -> f64 {
        const K: f64 = 1024.0;
        match self {
            SizeUnit::B => 1.0,
            SizeUnit::KB => 1e3,
            SizeUnit::KiB => K,
            SizeUnit::MB => 1e6,
            SizeUnit::MiB => K * K,
            SizeUnit::GB => 1e9,
            SizeUnit::GiB => K * K * K,
            SizeUnit::TB => 1e12,
            SizeUnit::TiB => K * K * K * K,
        }
    }
}

impl FromStr for SizeUnit {
    type Err = UnknownUnit;

    fn from_str(text: &str) -> Result<SizeUnit, UnknownUnit> {
        match text.trim().as_bytes() {
            [letter] if !letter.eq_ignore_ascii_case(&b'b') => SizeUnit::of_letter(*letter),
            word => SizeUnit::of_word(word),
        }
        .ok_or_else(|| UnknownUnit(text.to_owned()))
    }
}

/// The unit of whole numbers that carry none, by their magnitude: a process holds eight digits of bytes or more, and five
/// to seven of the kilobytes that the kernel counts. Smaller numbers, and those with decimals, may be anything.
pub fn by_magnitude(values: impl Iterator<Item = f64>) -> Option<SizeUnit> {
    /// 30 MB; as kilobytes, 30 GB.
    const FEWEST_BYTES: f64 = 3e7;
    /// 50 MB; as megabytes, 50 GB.
    const FEWEST_KILOBYTES: f64 = 5e4;
    const FEWEST_VALUES: usize = 3;
    let values: Vec<f64> = values.collect();
    let is_whole = values.iter().all(|value| value.fract() == 0.0);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    match (is_whole && values.len() >= FEWEST_VALUES, least, most) {
        (true, least, _) if least >= FEWEST_BYTES => Some(SizeUnit::B),
        (true, least, most) if least >= FEWEST_KILOBYTES && most < FEWEST_BYTES => {
            Some(SizeUnit::KiB)
        }
        _ => None,
    }
}

/// A field that carries its unit with it: `5552 MB`, `1.2GiB`, `5.4G`.
pub fn amount_with_unit(field: &[u8]) -> Option<(f64, SizeUnit)> {
    let field = field.trim_ascii();
    let split = field
        .iter()
        .rposition(|b| !b.is_ascii_alphabetic())
        .map_or(0, |at| at + 1);
    let (value, unit) = field.split_at(split);
    let unit = match unit {
        [letter] => SizeUnit::of_word(unit).or_else(|| SizeUnit::of_letter(*letter)),
        word => SizeUnit::of_word(word),
    }?;
    let value = number(value).or_else(|| with_thousands(value))?;
    Some((value, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_units_are_distinct() {
        assert_eq!(SizeUnit::MB.bytes(1.5), Some(Bytes(1_500_000)));
        assert_eq!(SizeUnit::MiB.bytes(1.5), Some(Bytes(3 << 19)));
        assert_eq!("mib".parse(), Ok(SizeUnit::MiB));
        assert_eq!("G".parse(), Ok(SizeUnit::GiB));
        let error = "gallons".parse::<SizeUnit>().unwrap_err().to_string();
        assert!(
            error.contains("gallons") && error.contains("MiB"),
            "{error}"
        );
    }

    #[test]
    fn large_whole_numbers_have_the_unit_of_their_magnitude() {
        let unit = |values: &[f64]| by_magnitude(values.iter().copied());
        assert_eq!(unit(&[5e8, 6e8, 7e8]), Some(SizeUnit::B));
        assert_eq!(unit(&[245_000.0, 246_000.0, 9e6]), Some(SizeUnit::KiB));
        for unknown in [
            &[5e8, 6e8][..],
            &[5552.0, 7159.0, 8000.0],
            &[60_000.5, 61_000.5, 62_000.0],
            &[245_000.0, 6e8, 7e8],
        ] {
            assert_eq!(unit(unknown), None, "{unknown:?}");
        }
    }

    #[test]
    fn what_is_no_amount_is_none() {
        for value in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
            assert_eq!(SizeUnit::GB.bytes(value), None, "{value}");
        }
        assert_eq!(SizeUnit::GB.bytes(-0.0), Some(Bytes(0)));
    }

    #[test]
    fn amounts_carry_their_unit() {
        assert_eq!(amount_with_unit(b"5552 MB"), Some((5552.0, SizeUnit::MB)));
        assert_eq!(amount_with_unit(b"1.2GiB"), Some((1.2, SizeUnit::GiB)));
        assert_eq!(amount_with_unit(b"5.4G"), Some((5.4, SizeUnit::GiB)));
        assert_eq!(amount_with_unit(b"1,234 kB"), Some((1234.0, SizeUnit::KB)));
        for none in ["5552", "MB", "", "5 apples", "5 MB/s", "1 2 MB"] {
            assert_eq!(amount_with_unit(none.as_bytes()), None, "{none}");
        }
    }
}
