//! Evaluations, checkpoints and epochs, as ticks on the chart's axis.

use std::collections::VecDeque;

use leveloff_model::progress::{MarkKind, Phase};
use leveloff_model::sample::{Event, Tick};
use leveloff_model::units::Seconds;

/// Ticks that are kept; a chart shows fewer than a hundred.
const KEPT: usize = 4096;

/// What ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TickKind {
    /// An evaluation began.
    Evaluation,
    /// A checkpoint was written.
    Checkpoint,
    /// An epoch began.
    Epoch,
    /// The training said something of its own.
    Other,
}

/// One tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventTick {
    /// When.
    pub t: Seconds,
    /// At which step.
    pub step: Option<f64>,
    /// What.
    pub kind: TickKind,
}

/// The newest ticks, oldest first.
#[derive(Debug, Clone, Default)]
pub struct EventTicks {
    ticks: VecDeque<EventTick>,
}

impl EventTicks {
    /// All that are kept.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &EventTick> {
        self.ticks.iter()
    }

    pub(super) fn take(&mut self, tick: &Tick) {
        for event in &tick.events {
            let Event::Mark(mark) = event else { continue };
            let Some(kind) = TickKind::of(&mark.kind) else {
                continue;
            };
            let step = mark.step.map(|step| step.0 as f64);
            // A training may tell that it begins to save, and again that it has saved.
            let is_told =
                |last: &EventTick| step.is_some() && (last.kind, last.step) == (kind, step);
            if self.ticks.back().is_some_and(is_told) {
                continue;
            }
            if self.ticks.len() == KEPT {
                self.ticks.pop_front();
            }
            self.ticks.push_back(EventTick {
                t: mark.t,
                step,
                kind,
            });
        }
    }
}

impl TickKind {
    fn of(kind: &MarkKind) -> Option<TickKind> {
        match kind {
            MarkKind::Phase(Phase::Eval) => Some(TickKind::Evaluation),
            MarkKind::Phase(Phase::Checkpoint) => Some(TickKind::Checkpoint),
            MarkKind::Phase(_) => None,
            MarkKind::Epoch(_) => Some(TickKind::Epoch),
            MarkKind::Event(name) if name == "checkpoint" => Some(TickKind::Checkpoint),
            MarkKind::Event(_) => Some(TickKind::Other),
        }
    }
}
