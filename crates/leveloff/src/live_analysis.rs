//! The analysis of a run that is being watched. A fault in it must not harm the run or its recording.

use std::panic::{AssertUnwindSafe, catch_unwind};

use leveloff_classifier::allocation_history::LineGrowth;
use leveloff_classifier::run_analysis::{RunAccount, RunAnalysis};
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::recording::{StatedFacts, Target};
use leveloff_model::sample::Tick;
use leveloff_supervise::guard::{Forecast, Judgement};
use leveloff_text::allocation;
use leveloff_text::verdict::{history_words, line, line_of_ended};

/// Follows a run tick by tick, in bounded memory.
#[derive(Debug)]
pub(crate) struct LiveAnalysis {
    run: RunAnalysis,
}

impl LiveAnalysis {
    pub(crate) fn new(target: &Target, stated: &StatedFacts) -> LiveAnalysis {
        LiveAnalysis {
            run: RunAnalysis::of_target(target, stated),
        }
    }

    pub(crate) fn take(&mut self, tick: &Tick) {
        self.run.take(tick);
    }

    /// The run has ended.
    pub(crate) fn end(&mut self) {
        self.run.end();
    }

    /// Whether a whole machine is watched, which has no steps and no verdict.
    pub(crate) fn is_of_machine(&self) -> bool {
        self.run.is_of_machine()
    }

    pub(crate) fn run(&self) -> &RunAnalysis {
        &self.run
    }

    /// The verdict so far; `None` before the first sample, and for a whole machine.
    pub(crate) fn verdict(&self) -> Option<RunVerdict> {
        catch_unwind(AssertUnwindSafe(|| self.run.verdict())).ok()?
    }

    /// The account so far; `None` before the first sample.
    pub(crate) fn account(&self) -> Option<RunAccount> {
        catch_unwind(AssertUnwindSafe(|| self.run.account())).ok()?
    }

    /// The lines of the program whose memory grew, in words; nothing without `--blame`.
    pub(crate) fn allocation_lines(&self) -> Vec<String> {
        let lines = catch_unwind(AssertUnwindSafe(|| self.run.lines())).unwrap_or_default();
        let unit = self.verdict().map(|verdict| verdict.x_unit);
        let words = |line: &LineGrowth| {
            let source = allocation::source(line).map_or_else(String::new, |it| format!(": {it}"));
            Some(format!("{}{source}", allocation::line_words(line, unit?)))
        };
        allocation::named(&lines).filter_map(words).collect()
    }

    /// What earlier runs of the same job say of this one.
    pub(crate) fn history_line(&self) -> Option<String> {
        history_words(&self.verdict()?)
    }

    /// The verdict in one line.
    pub(crate) fn line(&self) -> Option<String> {
        Some(line(&self.verdict()?))
    }

    /// The same at the end of watching: a run that is over does not go on.
    pub(crate) fn last_line(&self, is_over: bool) -> Option<String> {
        match is_over {
            true => Some(line_of_ended(&self.verdict()?)),
            false => self.line(),
        }
    }
}

impl Judgement for LiveAnalysis {
    fn forecast(&self) -> Forecast {
        let risk = self.verdict().and_then(|verdict| verdict.risk);
        match risk.and_then(|risk| Some((risk.in_time?, risk.limit))) {
            Some((left, ceiling)) => Forecast::Met { left, ceiling },
            None => Forecast::Open,
        }
    }

    fn headline(&self) -> Option<String> {
        self.line()
    }
}
