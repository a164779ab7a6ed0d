//! Does the run reach its planned end below the limit, if memory goes on as it does?
//!
//! This needs no verdict: a warmup that goes on would be killed as a leak is.

use leveloff_model::units::{Bytes, Seconds};

use crate::units::{Amount, X};
use crate::verdict::{
    AtPlannedEnd, Judgement, MetLimit, Rate, Reason, Shape, WhyUnknown, WillFinish,
};

use super::decide::is_growing;

/// What is known of a run that is to finish.
#[derive(Debug, Clone, Copy)]
pub(super) struct FinishInput<'a> {
    /// The judgement of its memory.
    pub(super) memory: &'a Judgement,
    /// The newest x and the memory there.
    pub(super) newest: (f64, f64),
    /// The first x and the memory there.
    pub(super) first: (f64, f64),
    /// Where it is going to end.
    pub(super) planned: X,
    /// What it must stay below.
    pub(super) limit: Bytes,
    /// Seconds that one unit of x takes.
    pub(super) pace: Option<Seconds>,
}

/// Before a rate is known, growth is looked at over so much of x.
const LEAST_SEEN: f64 = 10.0;

impl FinishInput<'_> {
    /// The answer.
    pub(super) fn will_finish(&self) -> WillFinish {
        let limit = self.limit.0 as f64;
        let highest = self
            .memory
            .extremes
            .map_or(self.newest.1, |extremes| extremes.peak.0);
        if highest >= limit {
            return WillFinish::Unknown(WhyUnknown::WasAtLimit);
        }
        let Some(rate) = self.rate() else {
            return self.of_level(highest);
        };
        let at_end = self.newest.1 + rate.value.0 * self.rest();
        let fastest = self.newest.1 + rate.high.0 * self.rest();
        if fastest.max(at_end) < limit {
            return self.finishes(at_end.max(highest));
        }
        let may_stop = matches!(
            self.memory.reason,
            Reason::Bending | Reason::FirstEpoch | Reason::FillsMapping
        );
        if at_end < limit || may_stop {
            return WillFinish::Unknown(WhyUnknown::Open);
        }
        WillFinish::No(self.met(rate))
    }

    /// What does not grow finishes, unless growth that is not ruled out would meet the limit.
    fn of_level(&self, highest: f64) -> WillFinish {
        let hidden = self.memory.hidden.map_or(0.0, |hidden| hidden.rate.0);
        let known = self.memory.verdict.is_level() || self.memory.hidden.is_some();
        let limit = self.limit.0 as f64;
        if known && highest + hidden * self.rest() < limit {
            self.finishes(highest)
        } else {
            WillFinish::Unknown(WhyUnknown::Open)
        }
    }

    /// How fast it grows; before there are enough points for an interval, the mean so far.
    fn rate(&self) -> Option<Rate> {
        let grows = is_growing(self.memory) || self.memory.shape == Shape::Creeping;
        if let Some(rate) = self.memory.rate {
            return Some(rate).filter(|rate| grows && rate.value.0 > 0.0);
        }
        let is_young = matches!(self.memory.reason, Reason::TooFewPoints { .. });
        let (seen, grown) = (self.newest.0 - self.first.0, self.newest.1 - self.first.1);
        let is_seen = is_young && seen >= LEAST_SEEN && grown > self.memory.material.0;
        is_seen.then(|| Rate::around(grown / seen, 0.0))
    }

    fn rest(&self) -> f64 {
        (self.planned.0 - self.newest.0).max(0.0)
    }

    fn finishes(&self, memory: f64) -> WillFinish {
        WillFinish::Yes(AtPlannedEnd {
            planned: self.planned,
            memory: Amount(memory),
            limit: self.limit,
        })
    }

    fn met(&self, rate: Rate) -> MetLimit {
        let left = self.limit.0 as f64 - self.newest.1;
        let at = |rate: f64| X(self.newest.0 + left / rate);
        let is_interval = rate.high > rate.low;
        let met = at(rate.value.0);
        MetLimit {
            planned: self.planned,
            at: met,
            earliest: is_interval.then(|| at(rate.high.0)),
            latest: (is_interval && rate.low.0 > 0.0).then(|| at(rate.low.0)),
            in_time: self
                .pace
                .map(|pace| Seconds((met.0 - self.newest.0) * pace.0)),
            limit: self.limit,
        }
    }
}
