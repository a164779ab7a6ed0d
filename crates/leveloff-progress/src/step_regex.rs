//! The user's own pattern for the lines that hold the step.

mod suggestion;

pub use suggestion::suggested_pattern;

use leveloff_model::progress::StepUnit;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Step;
use regex::bytes::{Captures, Regex, RegexBuilder};

use crate::number;
use crate::update::{Plan, ProgressUpdate};

/// A pattern with the named groups `step`, `total`, `epoch`, `tokens` and `samples`.
#[derive(Debug, Clone)]
pub struct StepRegex(Regex);

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadStepRegex {
    /// The pattern is not a regular expression; the text points at the place.
    #[error("{0}")]
    Syntax(String),
    /// No group counts anything.
    #[error(
        "'{0}' has no group that counts: name one, such as (?P<step>\\d+); the groups are {groups}",
        groups = GROUPS.join(", ")
    )]
    NoCounter(String),
    /// A group has a name that leveloff does not know.
    #[error("'{0}' is not a group of --step-regex; the groups are {groups}", groups = GROUPS.join(", "))]
    UnknownGroup(String),
}

/// The names of the groups.
const GROUPS: [&str; 5] = ["step", "total", "epoch", "tokens", "samples"];

/// The largest compiled pattern. A larger one would make the search slow.
const MOST_BYTES: usize = 1 << 20;

impl StepRegex {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Result<StepRegex, BadStepRegex> {
        let regex = RegexBuilder::new(pattern)
            .size_limit(MOST_BYTES)
            .build()
            .map_err(|error| BadStepRegex::Syntax(error.to_string()))?;
        let mut names = regex.capture_names().flatten();
        if let Some(name) = names.find(|name| !GROUPS.contains(name)) {
            return Err(BadStepRegex::UnknownGroup(name.to_owned()));
        }
        let counts = ["step", "tokens", "samples", "epoch"];
        if !regex
            .capture_names()
            .flatten()
            .any(|name| counts.contains(&name))
        {
            return Err(BadStepRegex::NoCounter(pattern.to_owned()));
        }
        Ok(StepRegex(regex))
    }

    /// The pattern as the user wrote it.
    pub fn pattern(&self) -> &str {
        self.0.as_str()
    }

    /// What a line holds; `None` when it does not match. The clock is the step, else samples, else tokens,
    /// else whole epochs.
    pub(crate) fn read(&self, line: &[u8]) -> Option<ProgressUpdate> {
        let captures = self.0.captures(line)?;
        let count = |name| group(&captures, name).and_then(count);
        let (samples, tokens) = (count("samples"), count("tokens"));
        let epoch = group(&captures, "epoch").and_then(decimal);
        let clocks = [
            (count("step"), StepUnit::Steps),
            (samples, StepUnit::Samples),
            (tokens, StepUnit::Tokens),
            (epoch.map(|epoch| epoch as u64), StepUnit::Epochs),
        ];
        let (step, unit) = clocks.into_iter().find_map(|(n, unit)| Some((n?, unit)))?;
        let mut update = ProgressUpdate {
            step: Some(Step(step)),
            unit: Some(unit),
            epoch,
            plan: count("total").map(|total| Plan::Steps(Step(total))),
            ..ProgressUpdate::default()
        };
        update.counters.set(TrainingCounter::Samples, samples);
        update.counters.set(TrainingCounter::Tokens, tokens);
        Some(update)
    }
}

impl PartialEq for StepRegex {
    fn eq(&self, other: &StepRegex) -> bool {
        self.pattern() == other.pattern()
    }
}

impl Eq for StepRegex {}

fn group<'a>(captures: &Captures<'a>, name: &str) -> Option<&'a [u8]> {
    captures.name(name).map(|found| found.as_bytes())
}

fn count(text: &[u8]) -> Option<u64> {
    let (n, rest) =
        number::whole(text.trim_ascii()).or_else(|| number::scaled(text.trim_ascii()))?;
    rest.is_empty().then_some(n)
}

fn decimal(text: &[u8]) -> Option<f64> {
    let (n, rest) = number::decimal(text.trim_ascii())?;
    rest.is_empty().then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pattern: &str, line: &str) -> Option<ProgressUpdate> {
        StepRegex::new(pattern).unwrap().read(line.as_bytes())
    }

    #[test]
    fn groups_become_fields() {
        let pattern =
            r"it=(?P<step>[\d,]+) of (?P<total>\d+) ep (?P<epoch>[\d.]+) tok (?P<tokens>\S+)";
        let update = read(pattern, "x it=1,200 of 5000 ep 1.5 tok 3.5M").unwrap();
        assert_eq!(update.step, Some(Step(1200)));
        assert_eq!(update.plan, Some(Plan::Steps(Step(5000))));
        assert_eq!(update.epoch, Some(1.5));
        assert_eq!(
            update.counters.get(TrainingCounter::Tokens),
            Some(3_500_000)
        );
        assert_eq!(read(pattern, "something else"), None);
    }

    #[test]
    fn samples_are_the_clock_where_there_is_no_step() {
        let update = read(r"seen (?P<samples>\d+)", "seen 640").unwrap();
        assert_eq!(
            (update.step, update.unit),
            (Some(Step(640)), Some(StepUnit::Samples))
        );
    }

    #[test]
    fn a_bad_pattern_is_explained() {
        let text = StepRegex::new(r"step (\d+").unwrap_err().to_string();
        assert!(
            text.contains("unclosed group") && text.contains('^'),
            "{text}"
        );
        let text = StepRegex::new(r"step (\d+)").unwrap_err().to_string();
        assert!(text.contains("(?P<step>"), "{text}");
        let text = StepRegex::new(r"(?P<stpe>\d+)").unwrap_err().to_string();
        assert!(text.contains("'stpe'"), "{text}");
    }
}
