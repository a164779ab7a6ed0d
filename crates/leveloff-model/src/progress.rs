//! How far the training has come, and the marks that it wrote.

use std::collections::BTreeMap;

use crate::allocation::ReportedHolder;
use crate::process::ProcessIndex;
use crate::training_counters::{GrownObjects, GrownTensors, RecompileReason, TrainingCounters};
use crate::units::{Bytes, Seconds, Step};

/// The training's last known progress. A field is `None` until a source reports it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// The current step.
    pub step: Option<Step>,
    /// The current epoch; 2.5 is half-way through the third.
    pub epoch: Option<f64>,
    /// The current phase.
    pub phase: Option<Phase>,
    /// How many steps the run is going to take.
    pub planned_steps: Option<Step>,
    /// How many steps an epoch has.
    pub epoch_steps: Option<Step>,
    /// What the training counted.
    pub counters: TrainingCounters,
    /// Tensors that became more, most bytes first, if the training reports them.
    pub grown: Vec<GrownTensors>,
    /// Why code was compiled again, most frequent first, if the training reports it.
    pub recompile_reasons: Vec<RecompileReason>,
    /// Python objects that became more, if the training reports them.
    pub grown_objects: Vec<GrownObjects>,
    /// What keeps memory, by the stack that allocated it, if the training looks for it.
    pub holders: Vec<ReportedHolder>,
    /// Where the step comes from.
    pub source: Option<StepSource>,
    /// What the step counts; `None` stands for steps.
    pub unit: Option<StepUnit>,
}

/// What a training's counter counts. Trainings without a step counter often print another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepUnit {
    /// Optimiser steps, iterations, batches, updates.
    Steps,
    /// Environment steps of reinforcement learning.
    Timesteps,
    /// Episodes of reinforcement learning.
    Episodes,
    /// Training samples: images, sequences, documents.
    Samples,
    /// Tokens.
    Tokens,
    /// Whole epochs: the training prints nothing finer.
    Epochs,
}

impl StepUnit {
    /// Every unit.
    pub const ALL: [StepUnit; 6] = [
        StepUnit::Steps,
        StepUnit::Timesteps,
        StepUnit::Episodes,
        StepUnit::Samples,
        StepUnit::Tokens,
        StepUnit::Epochs,
    ];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            StepUnit::Steps => "steps",
            StepUnit::Timesteps => "timesteps",
            StepUnit::Episodes => "episodes",
            StepUnit::Samples => "samples",
            StepUnit::Tokens => "tokens",
            StepUnit::Epochs => "epochs",
        }
    }
}

/// Where a run's steps come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepSource {
    /// The kind of source.
    pub kind: ProgressSource,
    /// The file that is read. It may contain user and host names: redacted outputs must mask it.
    pub file: Option<String>,
    /// The training's own name of the counter, such as `iter`.
    pub counter: Option<String>,
    /// The user's pattern, where that decides instead of the recogniser.
    pub pattern: Option<String>,
}

/// What is known of a training whose steps are not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingSteps {
    /// Lines of output and logs that were read.
    pub lines: u64,
    /// The last of them that holds a number. The training's own words: redacted outputs must mask them.
    pub last_line: Option<String>,
    /// A pattern for `--step-regex` that fits that line.
    pub pattern: Option<String>,
    /// The output goes to `/dev/null`, where nothing can read it.
    pub goes_to_null: bool,
}

/// Kinds of sources of progress, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProgressSource {
    /// Marks that the training wrote for leveloff.
    Marks,
    /// The child's output under `run`.
    Output,
    /// A log file.
    Log,
    /// A file of metrics that the training's framework writes: Lightning's `metrics.csv`, `trainer_state.json`.
    Metrics,
    /// A TensorBoard event file.
    TensorBoard,
    /// A source that a later version of leveloff recorded.
    Other,
}

impl ProgressSource {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            ProgressSource::Marks => "marks",
            ProgressSource::Output => "output",
            ProgressSource::Log => "log",
            ProgressSource::Metrics => "metrics",
            ProgressSource::TensorBoard => "tensorboard",
            ProgressSource::Other => "other",
        }
    }
}

impl From<ProgressSource> for StepSource {
    fn from(kind: ProgressSource) -> StepSource {
        StepSource {
            kind,
            file: None,
            counter: None,
            pattern: None,
        }
    }
}

/// What a training does at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Training steps.
    Train,
    /// Evaluation or validation.
    Eval,
    /// Saving a checkpoint.
    Checkpoint,
    /// Any other, by the training's own name.
    Other(String),
}

/// Something that the training reported at a moment: a phase began, a checkpoint was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// When, on the recording's clock.
    pub t: Seconds,
    /// The trainer that wrote it, if known.
    pub process: Option<ProcessIndex>,
    /// The step at that time.
    pub step: Option<Step>,
    /// What happened.
    pub kind: MarkKind,
    /// Path of the event, such as the saved checkpoint. Written by the training, so it may contain user and host names:
    /// redacted outputs must mask it.
    pub path: Option<String>,
    /// What malloc had in use at this moment, if the training counted it.
    pub malloc_used: Option<Bytes>,
    /// Other numbers of the mark, by name.
    pub facts: BTreeMap<String, f64>,
}

/// The event of a restart within one recording: the analysis starts over.
pub const RESTART: &str = "guard_restart";

/// What a mark reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkKind {
    /// A phase began.
    Phase(Phase),
    /// An epoch began.
    Epoch(u64),
    /// A named event, such as `checkpoint`.
    Event(String),
    /// From here on another counter of the training gives the steps: its name. Steps may be lower than
    /// before without a restart.
    Clock(String),
}

impl Phase {
    /// Its name in files and on screens.
    pub fn name(&self) -> &str {
        match self {
            Phase::Train => "train",
            Phase::Eval => "eval",
            Phase::Checkpoint => "checkpoint",
            Phase::Other(word) => word,
        }
    }
}

impl From<String> for Phase {
    fn from(word: String) -> Phase {
        match word.as_str() {
            "train" | "training" => Phase::Train,
            "eval" | "evaluation" | "validation" | "val" => Phase::Eval,
            "checkpoint" | "save" => Phase::Checkpoint,
            _ => Phase::Other(word),
        }
    }
}
