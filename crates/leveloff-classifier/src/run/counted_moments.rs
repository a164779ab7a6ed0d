//! Moments at which the training counted what malloc has in use: at its marks, and between them.
//!
//! A sample shows memory some time after an event, and perhaps after two. A count at the mark itself lies between them.

use leveloff_model::progress::{MarkKind, Phase};

use super::clock_points::{ClockPoint, History};
use crate::observation::{CountAtMark, Observation};
use crate::run_curves::RunEventKind;

/// Events before and after an observation, of each of [`super::events::EVENT_KINDS`].
#[derive(Debug, Clone, Copy)]
pub(super) struct EventCounts {
    /// Before.
    pub(super) before: [f64; 3],
    /// After.
    pub(super) after: [f64; 3],
    /// Whether one went on before.
    pub(super) went_on: bool,
    /// Whether one goes on now.
    pub(super) goes_on: bool,
}

/// The moments, in bounded memory.
#[derive(Debug, Clone, Default)]
pub(super) struct CountedMoments {
    history: History,
    /// The last observation with a count.
    last: Option<ClockPoint>,
}

impl CountedMoments {
    /// Takes the next observation at `x`.
    pub(super) fn observe(&mut self, x: f64, observation: &Observation, events: &EventCounts) {
        for point in at_marks(x, observation, events) {
            self.history.push(point);
        }
        let now = ClockPoint::of(x, observation, events.after);
        if now.in_use().is_none() {
            return;
        }
        let at_mark = observation.counts_at_marks.iter().flatten().last();
        let is_new = match at_mark {
            Some(count) => now.in_use() != Some(count.malloc_used.0 as f64),
            None => self.last.is_none_or(|last| now.is_counted_since(&last)),
        };
        if is_new && !events.goes_on {
            self.history.push(now);
        }
        self.last = Some(now);
    }

    /// The moments.
    pub(super) fn history(&self) -> &History {
        &self.history
    }
}

/// A count where a phase begins comes before what the phase keeps. What is held while it goes on does not count.
fn at_marks(x: f64, observation: &Observation, events: &EventCounts) -> Vec<ClockPoint> {
    let mut points = Vec::new();
    let (mut counts, mut is_inside) = (events.before, events.went_on);
    for (mark, count) in observation.marks.iter().zip(&observation.counts_at_marks) {
        let (before, was_inside) = (counts, is_inside);
        if let MarkKind::Phase(phase) = mark {
            is_inside = matches!(phase, Phase::Eval | Phase::Checkpoint);
        }
        if let Some(kind) = kind_of(mark) {
            counts[kind] = (counts[kind] + 1.0).min(events.after[kind]);
        }
        let at = match (was_inside, is_inside) {
            (false, true) => before,
            (_, false) => counts,
            (true, true) => continue,
        };
        points.extend(count.map(|count| {
            let x = x_of(&count, x, observation);
            ClockPoint::at_mark(x, &count, observation, at)
        }));
    }
    points
}

/// The place of an event's kind.
fn kind_of(mark: &MarkKind) -> Option<usize> {
    match mark {
        MarkKind::Epoch(_) => Some(2),
        mark => match RunEventKind::of(mark)? {
            RunEventKind::Evaluation => Some(0),
            RunEventKind::Checkpoint => Some(1),
            _ => None,
        },
    }
}

/// Where on the axis of the observation a mark lies.
fn x_of(count: &CountAtMark, x: f64, observation: &Observation) -> f64 {
    match (observation.count == Some(x), count.step) {
        (true, step) => step.map_or(x, |step| (step.0 as f64).min(x)),
        (false, _) => count.t.0.min(x),
    }
}
