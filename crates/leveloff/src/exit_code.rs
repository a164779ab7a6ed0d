//! Every exit code of leveloff, except that `run` ends as its command ended, by the same code or signal.

use std::process::ExitCode;

use leveloff_classifier::gate::CheckOutcome;
use leveloff_classifier::verdict::Verdict;
use leveloff_supervise::guard;

/// How leveloff ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success,
    Undecided,
    /// A leak, a regression, or a demo that got the wrong verdict.
    Failure,
    /// Wrong usage, something that cannot be read or written, or nothing found.
    Error,
    StoppedByGuard,
}

impl Exit {
    pub(crate) fn number(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Error => 2,
            Exit::Undecided => 3,
            Exit::StoppedByGuard => guard::STOPPED,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.number())
    }
}

impl From<CheckOutcome> for Exit {
    fn from(outcome: CheckOutcome) -> Exit {
        match outcome {
            CheckOutcome::Passed => Exit::Success,
            CheckOutcome::Failed => Exit::Failure,
            CheckOutcome::Broken => Exit::Error,
            CheckOutcome::Open => Exit::Undecided,
        }
    }
}

/// The exit code of several verdicts: that of the worst.
#[derive(Debug)]
pub(crate) struct WorstVerdict {
    open_counts_as: CheckOutcome,
    worst: CheckOutcome,
}

impl WorstVerdict {
    pub(crate) fn new(undecided: Option<CheckOutcome>) -> WorstVerdict {
        WorstVerdict {
            open_counts_as: undecided.unwrap_or(CheckOutcome::Open),
            worst: CheckOutcome::Passed,
        }
    }

    pub(crate) fn add(&mut self, verdict: Verdict) {
        let outcome = CheckOutcome::from(verdict).counted(self.open_counts_as);
        self.worst = self.worst.max(outcome);
    }

    /// Something could not be read.
    pub(crate) fn add_error(&mut self) {
        self.worst = CheckOutcome::Broken;
    }

    pub(crate) fn exit(&self) -> Exit {
        self.worst.into()
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::verdict::{Grade, LevelGrade};

    use super::*;

    const LEAK: Verdict = Verdict::Leak(Grade::Early);
    const SUSPECTED: Verdict = Verdict::Leak(Grade::Suspected);
    const LEVEL: Verdict = Verdict::Level(LevelGrade::Early);

    fn code(verdicts: &[Verdict], undecided: Option<CheckOutcome>) -> u8 {
        let mut worst = WorstVerdict::new(undecided);
        for &verdict in verdicts {
            worst.add(verdict);
        }
        worst.exit().number()
    }

    #[test]
    fn the_worst_verdict_decides() {
        assert_eq!(code(&[], None), 0);
        assert_eq!(code(&[LEVEL, LEVEL], None), 0);
        assert_eq!(code(&[LEVEL, Verdict::Undecided], None), 3);
        assert_eq!(code(&[LEVEL, Verdict::WarmingUp], None), 3);
        assert_eq!(code(&[LEVEL, SUSPECTED], None), 3);
        assert_eq!(code(&[Verdict::WarmingUp, LEAK, LEVEL], None), 1);
    }

    #[test]
    fn undecided_counts_as_the_user_chose() {
        for open in [Verdict::Undecided, Verdict::WarmingUp] {
            assert_eq!(code(&[open], Some(CheckOutcome::Passed)), 0);
            assert_eq!(code(&[open], Some(CheckOutcome::Failed)), 1);
            assert_eq!(code(&[open, LEAK], Some(CheckOutcome::Passed)), 1);
        }
    }

    #[test]
    fn an_error_is_worse_than_a_leak() {
        let mut worst = WorstVerdict::new(Some(CheckOutcome::Passed));
        worst.add_error();
        worst.add(LEAK);
        assert_eq!(worst.exit(), Exit::Error);
    }
}
