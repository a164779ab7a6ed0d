//! Amounts of memory on the command line.

use std::fmt;
use std::str::FromStr;

/// So many bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// What can be written behind a number, and how many bytes it is.
const UNITS: [(&str, f64); 7] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
];

impl FromStr for Size {
    type Err = String;

    /// `64KiB`, `1.5 MiB`, `2MB`: powers of two and of ten are different.
    fn from_str(text: &str) -> Result<Size, String> {
        let text = text.trim();
        let digits = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let known = UNITS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()));
        match (number.parse::<f64>(), known) {
            (Ok(number), Some((_, factor))) if number > 0.0 => {
                Ok(Size((number * factor).round() as u64))
            }
            _ => Err(
                "write an amount above zero in B, KiB, MiB, GiB, KB, MB or GB, such as 64KiB"
                    .to_owned(),
            ),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        let (amount, unit) = match self.0 {
            0..1024 => return write!(f, "{} B", self.0),
            1024..1_048_576 => (bytes / 1024.0, "KiB"),
            1_048_576..1_073_741_824 => (bytes / 1_048_576.0, "MiB"),
            _ => (bytes / 1_073_741_824.0, "GiB"),
        };
        if amount < 10.0 {
            write!(f, "{amount:.1} {unit}")
        } else {
            write!(f, "{amount:.0} {unit}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_in_their_usual_notations() {
        for (text, bytes) in [
            ("64KiB", 65_536),
            ("1.5 MiB", 1_572_864),
            ("2MB", 2_000_000),
            ("1gib", 1 << 30),
            ("10 B", 10),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for wrong in ["", "64", "MiB", "-1MiB", "0MiB", "1 apple", "1..2KiB"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn amounts_are_shown_in_powers_of_two() {
        assert_eq!(Size(1 << 20).to_string(), "1.0 MiB");
        assert_eq!(Size(177_000_000).to_string(), "169 MiB");
        assert_eq!(Size(500).to_string(), "500 B");
    }
}
