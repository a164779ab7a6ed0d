//! The exit code: the worst of all inputs.

use std::process::ExitCode;

use anyhow::Result;
use leveloff_classifier::verdict::Verdict;

use super::case::Outcome;
use crate::cli::UndecidedAs;

/// How it ended so far.
#[derive(Debug)]
pub struct Ending {
    undecided: Option<UndecidedAs>,
    worst: Badness,
}

/// Better first. What could not be read is worse than a leak: whoever acts on the code must not
/// take half of the inputs for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Badness {
    Fine,
    Undecided,
    Leak,
    Error,
}

impl Ending {
    /// Nothing bad yet.
    pub fn new(undecided: Option<UndecidedAs>) -> Ending {
        Ending {
            undecided,
            worst: Badness::Fine,
        }
    }

    /// Takes the next result.
    pub fn take(&mut self, result: &Result<Outcome>) {
        match result {
            Ok(outcome) => self.take_verdict(outcome.verdict.verdict),
            Err(_) => self.take_error(),
        }
    }

    /// Takes the next verdict.
    pub fn take_verdict(&mut self, verdict: Verdict) {
        self.worst = self.worst.max(self.of_verdict(verdict));
    }

    /// Something could not be read.
    pub fn take_error(&mut self) {
        self.worst = Badness::Error;
    }

    /// The code for all of them.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(self.number())
    }

    fn number(&self) -> u8 {
        match self.worst {
            Badness::Fine => 0,
            Badness::Leak => 1,
            Badness::Error => 2,
            Badness::Undecided => 3,
        }
    }

    fn of_verdict(&self, verdict: Verdict) -> Badness {
        match (verdict, self.undecided) {
            (Verdict::Level, _) => Badness::Fine,
            (Verdict::Leak(_), _) => Badness::Leak,
            (_, None) => Badness::Undecided,
            (_, Some(UndecidedAs::Pass)) => Badness::Fine,
            (_, Some(UndecidedAs::Fail)) => Badness::Leak,
        }
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::verdict::Grade;

    use super::*;

    const LEAK: Verdict = Verdict::Leak(Grade::Early);

    fn code(verdicts: &[Verdict], undecided: Option<UndecidedAs>) -> u8 {
        let mut ending = Ending::new(undecided);
        for &verdict in verdicts {
            ending.take_verdict(verdict);
        }
        ending.number()
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
    fn what_is_open_counts_as_asked_for() {
        for open in [Verdict::Undecided, Verdict::WarmingUp] {
            assert_eq!(code(&[open], Some(UndecidedAs::Pass)), 0);
            assert_eq!(code(&[open], Some(UndecidedAs::Fail)), 1);
            assert_eq!(code(&[open, LEAK], Some(UndecidedAs::Pass)), 1);
        }
    }

    #[test]
    fn what_could_not_be_read_is_worst() {
        let mut ending = Ending::new(Some(UndecidedAs::Pass));
        ending.worst = ending.of_verdict(LEAK);
        ending.take(&Err(anyhow::anyhow!("gone")));
        assert_eq!(ending.number(), 2);
    }
}
