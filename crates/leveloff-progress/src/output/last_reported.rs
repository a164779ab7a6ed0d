//! The values reported last, so that only changes are reported.

use leveloff_model::progress::{Phase, StepUnit};
use leveloff_model::training_counters::TrainingCounters;
use leveloff_model::units::Step;

use crate::update::{Plan, ProgressUpdate};

/// The values reported last. A bar is redrawn ten times a second, mostly without a change.
#[derive(Debug, Default)]
pub struct LastReported {
    /// The last reported step.
    pub step: Option<Step>,
    /// The last reported phase.
    pub phase: Option<Phase>,
    /// The last reported length of the run.
    pub planned: Option<Step>,
    /// The end of the training was reported.
    pub ended: bool,
    epoch: Option<f64>,
    epoch_steps: Option<Step>,
    /// What the steps count.
    pub unit: Option<StepUnit>,
    counters: TrainingCounters,
}

impl LastReported {
    /// Keeps the fields of `update` that changed, and clears the others.
    pub fn keep_changes(&mut self, update: &mut ProgressUpdate) {
        if update.restarted {
            *self = LastReported {
                phase: self.phase.take(),
                ..LastReported::default()
            };
        }
        self.ended &= update.step.is_none_or(|step| self.step >= Some(step));
        keep_change(&mut self.step, &mut update.step);
        keep_change(&mut self.epoch, &mut update.epoch);
        keep_change(&mut self.unit, &mut update.unit);
        keep_change(&mut self.phase, &mut update.phase);
        keep_change(&mut self.epoch_steps, &mut update.epoch_steps);
        let counters = self.counters.updated_by(&update.counters);
        if std::mem::replace(&mut self.counters, counters) == counters {
            update.counters = TrainingCounters::default();
        }
        let planned = match update.plan {
            Some(Plan::Steps(planned)) => Some(planned),
            Some(Plan::Withdrawn) => None,
            None => self.planned,
        };
        if planned == self.planned {
            update.plan = None;
        }
        self.planned = planned;
    }
}

fn keep_change<T: PartialEq + Clone>(last: &mut Option<T>, now: &mut Option<T>) {
    if last == now {
        *now = None;
    } else if now.is_some() {
        last.clone_from(now);
    }
}
