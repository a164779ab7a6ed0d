//! Parsers of option values, shared by the command line and the configuration file.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use leveloff_classifier::gate::CheckOutcome;
use leveloff_progress::StepRegex;

use crate::session::VoiceMode;

/// The values of `--undecided`.
pub(crate) const UNDECIDED: [&str; 2] = ["pass", "fail"];

/// Faster than this, a sample would cost more than it shows.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// More verdicts than this take minutes, and are more than a screen shows.
const MOST_LOOKS: u32 = 10_000;

/// Slower than this, a run could end before its second sample.
const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);

pub(crate) fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = parse_duration(text)?;
    if interval < SHORTEST_INTERVAL || interval > LONGEST_INTERVAL {
        return Err("an interval is between 10ms and 1h; 1s is usual".to_owned());
    }
    Ok(interval)
}

/// `90s`, `500ms`, `10m`, `1.5h`, `2d`. A bare number is in seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let expected = "write a time with its unit, such as 500ms, 1s, 10m or 2h";
    let text = text.trim();
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.trim().parse().map_err(|_| expected.to_owned())?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "s" | "sec" | "" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86_400.0,
        _ => return Err(format!("'{unit}' is not a unit of time; {expected}")),
    };
    if seconds <= 0.0 || !seconds.is_finite() {
        return Err(format!("a time must be more than zero; {expected}"));
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{text} is too long; {expected}"))
}

/// `quiet`, `changes`, `every 10s`.
pub(crate) fn parse_voice(text: &str) -> Result<VoiceMode, String> {
    match text.trim() {
        "quiet" => Ok(VoiceMode::Quiet),
        "changes" => Ok(VoiceMode::Changes),
        text => match text.strip_prefix("every") {
            Some(time) => parse_interval(time).map(VoiceMode::Every),
            None => Err("write quiet, changes, or 'every 10s'".to_owned()),
        },
    }
}

/// What an undecided outcome counts as.
pub(crate) fn undecided_parser() -> impl TypedValueParser<Value = CheckOutcome> {
    let [pass, fail] = UNDECIDED;
    let values = PossibleValuesParser::new([
        PossibleValue::new(pass).help("Like level: code 0"),
        PossibleValue::new(fail).help("Like a leak: code 1"),
    ]);
    values.map(move |value| match value == pass {
        true => CheckOutcome::Passed,
        false => CheckOutcome::Failed,
    })
}

pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("a share of one core is between 0 and 100 percent; 0.5 is usual".to_owned()),
    }
}

/// `0`, `false`, `no`, `off` and their opposites.
pub(crate) fn parse_switch(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("write true or false".to_owned()),
    }
}

pub(crate) fn parse_pid(text: &str) -> Result<i32, String> {
    match text.parse::<i32>() {
        Ok(pid) if pid > 0 => Ok(pid),
        _ => Err(
            "a process number is a whole number above zero; `leveloff find` lists them".to_owned(),
        ),
    }
}

/// How many of something are used at the same time.
pub(crate) fn parse_jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.trim()
        .parse()
        .map_err(|_| "write a whole number above zero, such as 4".to_owned())
}

/// A number that may be zero, such as a rank.
pub(crate) fn parse_number(text: &str) -> Result<u32, String> {
    text.trim()
        .parse()
        .map_err(|_| "write a whole number, such as 3; it may be 0".to_owned())
}

/// Verdicts at earlier moments.
pub(crate) fn parse_looks(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(looks) if (1..=MOST_LOOKS).contains(&looks) => Ok(looks),
        _ => Err(format!(
            "write a whole number from 1 to {MOST_LOOKS}, such as 20"
        )),
    }
}

/// A step, or a number of seconds where no steps are counted.
pub(crate) fn parse_x(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err(
            "write a step, such as 1000; for a run without steps, a number of seconds without a unit"
                .to_owned(),
        ),
    }
}

/// A name that is printed and searched for.
pub(crate) fn parse_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a name has at least one letter".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// How often something is run.
pub(crate) fn parse_repeat(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(times) if times > 0 => Ok(times),
        _ => Err("write a whole number of runs above zero, such as 3".to_owned()),
    }
}

pub(crate) fn parse_steps(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(steps) if steps > 0 => Ok(steps),
        _ => Err("write a whole number of steps above zero, such as 90".to_owned()),
    }
}

/// A horizon: the step or the time by which memory must be level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LevelBy {
    Step(u64),
    Time(Duration),
}

impl std::fmt::Display for LevelBy {
    /// As on the command line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LevelBy::Step(step) => write!(f, "{step}"),
            LevelBy::Time(time) => write!(f, "{}s", time.as_secs_f64()),
        }
    }
}

/// A number is a step; a number with a unit of time is a time.
pub(crate) fn parse_level_by(text: &str) -> Result<LevelBy, String> {
    let text = text.trim();
    if text.ends_with(|c: char| c.is_ascii_alphabetic()) {
        let expected = "write a step, such as 90, or a time with its unit, such as 2m";
        return parse_duration(text)
            .map(LevelBy::Time)
            .map_err(|_| expected.to_owned());
    }
    parse_steps(text).map(LevelBy::Step)
}

/// The error points at the place in the pattern.
pub(crate) fn parse_step_regex(text: &str) -> Result<StepRegex, String> {
    StepRegex::new(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_must_be_positive_and_their_unit_known() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in [
            "0s", "0", "-1", "-1s", "", "s", "1 x", "nan", "infs", "1e400s",
        ] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0s", "-1s", "1ms", "2h"] {
            assert!(parse_interval(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_switch_is_on_or_off() {
        assert_eq!(parse_switch("0"), Ok(false));
        assert_eq!(parse_switch("Off"), Ok(false));
        assert_eq!(parse_switch("1"), Ok(true));
        assert!(parse_switch("").is_err() && parse_switch("2").is_err());
    }

    #[test]
    fn a_percentage_may_carry_its_sign() {
        assert_eq!(parse_percent("0.5%"), Ok(0.5));
        assert!(parse_percent("-1").is_err());
        assert!(parse_percent("101").is_err());
    }

    #[test]
    fn a_horizon_is_a_step_or_a_time() {
        assert_eq!(parse_level_by("90"), Ok(LevelBy::Step(90)));
        let two_minutes = Duration::from_secs(120);
        assert_eq!(parse_level_by("2m"), Ok(LevelBy::Time(two_minutes)));
        assert_eq!(parse_level_by("120 s"), Ok(LevelBy::Time(two_minutes)));
        for wrong in ["", "0", "-1", "1.5", "0s", "90steps", "soon"] {
            let error = parse_level_by(wrong).unwrap_err();
            assert!(error.contains("such as 90"), "{wrong}: {error}");
        }
    }

    #[test]
    fn steps_are_whole_and_above_zero() {
        assert_eq!(parse_steps("90"), Ok(90));
        for wrong in ["", "x", "0", "-1", "1.5", "90steps"] {
            assert!(
                parse_steps(wrong).unwrap_err().contains("such as 90"),
                "{wrong}"
            );
        }
    }
}
