//! What makes memory grow: the training's own events or counters, or something regular that it does not report.

mod competition;

use self::competition::{ClockGrowth, Outcome, compete};
use super::clock_points::ClockPoint;
use super::events::Events;
use crate::units::{Amount, X};
use crate::verdict::{Clock, ClockTick, Judgement, Shape};

/// Events that explain this much of the growth are its clock.
const EXPLAINS: f64 = 0.6;
/// Moments in which memory grew by less than this share of what its rate predicts do not show why it grows.
const SHOWS_THE_GROWTH: f64 = 0.5;
/// What malloc has in use replaces memory if it has at least this share of its growth.
const MOSTLY_IN_USE: f64 = 0.6;
/// So many counts between two events distinguish what grows at events from what grows between them.
const COUNTS_BETWEEN_EVENTS: f64 = 2.5;

/// Growth of memory over a stretch of x.
#[derive(Debug, Clone, Copy)]
pub(super) struct GrowthSpan {
    /// Where it began.
    pub(super) onset: f64,
    /// The newest x.
    pub(super) now: f64,
    /// How much it was.
    pub(super) growth: f64,
}

/// The clock of growth, as `judgement` saw it.
pub(super) fn clock(events: &Events, judgement: &Judgement, span: GrowthSpan) -> Option<Clock> {
    if span.growth <= 0.0 {
        return None;
    }
    let outcome = winner(events, span);
    if let Some(Outcome::Events(together)) = &outcome {
        return at_events(events, together, span);
    }
    if judgement.shape == Shape::Staircase && outcome != Some(Outcome::Open) {
        return regular(judgement, span.onset);
    }
    match outcome? {
        Outcome::Steps => each_step(judgement, span.onset),
        Outcome::Counter(counter) => Some(by_counter(&counter, span)),
        Outcome::Events(_) | Outcome::Open => None,
    }
}

/// Who wins, on what malloc has in use where the training counts that, else on memory.
///
/// An evaluation needs room for a while. What is kept later, step by step, fills the room that it left, so the memory of the
/// process rises at evaluations only, though nothing of them stays. What malloc has in use shows that; if it is counted too
/// seldom to distinguish events from steps, no event is named.
fn winner(events: &Events, span: GrowthSpan) -> Option<Outcome> {
    let levels = events.counted().levels(span.onset, span.now);
    let counted: Vec<Vec<ClockPoint>> = levels.filter_map(|points| in_use(&points)).collect();
    let is_counted = !counted.is_empty();
    let fine = counted.into_iter().filter(|points| is_fine_enough(points));
    if let Some(outcome) = finest(fine, span) {
        return Some(outcome);
    }
    match finest(events.history().levels(span.onset, span.now), span) {
        Some(Outcome::Events(_)) if is_counted => Some(Outcome::Open),
        outcome => outcome,
    }
}

/// Who wins at the finest distance of moments that shows the growth and has a winner.
fn finest(levels: impl Iterator<Item = Vec<ClockPoint>>, span: GrowthSpan) -> Option<Outcome> {
    let per_x = span.growth / (span.now - span.onset).max(f64::MIN_POSITIVE);
    let mut open = None;
    for points in levels {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            continue;
        };
        let grown = last.memory - first.memory;
        if grown < SHOWS_THE_GROWTH * per_x * (last.x - first.x) {
            continue;
        }
        match compete(&points) {
            None => {}
            Some(Outcome::Open) => open = Some(Outcome::Open),
            decided => return decided,
        }
    }
    open
}

/// The same moments with what malloc has in use in place of memory. `None` if it has too little of memory's growth.
fn in_use(points: &[ClockPoint]) -> Option<Vec<ClockPoint>> {
    let counted = points.iter();
    let counted: Vec<ClockPoint> = counted
        .filter_map(|point| Some(point.with_memory(point.in_use()?)))
        .collect();
    let grown = |points: &[ClockPoint]| Some(points.last()?.memory - points.first()?.memory);
    (grown(&counted)? >= MOSTLY_IN_USE * grown(points)?).then_some(counted)
}

/// Whether several counts lie between two events of every kind.
fn is_fine_enough(counted: &[ClockPoint]) -> bool {
    let (Some(first), Some(last)) = (counted.first(), counted.last()) else {
        return false;
    };
    let events = (0..first.events.len()).map(|kind| last.events[kind] - first.events[kind]);
    counted.len() as f64 >= COUNTS_BETWEEN_EVENTS * events.fold(0.0, f64::max)
}

/// The first of those that coincide stands for them all.
fn at_events(events: &Events, together: &[ClockGrowth], span: GrowthSpan) -> Option<Clock> {
    let first = together.first()?;
    let since = events.since(first.tick, span.onset)?;
    let explained = first.growth * since.count as f64;
    (explained >= EXPLAINS * span.growth).then(|| Clock {
        tick: first.tick,
        coincident: together[1..].iter().map(|other| other.tick).collect(),
        growth: Amount(first.growth),
        ticks: since.count,
        every: since.every.map(X),
    })
}

fn by_counter(counter: &ClockGrowth, span: GrowthSpan) -> Clock {
    let ticks = counter.share * span.growth / counter.growth;
    Clock {
        tick: counter.tick,
        coincident: Vec::new(),
        growth: Amount(counter.growth),
        ticks: ticks.max(0.0) as u64,
        every: None,
    }
}

fn regular(judgement: &Judgement, onset: f64) -> Option<Clock> {
    let (period, rate) = (judgement.period?, judgement.rate?);
    let ticks = ((judgement.span?.1.0 - onset) / period.0).floor();
    (period.0 > 0.0 && ticks >= 1.0).then_some(Clock {
        tick: ClockTick::Regular,
        coincident: Vec::new(),
        growth: rate.value * period,
        ticks: ticks as u64,
        every: Some(period),
    })
}

fn each_step(judgement: &Judgement, onset: f64) -> Option<Clock> {
    let (rate, (_, now)) = (judgement.rate?, judgement.span?);
    Some(Clock {
        tick: ClockTick::Step,
        coincident: Vec::new(),
        growth: rate.value * X(1.0),
        ticks: (now.0 - onset).max(0.0) as u64,
        every: Some(X(1.0)),
    })
}
