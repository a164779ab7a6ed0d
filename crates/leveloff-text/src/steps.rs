//! Where a run's steps come from, and what to do when none are read.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::printable;
use leveloff_model::progress::{MissingSteps, Progress, ProgressSource, StepSource, StepUnit};
use leveloff_model::recording::StatedFacts;

use crate::number::thousands;

/// `output 'iter'`, `log train.log, in samples`; `None` before the first step.
pub fn source_words(progress: &Progress) -> Option<String> {
    progress
        .source
        .as_ref()
        .map(|source| words(source, progress.unit))
}

/// How far a training has come: `step 1,200`, `training sample 640`; `None` before the first step.
pub fn position(progress: &Progress) -> Option<String> {
    let unit = progress.unit.map_or(XUnit::Step, XUnit::from);
    let step = progress.step?;
    Some(format!("{} {}", unit.name(), thousands(step.0)))
}

/// The event in which another counter takes over.
pub fn new_clock(counter: &str) -> String {
    format!("steps are counted by {} from here on", quoted(counter))
}

/// Why a horizon in steps does not apply to a run without steps, and what does.
pub fn horizon_without_steps(step: u64) -> String {
    format!(
        "no steps were read, so --level-by {step} cannot be applied: state a time, such as --level-by 2m"
    )
}

/// The same for a verdict, if its horizon does not apply.
pub fn unapplied_horizon(run: &RunVerdict, stated: &StatedFacts) -> Option<String> {
    let step = stated.level_by.filter(|_| !stated.level_by_is_assumed)?;
    (run.x_unit == XUnit::Second).then(|| horizon_without_steps(step.0))
}

/// What was seen of a training without steps, and the three ways to have them read.
pub fn missing(missing: &MissingSteps) -> String {
    let [seen, cures] = missing_parts(missing);
    format!("{seen}. To have them read: {cures}")
}

/// The same in two parts.
pub fn missing_parts(missing: &MissingSteps) -> [String; 2] {
    let seen = match (missing.lines, &missing.last_line) {
        (0, None) if missing.goes_to_null => {
            format!("no steps were read: {TO_NULL}, and no marks and no log with steps were found")
        }
        (0, None) => {
            "no steps were read: no output, no marks and no log with steps were found".to_owned()
        }
        (0, Some(line)) => format!(
            "no steps were read; a line with a number: {}",
            shortened(line)
        ),
        (lines, None) => format!("no steps were read in {}", counted(lines)),
        (lines, Some(line)) => format!(
            "no steps were read in {}; the last with a number: {}",
            counted(lines),
            shortened(line)
        ),
    };
    let seen = match missing.goes_to_null && missing.lines > 0 {
        true => format!("{seen}; {TO_NULL}"),
        false => seen,
    };
    let pattern = match &missing.pattern {
        Some(pattern) => format!("--step-regex '{pattern}' if that is the step"),
        None => format!("--step-regex '{ANY_NUMBER}' for lines of any format"),
    };
    let cures = format!(
        "{pattern}; --log FILE if another file holds them; or `leveloff.step(n)` in the training \
         loop (docs/PYTHON.md)"
    );
    [seen, cures]
}

/// Why there is no output to read.
const TO_NULL: &str =
    "the output cannot be read, because the standard output of the training goes to /dev/null";

/// A pattern where nothing is known of the lines.
const ANY_NUMBER: &str = r"step (?P<step>\d+)";

/// Characters of a line that are shown.
const SHOWN: usize = 80;

fn shortened(line: &str) -> String {
    let line = printable(line.trim().as_bytes());
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("'{}…'", &line[..end]),
        None => format!("'{line}'"),
    }
}

fn counted(lines: u64) -> String {
    match lines {
        1 => "1 line".to_owned(),
        lines => format!("{} lines", thousands(lines)),
    }
}

fn words(source: &StepSource, unit: Option<StepUnit>) -> String {
    let mut words = kind_words(source.kind).to_owned();
    if let Some(file) = &source.file {
        words = format!("{words} {}", printable(file_name(file).as_bytes()));
    }
    match (&source.pattern, &source.counter) {
        (Some(_), _) => words.push_str(" by --step-regex"),
        (None, Some(counter)) => words = format!("{words} {}", quoted(counter)),
        (None, None) => {}
    }
    match unit {
        None | Some(StepUnit::Steps) => words,
        Some(unit) => format!("{words}, in {}", unit.name()),
    }
}

fn kind_words(kind: ProgressSource) -> &'static str {
    match kind {
        ProgressSource::Marks => "marks",
        ProgressSource::Output => "output",
        ProgressSource::Log => "log",
        ProgressSource::Metrics => "metrics file",
        ProgressSource::TensorBoard => "TensorBoard",
        ProgressSource::Other => "another source",
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn quoted(counter: &str) -> String {
    format!("'{}'", printable(counter.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(source: StepSource, unit: Option<StepUnit>) -> String {
        let progress = Progress {
            source: Some(source),
            unit,
            ..Progress::default()
        };
        source_words(&progress).unwrap()
    }

    #[test]
    fn a_source_is_said_in_a_few_words() {
        assert_eq!(said(ProgressSource::Marks.into(), None), "marks");
        let output = StepSource {
            counter: Some("iter".to_owned()),
            ..ProgressSource::Output.into()
        };
        assert_eq!(said(output, Some(StepUnit::Steps)), "output 'iter'");
        let log = StepSource {
            file: Some("/home/me/runs/train.log".to_owned()),
            ..ProgressSource::Log.into()
        };
        assert_eq!(said(log.clone(), None), "log train.log");
        assert_eq!(
            said(log.clone(), Some(StepUnit::Samples)),
            "log train.log, in samples"
        );
        let pattern = StepSource {
            pattern: Some("x".to_owned()),
            ..log
        };
        assert_eq!(said(pattern, None), "log train.log by --step-regex");
        assert_eq!(source_words(&Progress::default()), None);
    }

    #[test]
    fn missing_steps_are_said_with_three_cures() {
        let nothing = missing(&MissingSteps::default());
        let discarded = missing(&MissingSteps {
            goes_to_null: true,
            ..MissingSteps::default()
        });
        assert!(discarded.contains("/dev/null"), "{discarded}");
        assert!(!nothing.contains("/dev/null"), "{nothing}");
        for cure in ["--log FILE", "--step-regex '", "leveloff.step(n)"] {
            assert!(nothing.contains(cure), "{nothing}");
        }
        let line = missing(&MissingSteps {
            lines: 1052,
            last_line: Some("round 7 done \x1b[2J".to_owned()),
            pattern: Some(r"round\s*(?P<step>\d+)".to_owned()),
            goes_to_null: false,
        });
        let expected = r"no steps were read in 1,052 lines; the last with a number: 'round 7 done \u{1b}[2J'. ";
        assert!(line.starts_with(expected), "{line}");
        let cure = r"--step-regex 'round\s*(?P<step>\d+)' if that is the step;";
        assert!(line.contains(cure), "{line}");
        assert!(!line.contains('\n'), "one line");
    }

    #[test]
    fn a_name_cannot_control_the_terminal() {
        assert!(!new_clock("\x1b[2J").contains('\x1b'));
    }
}
