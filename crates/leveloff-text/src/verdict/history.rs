//! What earlier runs of the same job say.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::recording::{EarlierRuns, RunAxis};

use crate::x_position::XPosition;

/// `level by step 86–92 in 4 earlier runs`
pub fn earlier_words(earlier: &EarlierRuns) -> String {
    format!("{} in {}", level_by(earlier), runs(earlier))
}

/// What earlier runs say of this one, with what it does instead where it contradicts them.
pub fn history_words(run: &RunVerdict) -> Option<String> {
    let history = run.history?;
    let words = earlier_words(&history.earlier);
    Some(match (history.is_contradicted, run.memory.verdict) {
        (false, _) => words,
        (true, Verdict::Level(_)) => format!("{words}; this one was level later"),
        (true, _) => format!("{words}; this one still grows"),
    })
}

/// `unlike 4 earlier runs`, of a run that contradicts its history.
pub fn contradiction_words(run: &RunVerdict) -> Option<String> {
    let history = run.history.filter(|history| history.is_contradicted)?;
    Some(format!("unlike {}", runs(&history.earlier)))
}

fn runs(earlier: &EarlierRuns) -> String {
    match earlier.runs {
        1 => "1 earlier run".to_owned(),
        runs => format!("{runs} earlier runs"),
    }
}

/// `level by step 86–92`, `level by step 88`
fn level_by(earlier: &EarlierRuns) -> String {
    let unit = match earlier.axis {
        RunAxis::Time => XUnit::Second,
        RunAxis::Count(unit) => XUnit::from(unit),
    };
    let latest = XPosition::new(X(earlier.latest), unit);
    let earliest = latest.number_of(X(earlier.earliest));
    match latest.number_of(X(earlier.latest)) {
        number if number == earliest => format!("level by {latest}"),
        number => format!("level by {} {earliest}–{number}", latest.word()),
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::verdict::HistoryCheck;
    use leveloff_model::progress::StepUnit;

    use super::*;
    use crate::cases::story_at_80;
    use crate::verdict::{Headline, line};

    fn earlier(runs: u32, earliest: f64, latest: f64) -> EarlierRuns {
        EarlierRuns {
            axis: RunAxis::Count(StepUnit::Steps),
            runs,
            earliest,
            latest,
        }
    }

    #[test]
    fn earlier_runs_are_named_with_what_they_counted() {
        let words = |runs, earliest, latest| earlier_words(&earlier(runs, earliest, latest));
        assert_eq!(
            words(4, 86.0, 92.0),
            "level by step 86–92 in 4 earlier runs"
        );
        assert_eq!(words(1, 88.0, 88.0), "level by step 88 in 1 earlier run");
        let by_time = EarlierRuns {
            axis: RunAxis::Time,
            ..earlier(2, 240.0, 252.0)
        };
        let words = earlier_words(&by_time);
        assert_eq!(words, "level by minute 4–4.2 in 2 earlier runs");
    }

    #[test]
    fn a_contradiction_is_in_the_headline() {
        let mut run = story_at_80();
        let mut check = HistoryCheck {
            earlier: earlier(4, 56.0, 62.0),
            is_contradicted: false,
        };
        run.history = Some(check);
        assert!(!line(&run).contains("earlier"), "{}", line(&run));
        check.is_contradicted = true;
        run.history = Some(check);
        let headline = Headline::of(&run).whole();
        assert!(headline.contains("unlike 4 earlier runs"), "{headline}");
        let words = history_words(&run).unwrap();
        assert_eq!(
            words,
            "level by step 56–62 in 4 earlier runs; this one still grows"
        );
    }
}
