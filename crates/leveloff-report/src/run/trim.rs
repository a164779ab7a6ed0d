//! What came of a `malloc_trim` that the training tried.

use leveloff_model::units::Bytes;
use leveloff_text::verdict::trimmed_words;

use crate::run_report::RunReport;

/// A sentence about the `malloc_trim` of a training and what it means; `None` where it tried none.
pub fn trim_words(report: &RunReport) -> Option<String> {
    let trimmed = report.trimmed()?;
    let meaning = match trimmed {
        Bytes::ZERO => "what malloc had kept could not be returned, or it had kept nothing",
        _ => "so much was free, and only kept by malloc",
    };
    let told = trimmed_words(trimmed).replacen("malloc_trim", "`malloc_trim`", 1);
    Some(format!("Tried by the training, {told}: {meaning}."))
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::observation::Observation;
    use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};

    use super::*;
    use crate::cases::report;

    #[test]
    fn a_trim_that_gave_nothing_is_told_and_none_is_not() {
        let told = |trimmed: Option<u64>| {
            let observation = Observation {
                counters: TrainingCounters::default().with(TrainingCounter::Trimmed, trimmed),
                ..Observation::default()
            };
            trim_words(&report(std::iter::once(observation)))
        };
        assert_eq!(told(None), None);
        let some = told(Some(310 << 20)).unwrap();
        assert!(
            some.contains("`malloc_trim` gave back 310 MiB: so much"),
            "{some}"
        );
        let nothing = told(Some(0)).unwrap();
        assert!(nothing.contains("gave nothing back"), "{nothing}");
    }
}
