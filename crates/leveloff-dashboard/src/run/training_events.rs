//! Evaluations, checkpoints and epochs, for the chart's axis.

use std::collections::VecDeque;

use leveloff_classifier::run_curves::{RunEvent, RunEventKind};
use leveloff_classifier::units::X;
use leveloff_model::sample::{Event, Tick};

/// Events that are kept; a chart shows fewer than a hundred.
const KEPT: usize = 4096;

/// The newest events of the training, oldest first. The analysis has them by the sample in which they
/// were seen; a chart that is zoomed in needs their own steps.
#[derive(Debug, Clone, Default)]
pub struct TrainingEvents {
    events: VecDeque<RunEvent>,
}

impl TrainingEvents {
    /// All that are kept.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &RunEvent> {
        self.events.iter()
    }

    pub(super) fn take(&mut self, tick: &Tick) {
        for event in &tick.events {
            let Event::Mark(mark) = event else { continue };
            let Some(kind) = RunEventKind::of(&mark.kind) else {
                continue;
            };
            let x = mark.step.map(|step| X(step.0 as f64));
            // A training may report that it begins to save, and again that it has saved.
            let is_repeated = |last: &RunEvent| x.is_some() && (&last.kind, last.x) == (&kind, x);
            if self.events.back().is_some_and(is_repeated) {
                continue;
            }
            if self.events.len() == KEPT {
                self.events.pop_front();
            }
            let t = Some(mark.t);
            self.events.push_back(RunEvent { x, t, kind });
        }
    }
}
