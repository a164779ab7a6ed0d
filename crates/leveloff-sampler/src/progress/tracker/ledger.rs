//! Keeps the progress, and says what in it is worth a mark.

use std::collections::BTreeMap;

use leveloff_model::process::ProcessIndex;
use leveloff_model::progress::{Mark, MarkKind, Phase, Progress, ProgressSource};
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use leveloff_model::units::{Seconds, Step};

use crate::progress::counter::{Count, Heard, StepCounter};
use crate::progress::update::{Plan, ProgressUpdate};

/// One of those who tell: a marks file, one of two outputs, a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Voice {
    /// What kind it is of.
    pub source: ProgressSource,
    /// Which of that kind.
    pub number: u32,
}

/// When and by whom something was said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// When.
    pub t: Seconds,
    /// By whom.
    pub process: Option<ProcessIndex>,
    /// It happened before we listened: it says how things stand, and is no event of this
    /// recording.
    pub is_history: bool,
}

/// The progress and who tells it.
#[derive(Debug, Default)]
pub struct Ledger {
    progress: Progress,
    /// Who tells the steps.
    teller: Option<Voice>,
    /// Who told how long the run is going to be, which may be before its first step.
    planner: Option<Voice>,
    /// Marks tell steps as they are; output and logs were put right by their parser.
    marked_steps: StepCounter,
    announced_phase: Option<Phase>,
    announced_epoch: Option<u64>,
}

impl Ledger {
    /// The progress.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Takes in what a voice told, if it is to be heard; adds the marks that follow from it.
    pub fn apply(
        &mut self,
        mut update: ProgressUpdate,
        voice: Voice,
        moment: Moment,
        marks: &mut Vec<Mark>,
    ) {
        if !self.is_heard(voice) {
            return;
        }
        if voice.source == ProgressSource::Marks {
            self.put_right(&mut update);
        }
        if self
            .teller
            .is_some_and(|teller| teller != voice && teller.source == voice.source)
        {
            // The Trainer's metrics are in one file, its bar in the other: each tells its own.
            (update.step, update.restarted) = (None, false);
            (update.plan, update.epoch_steps) = (None, None);
        }
        let went_back = self.take_step(&update, voice);
        self.take_facts(&update, voice);
        if moment.is_history {
            return;
        }
        if went_back {
            marks.push(self.mark(moment, MarkKind::Event("restart".to_owned())));
        }
        let first = marks.len();
        self.announce(moment, marks);
        if let Some(event) = update.event {
            marks.push(Mark {
                path: update.path,
                ..self.mark(moment, MarkKind::Event(event))
            });
        }
        attach(&mut marks[first..], update.facts);
    }

    /// Marks the phase and the epoch, where they are others than was marked before.
    pub fn announce(&mut self, moment: Moment, marks: &mut Vec<Mark>) {
        let epoch = self.progress.epoch.map(|epoch| epoch.floor() as u64);
        if epoch.is_some() && epoch != self.announced_epoch {
            self.announced_epoch = epoch;
            marks.extend(epoch.map(|epoch| self.mark(moment, MarkKind::Epoch(epoch))));
        }
        if self.progress.phase.is_some() && self.progress.phase != self.announced_phase {
            self.announced_phase.clone_from(&self.progress.phase);
            let phase = self.announced_phase.clone();
            marks.extend(phase.map(|phase| self.mark(moment, MarkKind::Phase(phase))));
        }
    }

    /// A source has nothing more to tell: others may.
    pub fn release(&mut self, source: ProgressSource) {
        self.teller = self.teller.filter(|teller| teller.source != source);
        self.planner = self.planner.filter(|planner| planner.source != source);
        if source == ProgressSource::Marks {
            self.marked_steps = StepCounter::default();
        }
    }

    fn is_heard(&self, voice: Voice) -> bool {
        self.teller
            .is_none_or(|teller| voice.source <= teller.source)
    }

    fn put_right(&mut self, update: &mut ProgressUpdate) {
        let Some(Step(n)) = update.step else {
            return;
        };
        let count = Count {
            n,
            total: None,
            epoch: None,
        };
        (update.step, update.restarted) = match self.marked_steps.hear(count) {
            Heard::Nothing => (None, false),
            Heard::Step(step) | Heard::NextEpoch(step) => (Some(Step(step)), false),
            Heard::Restart(step) => (Some(Step(step)), true),
        };
    }

    /// Tells whether the steps went back.
    fn take_step(&mut self, update: &ProgressUpdate, voice: Voice) -> bool {
        if update.step.is_none() {
            return update.restarted;
        }
        let went_back = update.step < self.progress.step;
        let before = self.teller.replace(voice);
        let is_new_teller = before != Some(voice);
        if went_back && !update.restarted && !is_new_teller {
            return false;
        }
        let keeps_plan = self
            .planner
            .is_some_and(|planner| planner == voice || planner.source < voice.source);
        if update.restarted || is_new_teller && !keeps_plan {
            // What another one planned, or the run before, does not hold for this one.
            self.planner = None;
            (self.progress.planned_steps, self.progress.epoch_steps) = (None, None);
            self.progress.counters = TrainingCounters::default();
            self.progress.grown.clear();
        }
        // A better source that takes over knows better; it does not begin anew.
        let takes_over = before.is_some_and(|before| before.source != voice.source)
            || self
                .progress
                .source
                .is_some_and(|source| source != voice.source);
        self.progress.step = update.step;
        self.progress.source = Some(voice.source);
        went_back && !takes_over || update.restarted
    }

    fn take_facts(&mut self, update: &ProgressUpdate, voice: Voice) {
        let is_outranked = self
            .planner
            .is_some_and(|planner| planner.source < voice.source);
        if !is_outranked {
            self.take_plan(update, voice);
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

    fn take_plan(&mut self, update: &ProgressUpdate, voice: Voice) {
        if update.plan.is_some() || update.epoch_steps.is_some() {
            self.planner = Some(voice);
        }
        let progress = &mut self.progress;
        match update.plan {
            Some(Plan::Steps(steps)) => progress.planned_steps = Some(steps),
            Some(Plan::Withdrawn) => progress.planned_steps = None,
            None => {}
        }
        progress.epoch_steps = update.epoch_steps.or(progress.epoch_steps);
    }

    fn mark(&self, moment: Moment, kind: MarkKind) -> Mark {
        Mark {
            t: moment.t,
            process: moment.process,
            step: self.progress.step,
            kind,
            path: None,
            facts: BTreeMap::new(),
        }
    }
}

/// Facts go with the last mark of what they came with: the event, if there is one.
fn attach(marks: &mut [Mark], facts: BTreeMap<String, f64>) {
    if let Some(mark) = marks.last_mut() {
        mark.facts = facts;
    }
}
