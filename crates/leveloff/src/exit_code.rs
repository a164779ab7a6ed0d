//! Every exit code of leveloff, except that `run` ends as its command ended, by the same code or signal.

use std::process::ExitCode;

use clap::ValueEnum;
use leveloff_classifier::compare;
use leveloff_classifier::verdict::Verdict;
use leveloff_report::check::report::CheckOutcome;
use leveloff_supervise::guard;

/// How leveloff ends, better first. An error is worse than a leak: a script must not take a part of the inputs for
/// all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

impl From<compare::Outcome> for Exit {
    fn from(outcome: compare::Outcome) -> Exit {
        match outcome {
            compare::Outcome::Same | compare::Outcome::Better => Exit::Success,
            compare::Outcome::Worse => Exit::Failure,
            compare::Outcome::Undecided => Exit::Undecided,
        }
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

/// What `--undecided` makes of a verdict that is neither level nor leak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UndecidedAs {
    /// Like level: code 0
    Pass,
    /// Like a leak: code 1
    Fail,
}

/// The exit code of several verdicts: that of the worst.
#[derive(Debug)]
pub(crate) struct WorstVerdict {
    undecided: Option<UndecidedAs>,
    worst: Exit,
}

impl WorstVerdict {
    pub(crate) fn new(undecided: Option<UndecidedAs>) -> WorstVerdict {
        WorstVerdict {
            undecided,
            worst: Exit::Success,
        }
    }

    pub(crate) fn add(&mut self, verdict: Verdict) {
        let exit = match (verdict, self.undecided) {
            (Verdict::Level, _) => Exit::Success,
            (Verdict::Leak(_), _) => Exit::Failure,
            (_, None) => Exit::Undecided,
            (_, Some(UndecidedAs::Pass)) => Exit::Success,
            (_, Some(UndecidedAs::Fail)) => Exit::Failure,
        };
        self.worst = self.worst.max(exit);
    }

    /// Something could not be read.
    pub(crate) fn add_error(&mut self) {
        self.worst = self.worst.max(Exit::Error);
    }

    pub(crate) fn exit(&self) -> Exit {
        self.worst
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::verdict::Grade;

    use super::*;

    const LEAK: Verdict = Verdict::Leak(Grade::Early);

    fn code(verdicts: &[Verdict], undecided: Option<UndecidedAs>) -> u8 {
        let mut worst = WorstVerdict::new(undecided);
        for &verdict in verdicts {
            worst.add(verdict);
        }
        worst.exit().number()
    }

    #[test]
    fn the_worst_verdict_decides() {
        assert_eq!(code(&[], None), 0);
        assert_eq!(code(&[Verdict::Level, Verdict::Level], None), 0);
        assert_eq!(code(&[Verdict::Level, Verdict::Undecided], None), 3);
        assert_eq!(code(&[Verdict::Level, Verdict::WarmingUp], None), 3);
        assert_eq!(code(&[Verdict::WarmingUp, LEAK, Verdict::Level], None), 1);
    }

    #[test]
    fn undecided_counts_as_the_user_chose() {
        for open in [Verdict::Undecided, Verdict::WarmingUp] {
            assert_eq!(code(&[open], Some(UndecidedAs::Pass)), 0);
            assert_eq!(code(&[open], Some(UndecidedAs::Fail)), 1);
            assert_eq!(code(&[open, LEAK], Some(UndecidedAs::Pass)), 1);
        }
    }

    #[test]
    fn an_error_is_worse_than_a_leak() {
        let mut worst = WorstVerdict::new(Some(UndecidedAs::Pass));
        worst.add_error();
        worst.add(LEAK);
        assert_eq!(worst.exit(), Exit::Error);
    }
}
