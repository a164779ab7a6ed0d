//! The result of a `malloc_trim` that the training called.

use leveloff_model::units::Bytes;
use leveloff_text::verdict::trimmed_words;

use crate::run_report::RunReport;

/// A sentence about the `malloc_trim` of a training and what it means; `None` where it tried none.
pub fn trim_words(report: &RunReport) -> Option<String> {
    let trimmed = report.trimmed()?;
    let meaning = match trimmed {
        Bytes::ZERO => "malloc had retained nothing, or nothing that it could return",
        _ => "this much was free and only retained by malloc",
    };
    Some(format!(
        "{} in the training: {meaning}.",
        trimmed_words(trimmed)
    ))
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::observation::Observation;
    use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};

    use super::*;
    use crate::cases::report;

    #[test]
    fn a_trim_that_released_nothing_is_mentioned_and_none_is_not() {
        let words = |trimmed: Option<u64>| {
            let observation = Observation {
                counters: TrainingCounters::default().with(TrainingCounter::Trimmed, trimmed),
                ..Observation::default()
            };
            trim_words(&report(std::iter::once(observation)))
        };
        assert_eq!(words(None), None);
        let some = words(Some(310 << 20)).unwrap();
        assert!(
            some.contains("malloc_trim released 310 MiB in the training: this much"),
            "{some}"
        );
        let nothing = words(Some(0)).unwrap();
        assert!(nothing.contains("released nothing"), "{nothing}");
    }
}
