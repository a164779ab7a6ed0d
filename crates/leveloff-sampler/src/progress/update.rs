//! One thing that was heard about the training, whoever said it.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use leveloff_model::progress::Phase;
use leveloff_model::training_counters::{GrownTensors, TrainingCounters};
use leveloff_model::units::Step;

/// Seconds since 1970, as the training's own clock tells them.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct UnixSeconds(pub f64);

/// What one line, bar or mark told. Fields that it did not speak of are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgressUpdate {
    /// When the training says it happened; only marks carry a time.
    pub at: Option<UnixSeconds>,
    /// The step reached.
    pub step: Option<Step>,
    /// The count began anew, so `step` may be lower than before.
    pub restarted: bool,
    /// The epoch, 2.5 being half-way through the third.
    pub epoch: Option<f64>,
    /// The phase now.
    pub phase: Option<Phase>,
    /// How long the run is going to be.
    pub plan: Option<Plan>,
    /// Steps in an epoch.
    pub epoch_steps: Option<Step>,
    /// What was counted inside.
    pub counters: TrainingCounters,
    /// Which tensors became more.
    pub grown: Option<Vec<GrownTensors>>,
    /// Something with a name that happened, such as `checkpoint`.
    pub event: Option<String>,
    /// Where that happened, such as the checkpoint that was saved.
    pub path: Option<String>,
    /// Whether the training looks for a stop request and obeys it.
    pub obeys_stop: Option<bool>,
    /// Other numbers that came along.
    pub facts: BTreeMap<String, f64>,
}

/// How many steps a run is going to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// This many.
    Steps(Step),
    /// What looked like the run's length was an epoch's: the bar filled up and began anew.
    Withdrawn,
}

impl ProgressUpdate {
    /// Whether it told nothing.
    pub fn is_empty(&self) -> bool {
        *self == ProgressUpdate::default()
    }

    /// Whether it told a step and nothing that happens at a moment, so that a later one of the
    /// same kind makes it superfluous.
    pub fn is_only_a_step(&self) -> bool {
        self.step.is_some()
            && !self.restarted
            && self.phase.is_none()
            && self.plan.is_none()
            && self.event.is_none()
    }

    /// Becomes what came after it, keeping what that one did not speak of. Only for one that
    /// [`is_only_a_step`](ProgressUpdate::is_only_a_step).
    pub fn go_on_with(&mut self, later: ProgressUpdate) {
        let before = std::mem::replace(self, later);
        self.step = self.step.or(before.step);
        self.epoch = self.epoch.or(before.epoch);
        self.epoch_steps = self.epoch_steps.or(before.epoch_steps);
        self.counters = before.counters.updated_by(&self.counters);
        self.grown = self.grown.take().or(before.grown);
        self.obeys_stop = self.obeys_stop.or(before.obeys_stop);
    }
}

impl From<SystemTime> for UnixSeconds {
    fn from(time: SystemTime) -> UnixSeconds {
        UnixSeconds(match time.duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_secs_f64(),
            Err(before) => -before.duration().as_secs_f64(),
        })
    }
}
