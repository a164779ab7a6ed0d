//! Notices that a training's steps are not read.

use leveloff_model::process::ProcessIndex;
use leveloff_model::progress::MissingSteps;
use leveloff_model::units::Seconds;
use leveloff_progress::SeenOutput;

/// A training that prints steps has printed one by then.
const LONG_ENOUGH: Seconds = Seconds(30.0);

/// A training that has run for that long before leveloff came: its files have been searched for by then.
const SEARCHED: Seconds = Seconds(5.0);

/// The same in lines of output.
const ENOUGH_LINES: u64 = 50;

/// A line that has begun is waited for until so many came after: an output of bars may never be at the end of one.
const LINES_TO_WAIT: u64 = 10;

/// The same where the time has come.
const WAITED_LONG_ENOUGH: Seconds = Seconds(LONG_ENOUGH.0 + 2.0);

/// Waits for the first step of a trainer.
#[derive(Debug, Default)]
pub struct StepWatch {
    lead: Option<ProcessIndex>,
    since: Option<Seconds>,
    is_settled: bool,
}

impl StepWatch {
    /// What to say, once for each lead: after half a minute or fifty lines without a step. `age` is that of the
    /// process.
    pub fn missing(
        &mut self,
        lead: ProcessIndex,
        (now, age): (Seconds, Seconds),
        has_step: bool,
        seen: impl Iterator<Item = SeenOutput>,
    ) -> Option<MissingSteps> {
        if self.lead != Some(lead) {
            (self.lead, self.since) = (Some(lead), None);
            self.is_settled = false;
        }
        let since = *self.since.get_or_insert(now);
        if self.is_settled || has_step {
            self.is_settled = true;
            return None;
        }
        let seen: Vec<SeenOutput> = seen.collect();
        let lines = seen.iter().map(|seen| seen.lines).sum();
        let watched = now - since;
        let is_time = watched >= LONG_ENOUGH || watched >= SEARCHED && age >= LONG_ENOUGH;
        if !is_time && lines < ENOUGH_LINES {
            return None;
        }
        let is_late = lines >= ENOUGH_LINES + LINES_TO_WAIT || watched >= WAITED_LONG_ENOUGH;
        if seen.iter().any(|seen| seen.is_inside_line) && !is_late {
            return None;
        }
        self.is_settled = true;
        Some(missing(lines, &seen))
    }
}

/// What is known: of several outputs, the one with most lines shows what the training prints.
fn missing(lines: u64, seen: &[SeenOutput]) -> MissingSteps {
    let with_line = seen.iter().filter(|seen| !seen.last_line.is_empty());
    let shown = with_line.max_by_key(|seen| (seen.pattern.is_some(), seen.lines));
    MissingSteps {
        lines,
        last_line: shown.map(|seen| seen.last_line.clone()),
        pattern: shown.and_then(|seen| seen.pattern.clone()),
        goes_to_null: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(watch: &mut StepWatch, t: f64, has_step: bool, lines: u64) -> Option<MissingSteps> {
        let seen = SeenOutput {
            lines,
            last_line: "round 7 done".to_owned(),
            pattern: Some(r"round\s*(?P<step>\d+)".to_owned()),
            has_steps: false,
            is_inside_line: false,
        };
        let time = (Seconds(t), Seconds(t));
        watch.missing(ProcessIndex(0), time, has_step, [seen].into_iter())
    }

    #[test]
    fn half_a_minute_or_fifty_lines_are_enough_and_once_is_enough() {
        let mut watch = StepWatch::default();
        assert_eq!(said(&mut watch, 5.0, false, 49), None);
        let missing = said(&mut watch, 6.0, false, 50).unwrap();
        assert_eq!(missing.last_line.as_deref(), Some("round 7 done"));
        assert_eq!(missing.pattern.as_deref(), Some(r"round\s*(?P<step>\d+)"));
        assert_eq!(said(&mut watch, 60.0, false, 500), None);
        let mut watch = StepWatch::default();
        assert_eq!(said(&mut watch, 5.0, false, 0), None);
        assert!(said(&mut watch, 35.0, false, 0).is_some());
    }

    #[test]
    fn a_line_that_has_begun_is_waited_for() {
        let mut watch = StepWatch::default();
        let mut inside = |lines| {
            let seen = SeenOutput {
                lines,
                is_inside_line: true,
                ..SeenOutput::default()
            };
            let time = (Seconds(1.0), Seconds(1.0));
            watch.missing(ProcessIndex(0), time, false, [seen].into_iter())
        };
        assert_eq!(inside(50), None);
        assert!(inside(60).is_some());
        let mut watch = StepWatch::default();
        assert!(said(&mut watch, 1.0, false, 50).is_some());
    }

    #[test]
    fn a_training_with_steps_lacks_nothing() {
        let mut watch = StepWatch::default();
        assert_eq!(said(&mut watch, 5.0, true, 400), None);
        assert_eq!(said(&mut watch, 500.0, false, 400), None);
    }
}
