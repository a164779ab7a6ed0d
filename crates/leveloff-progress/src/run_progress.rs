//! Merges the updates of all sources into the progress of one run, and derives its marks.

use std::collections::BTreeMap;

use leveloff_model::process::ProcessIndex;
use leveloff_model::progress::{Mark, MarkKind, Phase, Progress, ProgressSource};
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use leveloff_model::units::{Seconds, Step};

use crate::steps::step_counter::{Count, StepChange, StepCounter};
use crate::update::{Plan, ProgressUpdate};

/// One source of updates: a marks file, one of two output streams, a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceId {
    /// Its kind.
    pub source: ProgressSource,
    /// Its number among those of its kind.
    pub number: u32,
}

/// When an update happened, and in which process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UpdateContext {
    /// Time of the recording.
    pub t: Seconds,
    /// The process that reported it.
    pub process: Option<ProcessIndex>,
    /// It happened before the recording began: it updates the progress and is no event of this
    /// recording.
    pub is_history: bool,
}

/// The progress of a run, and which sources it comes from.
#[derive(Debug, Default)]
pub struct RunProgress {
    progress: Progress,
    /// The source of the steps.
    step_source: Option<SourceId>,
    /// The source of the planned length, which may come before the first step.
    plan_source: Option<SourceId>,
    /// Corrects the steps of marks; the output parser has already corrected those of output and logs.
    marked_steps: StepCounter,
    marked_phase: Option<Phase>,
    marked_epoch: Option<u64>,
}

impl RunProgress {
    /// The current progress.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Applies an update, unless a better source is active; appends the marks that follow from it.
    pub fn apply(
        &mut self,
        mut update: ProgressUpdate,
        source_id: SourceId,
        context: UpdateContext,
        marks: &mut Vec<Mark>,
    ) {
        if !self.is_active(source_id) {
            return;
        }
        if source_id.source == ProgressSource::Marks {
            self.correct_step(&mut update);
        }
        if self.step_source.is_some_and(|step_source| {
            step_source != source_id && step_source.source == source_id.source
        }) {
            // The Trainer prints its metrics to one stream and its bar to the other; steps come from
            // one of them only.
            (update.step, update.restarted) = (None, false);
            (update.plan, update.epoch_steps) = (None, None);
        }
        let went_back = self.take_step(&update, source_id);
        self.take_facts(&update, source_id);
        if context.is_history {
            return;
        }
        if went_back {
            marks.push(self.mark(context, MarkKind::Event("restart".to_owned())));
        }
        let first = marks.len();
        self.mark_changes(context, marks);
        if let Some(event) = update.event {
            marks.push(Mark {
                path: update.path,
                ..self.mark(context, MarkKind::Event(event))
            });
        }
        attach(&mut marks[first..], update.facts);
    }

    /// Appends marks for the phase and the epoch if they changed.
    pub fn mark_changes(&mut self, context: UpdateContext, marks: &mut Vec<Mark>) {
        let epoch = self.progress.epoch.map(|epoch| epoch.floor() as u64);
        if epoch.is_some() && epoch != self.marked_epoch {
            self.marked_epoch = epoch;
            marks.extend(epoch.map(|epoch| self.mark(context, MarkKind::Epoch(epoch))));
        }
        if self.progress.phase.is_some() && self.progress.phase != self.marked_phase {
            self.marked_phase.clone_from(&self.progress.phase);
            let phase = self.marked_phase.clone();
            marks.extend(phase.map(|phase| self.mark(context, MarkKind::Phase(phase))));
        }
    }

    /// Releases a kind of source that has ended, so that others can take over.
    pub fn release(&mut self, source: ProgressSource) {
        self.step_source = self
            .step_source
            .filter(|step_source| step_source.source != source);
        self.plan_source = self
            .plan_source
            .filter(|plan_source| plan_source.source != source);
        if source == ProgressSource::Marks {
            self.marked_steps = StepCounter::default();
        }
    }

    fn is_active(&self, source_id: SourceId) -> bool {
        self.step_source
            .is_none_or(|step_source| source_id.source <= step_source.source)
    }

    fn correct_step(&mut self, update: &mut ProgressUpdate) {
        let Some(Step(n)) = update.step else {
            return;
        };
        let count = Count {
            n,
            total: None,
            epoch: None,
        };
        (update.step, update.restarted) = match self.marked_steps.observe(count) {
            StepChange::Unchanged => (None, false),
            StepChange::Step(step) | StepChange::NextEpoch(step) => (Some(Step(step)), false),
            StepChange::Restart(step) => (Some(Step(step)), true),
        };
    }

    /// Applies the step; returns whether the steps went back.
    fn take_step(&mut self, update: &ProgressUpdate, source_id: SourceId) -> bool {
        if update.step.is_none() {
            return update.restarted;
        }
        let went_back = update.step < self.progress.step;
        let before = self.step_source.replace(source_id);
        let is_new_source = before != Some(source_id);
        if went_back && !update.restarted && !is_new_source {
            return false;
        }
        let keeps_plan = self.plan_source.is_some_and(|plan_source| {
            plan_source == source_id || plan_source.source < source_id.source
        });
        if update.restarted || is_new_source && !keeps_plan {
            // A plan of another source, or of the run before the restart, does not apply.
            self.plan_source = None;
            (self.progress.planned_steps, self.progress.epoch_steps) = (None, None);
            self.progress.counters = TrainingCounters::default();
            self.progress.grown.clear();
        }
        // A better source that takes over corrects the step; that is no restart.
        let takes_over = before.is_some_and(|before| before.source != source_id.source)
            || self
                .progress
                .source
                .is_some_and(|source| source != source_id.source);
        self.progress.step = update.step;
        self.progress.source = Some(source_id.source);
        went_back && !takes_over || update.restarted
    }

    fn take_facts(&mut self, update: &ProgressUpdate, source_id: SourceId) {
        let is_outranked = self
            .plan_source
            .is_some_and(|plan_source| plan_source.source < source_id.source);
        if !is_outranked {
            self.take_plan(update, source_id);
        }
        let progress = &mut self.progress;
        progress.epoch = update.epoch.or(progress.epoch);
        progress.counters = progress.counters.updated_by(&update.counters);
        if update.counters.get(TrainingCounter::Tensors).is_some() {
            let counts = progress.counters.get(TrainingCounter::TensorCounts);
            progress
                .counters
                .set(TrainingCounter::TensorCounts, counts.unwrap_or(0) + 1);
        }
        if let Some(grown) = &update.grown {
            progress.grown.clone_from(grown);
        }
        if update.phase.is_some() {
            progress.phase.clone_from(&update.phase);
        }
    }

    fn take_plan(&mut self, update: &ProgressUpdate, source_id: SourceId) {
        if update.plan.is_some() || update.epoch_steps.is_some() {
            self.plan_source = Some(source_id);
        }
        let progress = &mut self.progress;
        match update.plan {
            Some(Plan::Steps(steps)) => progress.planned_steps = Some(steps),
            Some(Plan::Withdrawn) => progress.planned_steps = None,
            None => {}
        }
        progress.epoch_steps = update.epoch_steps.or(progress.epoch_steps);
    }

    fn mark(&self, context: UpdateContext, kind: MarkKind) -> Mark {
        Mark {
            t: context.t,
            process: context.process,
            step: self.progress.step,
            kind,
            path: None,
            facts: BTreeMap::new(),
        }
    }
}

/// Attaches facts to the last mark of their update: the event, if there is one.
fn attach(marks: &mut [Mark], facts: BTreeMap<String, f64>) {
    if let Some(mark) = marks.last_mut() {
        mark.facts = facts;
    }
}
