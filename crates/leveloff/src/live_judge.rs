//! The verdict on a run that is being watched.

use std::panic::{AssertUnwindSafe, catch_unwind};

use leveloff_classifier::observation::{Observer, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::Tick;
use leveloff_supervise::guard::{Forecast, Judgement};
use leveloff_text::verdict::line;

/// Judges a run tick by tick, in bounded memory.
#[derive(Debug)]
pub(crate) struct LiveJudge {
    observer: Observer,
    judge: RunJudge,
    has_observed: bool,
}

impl LiveJudge {
    /// A judge who knows what the user stated.
    pub(crate) fn new(stated: &StatedFacts) -> LiveJudge {
        LiveJudge {
            observer: Observer::new(),
            judge: RunJudge::new(XUnit::Step, stated),
            has_observed: false,
        }
    }

    pub(crate) fn take(&mut self, tick: &Tick) {
        if let Some(observation) = self.observer.observe(tick) {
            self.judge.observe(observation);
            self.has_observed = true;
        }
    }

    /// The verdict so far; `None` when nothing was seen.
    pub(crate) fn verdict(&self) -> Option<RunVerdict> {
        if !self.has_observed {
            return None;
        }
        // A run goes well, or its recording does: no fault of the judge may change that.
        catch_unwind(AssertUnwindSafe(|| self.judge.verdict())).ok()
    }

    /// The verdict in one line.
    pub(crate) fn line(&self) -> Option<String> {
        Some(line(&self.verdict()?))
    }
}

impl Judgement for LiveJudge {
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
