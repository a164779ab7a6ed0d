//! What was said last, so that it is not said again.

use leveloff_model::progress::Phase;
use leveloff_model::units::Step;

use super::update::{Plan, ProgressUpdate};

/// The last of everything that was said. A bar is redrawn ten times a second; only what changed is
/// news.
#[derive(Debug, Default)]
pub struct Told {
    /// The step.
    pub step: Option<Step>,
    /// The phase.
    pub phase: Option<Phase>,
    /// The run's length.
    pub planned: Option<Step>,
    /// The training said that it has ended.
    pub ended: bool,
    epoch: Option<f64>,
    epoch_steps: Option<Step>,
}

impl Told {
    /// What is new in `update`.
    pub fn news_in(&mut self, mut update: ProgressUpdate) -> ProgressUpdate {
        if update.restarted {
            *self = Told {
                phase: self.phase.take(),
                ..Told::default()
            };
        }
        self.ended &= update.step.is_none_or(|step| self.step >= Some(step));
        keep_news(&mut self.step, &mut update.step);
        keep_news(&mut self.epoch, &mut update.epoch);
        keep_news(&mut self.phase, &mut update.phase);
        keep_news(&mut self.epoch_steps, &mut update.epoch_steps);
        let planned = match update.plan {
            Some(Plan::Steps(planned)) => Some(planned),
            Some(Plan::Withdrawn) => None,
            None => self.planned,
        };
        if planned == self.planned {
            update.plan = None;
        }
        self.planned = planned;
        update
    }
}

fn keep_news<T: PartialEq + Clone>(told: &mut Option<T>, now: &mut Option<T>) {
    if told == now {
        *now = None;
    } else if now.is_some() {
        told.clone_from(now);
    }
}
