//! Gaps that are said once.

use std::collections::HashSet;

use leveloff_model::sample::{Gap, Subject};

/// Collects gaps for a caller to take, each text once, however often its cause is met.
#[derive(Debug)]
pub(crate) struct GapLog {
    subject: Subject,
    said: HashSet<String>,
    waiting: Vec<Gap>,
}

impl GapLog {
    pub(crate) fn about(subject: Subject) -> GapLog {
        GapLog {
            subject,
            said: HashSet::new(),
            waiting: Vec::new(),
        }
    }

    pub(crate) fn say(&mut self, text: String) {
        if self.said.insert(text.clone()) {
            self.waiting.push(Gap {
                subject: self.subject,
                process: None,
                text,
            });
        }
    }

    /// What was said since the last time.
    pub(crate) fn take(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once_even_after_it_was_taken() {
        let mut gaps = GapLog::about(Subject::Machine);
        gaps.say("no swap numbers".into());
        gaps.say("no swap numbers".into());
        assert_eq!(gaps.take().len(), 1);
        gaps.say("no swap numbers".into());
        gaps.say("another".into());
        let texts: Vec<String> = gaps.take().into_iter().map(|gap| gap.text).collect();
        assert_eq!(texts, ["another"]);
    }
}
