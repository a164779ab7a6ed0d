//! Quantities with their unit in the type, and the one place that prints and parses them.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use growth::{GrowthBase, GrowthError, GrowthLimit};

mod growth;

/// An amount of memory. Prints as MiB or GiB; files and JSON carry the plain number of bytes.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A change of memory: the difference of two [`Bytes`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByteDelta(pub i64);

/// Growth of memory over time.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct BytesPerSecond(pub f64);

/// Seconds on the recording's own clock: 0 at its start, never stepping back.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seconds(pub f64);

/// A training step, as the training itself counts it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Step(pub u64);

/// CPU time in milliseconds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct CpuMillis(pub u64);

/// A limit as it is written on the command line: an amount, or a share of the ceiling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// `28GiB`
    Size(Bytes),
    /// `90%`, held as 0.9
    Share(f64),
}

/// Why a size could not be parsed; the message has an example.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// A share of nothing, or of more than all.
    #[error("'{0}' is no share of memory; write more than 0% and at most 100%, such as 90%")]
    NoShare(String),
    /// A limit that no process can keep.
    #[error(
        "a limit of '{0}' is below what any process needs; write a size, such as 28GiB, or a share, such as 90%"
    )]
    NoLimit(String),
    /// No digits in front.
    #[error("'{0}' is not a size; write a number with its unit, such as 28GiB or 28GB")]
    NotANumber(String),
    /// A bare number: bytes, MB, GB?
    #[error(
        "'{0}' has no unit; write {0}GiB (1024-based), {0}GB (1000-based) or {0}B if bytes are meant"
    )]
    NoUnit(String),
    /// An unknown unit.
    #[error(
        "'{unit}' in '{text}' is not a unit of memory; known: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB"
    )]
    UnknownUnit {
        /// What was written.
        text: String,
        /// The part that is no unit.
        unit: String,
    },
    /// Larger than any machine.
    #[error("'{0}' is larger than any memory")]
    TooLarge(String),
}

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);

    /// From the kernel's "kB", which are 1024 bytes each.
    pub fn from_kib(kib: u64) -> Bytes {
        Bytes(kib.saturating_mul(1024))
    }

    /// Rounded up to whole KiB.
    #[must_use]
    pub fn in_kib(self) -> Bytes {
        Bytes::from_kib(self.0.div_ceil(1024))
    }

    /// This share of the amount; 1.0 is all of it.
    pub fn share(self, share: f64) -> Bytes {
        Bytes((self.0 as f64 * share) as u64)
    }

    /// What is left after taking `other` away, never below zero.
    pub fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// How much larger this is than `earlier`; negative when it shrank.
    pub fn since(self, earlier: Bytes) -> ByteDelta {
        ByteDelta(self.0.wrapping_sub(earlier.0) as i64)
    }

    /// This amount moved by `delta`, never below zero.
    pub fn moved_by(self, delta: ByteDelta) -> Bytes {
        Bytes(self.0.saturating_add_signed(delta.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(amounts: I) -> Bytes {
        amounts.fold(Bytes::ZERO, Add::add)
    }
}

impl Add for ByteDelta {
    type Output = ByteDelta;
    fn add(self, other: ByteDelta) -> ByteDelta {
        ByteDelta(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&human_bytes(self.0))
    }
}

impl fmt::Display for ByteDelta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        f.pad(&format!("{sign}{}", human_bytes(self.0.unsigned_abs())))
    }
}

impl Sub for Seconds {
    type Output = Seconds;
    fn sub(self, other: Seconds) -> Seconds {
        Seconds(self.0 - other.0)
    }
}

impl fmt::Display for Seconds {
    /// Two units at most: `45 s`, `12 min`, `3 h 20 min`, `5 d 4 h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        const DAY: u64 = 24 * HOUR;
        let whole = self.0.max(0.0).round() as u64;
        let text = match whole {
            0 if self.0 > 0.0 => format!("{:.1} s", self.0),
            s if s < 2 * MINUTE => format!("{s} s"),
            s if s < HOUR => format!("{} min", s / MINUTE),
            s if s < DAY => format!("{} h {} min", s / HOUR, s % HOUR / MINUTE),
            s => format!("{} d {} h", s / DAY, s % DAY / HOUR),
        };
        f.pad(&text)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

impl FromStr for Bytes {
    type Err = SizeError;

    /// `28GiB` and `28GB` are different amounts, `28` is refused: a slip between units is how a
    /// leak gets reported ten times too small.
    fn from_str(text: &str) -> Result<Bytes, SizeError> {
        let trimmed = text.trim();
        let end_of_number = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end_of_number);
        let number: f64 = number
            .parse()
            .map_err(|_| SizeError::NotANumber(text.to_owned()))?;
        let factor = unit_factor(unit.trim(), text)?;
        let bytes = number * factor;
        if bytes < u64::MAX as f64 {
            Ok(Bytes(bytes.round() as u64))
        } else {
            Err(SizeError::TooLarge(text.to_owned()))
        }
    }
}

impl FromStr for Limit {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Limit, SizeError> {
        match text.trim().strip_suffix('%') {
            Some(percent) => match percent.trim().parse::<f64>() {
                Ok(share) if share > 0.0 && share <= 100.0 => Ok(Limit::Share(share / 100.0)),
                _ => Err(SizeError::NoShare(text.to_owned())),
            },
            None => match text.parse()? {
                Bytes::ZERO => Err(SizeError::NoLimit(text.to_owned())),
                size => Ok(Limit::Size(size)),
            },
        }
    }
}

const KIB: f64 = 1024.0;

fn unit_factor(unit: &str, text: &str) -> Result<f64, SizeError> {
    Ok(match unit {
        "" => return Err(SizeError::NoUnit(text.trim().to_owned())),
        "B" | "b" | "bytes" => 1.0,
        "kB" | "KB" | "kb" => 1e3,
        "KiB" | "kib" | "K" | "k" => KIB,
        "MB" | "mb" => 1e6,
        "MiB" | "mib" | "M" | "m" => KIB * KIB,
        "GB" | "gb" => 1e9,
        "GiB" | "gib" | "G" | "g" => KIB * KIB * KIB,
        "TB" | "tb" => 1e12,
        "TiB" | "tib" | "T" | "t" => KIB * KIB * KIB * KIB,
        other => {
            return Err(SizeError::UnknownUnit {
                text: text.to_owned(),
                unit: other.to_owned(),
            });
        }
    })
}

fn human_bytes(bytes: u64) -> String {
    let amount = bytes as f64;
    if bytes < 1024 {
        format!("{bytes} B")
    } else if amount < KIB * KIB {
        format!("{:.0} KiB", amount / KIB)
    } else if amount < 10.0 * KIB * KIB {
        format!("{:.1} MiB", amount / (KIB * KIB))
    } else if amount < KIB * KIB * KIB {
        format!("{:.0} MiB", amount / (KIB * KIB))
    } else if amount < KIB * KIB * KIB * KIB {
        format!("{:.1} GiB", amount / (KIB * KIB * KIB))
    } else {
        format!("{:.1} TiB", amount / (KIB * KIB * KIB * KIB))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_units_are_distinct() {
        assert_eq!("28GiB".parse(), Ok(Bytes(28 << 30)));
        assert_eq!("28GB".parse(), Ok(Bytes(28_000_000_000)));
        assert_eq!("1.5 GiB".parse(), Ok(Bytes(3 << 29)));
    }

    #[test]
    fn a_bare_number_is_refused_with_the_choices() {
        let error = "28".parse::<Bytes>().unwrap_err().to_string();
        assert!(error.contains("28GiB") && error.contains("28GB"), "{error}");
        assert!("".parse::<Bytes>().is_err());
        assert!("-3GB".parse::<Bytes>().is_err());
        assert!(
            "3 gallons"
                .parse::<Bytes>()
                .unwrap_err()
                .to_string()
                .contains("gallons")
        );
        assert!("99999999999TiB".parse::<Bytes>().is_err());
    }

    #[test]
    fn limits_are_sizes_or_shares() {
        assert_eq!("90%".parse(), Ok(Limit::Share(0.9)));
        assert_eq!("28GiB".parse(), Ok(Limit::Size(Bytes(28 << 30))));
        assert!("0%".parse::<Limit>().is_err());
        assert!("140%".parse::<Limit>().is_err());
    }

    #[test]
    fn amounts_print_with_their_unit() {
        let printed: Vec<String> = [0, 900, 4096, 1_572_864, 400 << 20, 18_683_000_000]
            .map(|b| Bytes(b).to_string())
            .into();
        assert_eq!(
            printed,
            ["0 B", "900 B", "4 KiB", "1.5 MiB", "400 MiB", "17.4 GiB"]
        );
        assert_eq!(ByteDelta(-5 << 20).to_string(), "-5.0 MiB");
        assert_eq!(Bytes(10).since(Bytes(30)), ByteDelta(-20));
        assert_eq!(Bytes(10).moved_by(ByteDelta(-20)), Bytes::ZERO);
    }

    #[test]
    fn durations_print_in_two_units_at_most() {
        let printed: Vec<String> = [0.25, 45.2, 720.0, 12_000.0, 450_000.0]
            .map(|s| Seconds(s).to_string())
            .into();
        assert_eq!(
            printed,
            ["0.2 s", "45 s", "12 min", "3 h 20 min", "5 d 5 h"]
        );
    }
}
