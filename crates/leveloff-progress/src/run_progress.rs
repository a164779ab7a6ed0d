//! Merges the updates of all sources into the progress of one run, and derives its marks.

use std::collections::BTreeMap;

use leveloff_model::process::ProcessIndex;
use leveloff_model::progress::{
    Mark, MarkKind, Phase, Progress, ProgressSource, StepSource, StepUnit,
};
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use leveloff_model::units::{Bytes, Seconds, Step};

use crate::steps::step_counter::{Count, StepChange, StepCounter};
use crate::update::{Plan, ProgressUpdate};

/// One source of updates: a marks file, one of two output streams, a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceId {
    /// Its kind.
    pub source: ProgressSource,
    /// Whether leveloff found the file by itself. A source that the user named, or that the training's output
    /// goes to, is better.
    pub is_found: bool,
    /// Its number among those of its kind.
    pub number: u32,
}

impl SourceId {
    /// A source that was not searched for.
    pub fn direct(source: ProgressSource, number: u32) -> SourceId {
        SourceId {
            source,
            is_found: false,
            number,
        }
    }

    /// Better sources have lower ranks.
    fn rank(self) -> (ProgressSource, bool) {
        (self.source, self.is_found)
    }
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
    /// The source of the steps stood still and was given up: the next step is another source's.
    has_given_up: bool,
    /// What is known of each source that was described or named its counter.
    sources: Vec<(SourceId, StepSource)>,
    marked_phase: Option<Phase>,
    marked_epoch: Option<u64>,
}

/// Numbers that may be counted again with the same result, and how often they were counted.
const COUNTS: [(TrainingCounter, TrainingCounter); 2] = [
    (TrainingCounter::Tensors, TrainingCounter::TensorCounts),
    (TrainingCounter::MallocUsed, TrainingCounter::MallocCounts),
];

/// How a step relates to the steps before it.
struct Arrival {
    /// It is the first from this source, or the first since another source had the steps.
    is_new_source: bool,
    /// The source takes its steps from another counter now.
    is_new_clock: bool,
    /// There was a step before.
    had_step: bool,
    went_back: bool,
    /// A source of another kind takes over and corrects the step; that is no restart.
    takes_over: bool,
}

impl Arrival {
    fn continues_clock(&self) -> bool {
        !self.is_new_source && !self.is_new_clock
    }
}

/// What a step means for the steps before it.
enum ClockChange {
    None,
    /// The training restarted.
    Restart,
    /// The steps come from another counter, which has this name.
    NewClock(String),
}

impl RunProgress {
    /// The current progress.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// States the file that a source reads, and the user's pattern for its steps.
    pub fn describe(&mut self, source_id: SourceId, file: Option<String>, pattern: Option<String>) {
        let source = self.source_mut(source_id);
        (source.file, source.pattern) = (file, pattern);
    }

    /// States the training's name of the counter that a source takes its steps from.
    pub fn name_counter(&mut self, source_id: SourceId, name: &str) {
        let source = self.source_mut(source_id);
        if source.counter.as_deref() == Some(name) {
            return;
        }
        source.counter = Some(name.to_owned());
        if self.step_source == Some(source_id) {
            self.progress.source = Some(self.source_mut(source_id).clone());
        }
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
            step_source != source_id && step_source.rank() == source_id.rank()
        }) {
            // The Trainer prints its metrics to one stream and its bar to the other; steps come from
            // one of them only.
            (update.step, update.restarted) = (None, false);
            (update.plan, update.epoch_steps) = (None, None);
            (update.unit, update.new_clock) = (None, None);
        }
        let change = self.take_step(&mut update, source_id);
        self.take_facts(&update, source_id);
        if context.is_history {
            return;
        }
        match change {
            ClockChange::None => {}
            ClockChange::Restart => {
                marks.push(self.mark(context, MarkKind::Event("restart".to_owned())));
            }
            ClockChange::NewClock(counter) => {
                marks.push(self.mark(context, MarkKind::Clock(counter)));
            }
        }
        let first = marks.len();
        self.mark_changes(context, marks);
        if let Some(event) = update.event {
            marks.push(Mark {
                path: update.path,
                ..self.mark(context, MarkKind::Event(event))
            });
        }
        let malloc_used = update.counters.bytes(TrainingCounter::MallocUsed);
        attach(&mut marks[first..], malloc_used, update.facts);
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

    /// The source of the steps.
    pub fn step_source(&self) -> Option<SourceId> {
        self.step_source
    }

    /// Gives up the source of the steps, so that a livelier one can take over. That is no restart.
    pub fn give_up_step_source(&mut self) {
        self.has_given_up = self.step_source.take().is_some();
    }

    fn is_active(&self, source_id: SourceId) -> bool {
        self.step_source
            .is_none_or(|step_source| source_id.rank() <= step_source.rank())
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

    /// Applies the step; returns what that means for the steps before.
    fn take_step(&mut self, update: &mut ProgressUpdate, source_id: SourceId) -> ClockChange {
        let new_counter = update.new_clock.take();
        if let Some(counter) = &new_counter {
            self.source_mut(source_id).counter = Some(counter.clone());
        }
        if update.step.is_none() {
            return match update.restarted {
                true => ClockChange::Restart,
                false => ClockChange::None,
            };
        }
        let arrival = self.arrival(update, source_id, new_counter.is_some());
        if arrival.went_back && !update.restarted && arrival.continues_clock() {
            return ClockChange::None;
        }
        self.forget_outdated(update.restarted, source_id, &arrival);
        let was_unit = self.progress.unit.filter(|_| arrival.continues_clock());
        let unit = match update.unit {
            // Steps are the unit of a source that names none.
            Some(unit) => Some(unit).filter(|unit| *unit != StepUnit::Steps),
            None => was_unit,
        };
        let changes_unit = arrival.had_step && self.progress.unit != unit;
        self.step_source = Some(source_id);
        self.has_given_up = false;
        (self.progress.step, self.progress.unit) = (update.step, unit);
        if arrival.is_new_source || new_counter.is_some() {
            self.progress.source = Some(self.source_mut(source_id).clone());
        }
        let corrects = arrival.takes_over && (arrival.went_back || changes_unit);
        if update.restarted || arrival.went_back && !arrival.takes_over && !arrival.is_new_clock {
            ClockChange::Restart
        } else if arrival.is_new_clock || corrects {
            ClockChange::NewClock(self.counter_of(source_id))
        } else {
            ClockChange::None
        }
    }

    fn arrival(&self, update: &ProgressUpdate, source_id: SourceId, is_named: bool) -> Arrival {
        let is_new_source = self.step_source != Some(source_id);
        let had_step = self.progress.step.is_some();
        let progress_source = self.progress.source.as_ref().map(|source| source.kind);
        Arrival {
            is_new_source,
            is_new_clock: is_named && !is_new_source && had_step,
            had_step,
            went_back: update.step < self.progress.step,
            takes_over: progress_source.is_some_and(|kind| kind != source_id.source)
                || self.has_given_up
                || self
                    .step_source
                    .is_some_and(|before| before.rank() != source_id.rank()),
        }
    }

    /// Drops what counted on the clock before.
    fn forget_outdated(&mut self, restarted: bool, source_id: SourceId, arrival: &Arrival) {
        let plan_source = self.plan_source;
        let outranks_plan = plan_source.is_none_or(|it| it.rank() >= source_id.rank());
        let keeps_plan = plan_source == Some(source_id) || !outranks_plan;
        if restarted || arrival.is_new_source && !keeps_plan {
            // A plan of another source, or of the run before the restart, does not apply.
            self.forget_plan();
            self.progress.counters = TrainingCounters::default();
            self.progress.grown.clear();
            self.progress.recompile_reasons.clear();
            self.progress.grown_objects.clear();
            self.progress.holders.clear();
        } else if arrival.is_new_clock && outranks_plan {
            // The plan counted what the earlier counter counts.
            self.forget_plan();
        }
    }

    fn forget_plan(&mut self) {
        self.plan_source = None;
        (self.progress.planned_steps, self.progress.epoch_steps) = (None, None);
    }

    /// The name of the counter that a source's steps come from.
    fn counter_of(&mut self, source_id: SourceId) -> String {
        let kind = source_id.source.name().to_owned();
        self.source_mut(source_id).counter.clone().unwrap_or(kind)
    }

    fn source_mut(&mut self, source_id: SourceId) -> &mut StepSource {
        let place = self.sources.iter().position(|(id, _)| *id == source_id);
        let place = place.unwrap_or_else(|| {
            self.sources.push((source_id, source_id.source.into()));
            self.sources.len() - 1
        });
        &mut self.sources[place].1
    }

    fn take_facts(&mut self, update: &ProgressUpdate, source_id: SourceId) {
        let is_outranked = self
            .plan_source
            .is_some_and(|plan_source| plan_source.rank() < source_id.rank());
        if !is_outranked {
            self.take_plan(update, source_id);
        }
        let progress = &mut self.progress;
        progress.epoch = update.epoch.or(progress.epoch);
        progress.counters = progress.counters.updated_by(&update.counters);
        for (counter, counts) in COUNTS {
            if update.counters.get(counter).is_some() {
                let before = progress.counters.get(counts).unwrap_or(0);
                progress.counters.set(counts, before + 1);
            }
        }
        if let Some(grown) = &update.grown {
            progress.grown.clone_from(grown);
        }
        if let Some(reasons) = &update.recompile_reasons {
            progress.recompile_reasons.clone_from(reasons);
        }
        if let Some(grown) = &update.grown_objects {
            progress.grown_objects.clone_from(grown);
        }
        if let Some(holders) = &update.holders {
            progress.holders.clone_from(holders);
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
            malloc_used: None,
            facts: BTreeMap::new(),
        }
    }
}

/// Attaches numbers to the last mark of their update: the event, if there is one.
fn attach(marks: &mut [Mark], malloc_used: Option<Bytes>, facts: BTreeMap<String, f64>) {
    if let Some(mark) = marks.last_mut() {
        mark.malloc_used = malloc_used;
        mark.facts = facts;
    }
}

#[cfg(test)]
mod tests;
