//! How much memory may grow, and within what.

use std::fmt;
use std::str::FromStr;

use super::{Bytes, SizeError};

/// Growth that is still accepted: `1MiB/step`, `170MB per 10 steps`, `1GiB/h`. An amount without a base is refused,
/// because 170 MB in ten steps and 170 MB in one step are easily confused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrowthLimit {
    amount: Bytes,
    /// How many of the base the amount is for: 10 steps, the 60 seconds of a minute. Above zero.
    count: u32,
    base: GrowthBase,
}

/// What growth is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GrowthBase {
    /// A training step.
    Step,
    /// An epoch.
    Epoch,
    /// A second; minutes, hours and days are so many of it.
    Second,
}

/// Why a growth could not be parsed; the message has an example.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrowthError {
    /// The amount is not valid.
    #[error(transparent)]
    Amount(#[from] SizeError),
    /// An amount alone.
    #[error("{0} per what? write {0}/step, {0}/epoch, {0}/min or {0}/h")]
    NoBase(String),
    /// An unknown base.
    #[error(
        "'{base}' in '{text}' is not a base for growth; known: step, 10 steps, epoch, s, min, h, d"
    )]
    UnknownBase {
        /// What was written.
        text: String,
        /// The part that is no base.
        base: String,
    },
}

impl GrowthLimit {
    /// Bytes for each single one of the base: a step, an epoch, a second.
    pub fn bytes_per_base(&self) -> f64 {
        self.amount.0 as f64 / f64::from(self.count)
    }

    /// What it is counted in.
    pub fn base(&self) -> GrowthBase {
        self.base
    }
}

impl FromStr for GrowthLimit {
    type Err = GrowthError;

    fn from_str(text: &str) -> Result<GrowthLimit, GrowthError> {
        let Some((amount, base)) = split_at_per(text) else {
            // `28` lacks its unit as well, and that comes first.
            text.parse::<Bytes>()?;
            return Err(GrowthError::NoBase(text.trim().to_owned()));
        };
        let amount = amount.parse()?;
        let (count, base) = parse_base(base).ok_or_else(|| GrowthError::UnknownBase {
            text: text.trim().to_owned(),
            base: base.trim().to_owned(),
        })?;
        Ok(GrowthLimit {
            amount,
            count,
            base,
        })
    }
}

impl fmt::Display for GrowthLimit {
    /// `1.0 MiB per step`, `162 MiB per 10 steps`, `1.0 GiB per h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match (self.base, self.count) {
            (GrowthBase::Step, 1) => "step".to_owned(),
            (GrowthBase::Step, count) => format!("{count} steps"),
            (GrowthBase::Epoch, 1) => "epoch".to_owned(),
            (GrowthBase::Epoch, count) => format!("{count} epochs"),
            (GrowthBase::Second, 1) => "s".to_owned(),
            (GrowthBase::Second, MINUTE) => "min".to_owned(),
            (GrowthBase::Second, HOUR) => "h".to_owned(),
            (GrowthBase::Second, DAY) => "d".to_owned(),
            (GrowthBase::Second, count) => format!("{count} s"),
        };
        f.pad(&format!("{} per {unit}", self.amount))
    }
}

/// Seconds in a minute, an hour and a day.
const MINUTE: u32 = 60;
const HOUR: u32 = 60 * MINUTE;
const DAY: u32 = 24 * HOUR;

/// What stands before and after the first `/`, or the word `per`.
fn split_at_per(text: &str) -> Option<(&str, &str)> {
    text.split_once('/').or_else(|| text.split_once(" per "))
}

/// `step`, `10 steps`, `min`; nothing is not a base, and neither is `0 steps`.
fn parse_base(text: &str) -> Option<(u32, GrowthBase)> {
    let text = text.trim();
    let end_of_count = text.find(|c: char| !c.is_ascii_digit())?;
    let (count, unit) = text.split_at(end_of_count);
    let count = match count {
        "" => 1,
        count => count.parse::<u32>().ok().filter(|count| *count > 0)?,
    };
    let (times, base) = match unit.trim() {
        "step" | "steps" => (1, GrowthBase::Step),
        "epoch" | "epochs" => (1, GrowthBase::Epoch),
        "s" | "sec" | "second" | "seconds" => (1, GrowthBase::Second),
        "m" | "min" | "minute" | "minutes" => (MINUTE, GrowthBase::Second),
        "h" | "hour" | "hours" => (HOUR, GrowthBase::Second),
        "d" | "day" | "days" => (DAY, GrowthBase::Second),
        _ => return None,
    };
    Some((count.checked_mul(times)?, base))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, bytes_per_base: f64, base: GrowthBase, printed: &str) {
        let limit: GrowthLimit = text.parse().unwrap();
        assert_eq!(limit.bytes_per_base(), bytes_per_base, "{text}");
        assert_eq!(limit.base(), base, "{text}");
        assert_eq!(limit.to_string(), printed, "{text}");
    }

    #[test]
    fn growth_is_an_amount_for_each_of_something() {
        use GrowthBase::{Epoch, Second, Step};
        check("1MiB/step", 1_048_576.0, Step, "1.0 MiB per step");
        check("1 MiB per step", 1_048_576.0, Step, "1.0 MiB per step");
        check("500kB/step", 500_000.0, Step, "488 KiB per step");
        check("170MB/10 steps", 17e6, Step, "162 MiB per 10 steps");
        check("170MB per 10steps", 17e6, Step, "162 MiB per 10 steps");
        check("2GiB / epoch", 2_147_483_648.0, Epoch, "2.0 GiB per epoch");
        check("1kB/s", 1000.0, Second, "1000 B per s");
        check("60MB/min", 1e6, Second, "57 MiB per min");
        check("3600MB/h", 1e6, Second, "3.4 GiB per h");
        check("86400B/day", 1.0, Second, "84 KiB per d");
        check("0B/step", 0.0, Step, "0 B per step");
    }

    #[track_caller]
    fn refused(text: &str, words: &[&str]) {
        let error = text.parse::<GrowthLimit>().unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    }

    #[test]
    fn an_amount_alone_needs_a_base() {
        refused("1MiB", &["1MiB per what?", "1MiB/step"]);
        refused("28", &["'28' has no unit"]);
        refused("28/step", &["'28' has no unit", "28GiB"]);
        refused("", &["not a size"]);
        refused("/step", &["not a size"]);
        refused("-1MiB/step", &["not a size"]);
        refused("1 pint/step", &["'pint'", "MiB"]);
    }

    #[test]
    fn a_base_that_is_none_is_named() {
        for base in [
            "",
            "10",
            "batch",
            "0 steps",
            "-1 step",
            "4294967295 min",
            "99999999999 steps",
        ] {
            let quoted = format!("'{base}'");
            refused(&format!("1MiB/{base}"), &[&quoted, "known: step"]);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*", amount in "[0-9.]{1,30}[kMG]?i?B", base in "[0-9]{0,12} ?[a-z]{0,6}") {
            let _ = text.parse::<GrowthLimit>();
            if let Ok(limit) = format!("{amount}/{base}").parse::<GrowthLimit>() {
                prop_assert!(limit.bytes_per_base().is_finite());
                prop_assert_eq!(limit.to_string().parse::<GrowthLimit>().unwrap().base(), limit.base());
            }
        }
    }
}
