//! One update of the training's progress, from any source.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use leveloff_model::allocation::ReportedHolder;
use leveloff_model::progress::{Phase, StepUnit};
use leveloff_model::training_counters::{
    GrownObjects, GrownTensors, RecompileReason, TrainingCounters,
};
use leveloff_model::units::Step;

/// Seconds since 1970 on the training's own clock.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct UnixSeconds(pub f64);

/// The content of one line, bar or mark. Fields that it does not mention are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgressUpdate {
    /// When it happened; only marks carry a time.
    pub at: Option<UnixSeconds>,
    /// The step reached.
    pub step: Option<Step>,
    /// What the step counts, when that becomes known or changes.
    pub unit: Option<StepUnit>,
    /// The steps come from another counter from now on, which the training calls this: `step` may be lower
    /// than before without a restart.
    pub new_clock: Option<String>,
    /// The training restarted, so `step` may be lower than before.
    pub restarted: bool,
    /// The epoch, 2.5 being half-way through the third.
    pub epoch: Option<f64>,
    /// The phase now.
    pub phase: Option<Phase>,
    /// How long the run is going to be.
    pub plan: Option<Plan>,
    /// Steps in an epoch.
    pub epoch_steps: Option<Step>,
    /// Counters from inside the training process.
    pub counters: TrainingCounters,
    /// The kinds of tensors that grew in number.
    pub grown: Option<Vec<GrownTensors>>,
    /// Why code was compiled again.
    pub recompile_reasons: Option<Vec<RecompileReason>>,
    /// The classes of Python objects that grew in number.
    pub grown_objects: Option<Vec<GrownObjects>>,
    /// What keeps memory.
    pub holders: Option<Vec<ReportedHolder>>,
    /// A named event, such as `checkpoint`.
    pub event: Option<String>,
    /// The path of that event, such as the checkpoint that was saved.
    pub path: Option<String>,
    /// Whether the training checks for stop requests and obeys them.
    pub obeys_stop: Option<bool>,
    /// Other numbers of the same mark.
    pub facts: BTreeMap<String, f64>,
}

/// How many steps a run is going to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// A fixed number of steps.
    Steps(Step),
    /// The earlier number was the length of an epoch, not of the run: the bar filled up and restarted.
    Withdrawn,
}

impl ProgressUpdate {
    /// Whether it carries nothing.
    pub fn is_empty(&self) -> bool {
        *self == ProgressUpdate::default()
    }

    /// Whether it carries a step and no event, so that the next update can replace it.
    pub fn is_only_a_step(&self) -> bool {
        self.step.is_some()
            && !self.restarted
            && self.unit.is_none()
            && self.new_clock.is_none()
            && self.phase.is_none()
            && self.plan.is_none()
            && self.event.is_none()
    }

    /// Replaces this update by a later one, keeping the fields that `later` does not set. Only for an
    /// update that [`is_only_a_step`](ProgressUpdate::is_only_a_step).
    pub fn merge_later(&mut self, later: ProgressUpdate) {
        let before = std::mem::replace(self, later);
        self.step = self.step.or(before.step);
        self.epoch = self.epoch.or(before.epoch);
        self.epoch_steps = self.epoch_steps.or(before.epoch_steps);
        self.counters = before.counters.updated_by(&self.counters);
        self.grown = self.grown.take().or(before.grown);
        self.recompile_reasons = self.recompile_reasons.take().or(before.recompile_reasons);
        self.grown_objects = self.grown_objects.take().or(before.grown_objects);
        self.holders = self.holders.take().or(before.holders);
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
