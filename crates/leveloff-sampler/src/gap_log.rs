//! Collects gaps, each once.

use std::collections::HashSet;

use leveloff_model::process::ProcessIndex;
use leveloff_model::sample::{Gap, Subject};

/// Collects gaps for a caller to take. A repeated text is dropped.
#[derive(Debug)]
pub(crate) struct GapLog {
    subject: Subject,
    reported: HashSet<String>,
    waiting: Vec<Gap>,
}

impl GapLog {
    pub(crate) fn about(subject: Subject) -> GapLog {
        GapLog {
            subject,
            reported: HashSet::new(),
            waiting: Vec::new(),
        }
    }

    pub(crate) fn report(&mut self, text: String) {
        self.report_of(None, text);
    }

    pub(crate) fn report_of(&mut self, process: Option<ProcessIndex>, text: String) {
        if self.reported.insert(text.clone()) {
            self.waiting.push(Gap {
                subject: self.subject,
                process,
                text,
            });
        }
    }

    /// The gaps since the last call.
    pub(crate) fn take(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_reported_once_even_after_it_was_taken() {
        let mut gaps = GapLog::about(Subject::Machine);
        gaps.report("no swap numbers".into());
        gaps.report("no swap numbers".into());
        assert_eq!(gaps.take().len(), 1);
        gaps.report("no swap numbers".into());
        gaps.report("another".into());
        let texts: Vec<String> = gaps.take().into_iter().map(|gap| gap.text).collect();
        assert_eq!(texts, ["another"]);
    }
}
