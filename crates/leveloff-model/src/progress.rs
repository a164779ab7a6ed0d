//! How far the training has come, and the marks that it wrote.

use std::collections::BTreeMap;

use crate::process::ProcessIndex;
use crate::training_counters::{GrownTensors, TrainingCounters};
use crate::units::{Seconds, Step};

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
    /// The source of the step.
    pub source: Option<ProgressSource>,
}

/// Sources of progress, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProgressSource {
    /// Marks that the training wrote for leveloff.
    Marks,
    /// The child's output under `run`.
    Output,
    /// A log file.
    Log,
    /// A source that a later version of leveloff recorded.
    Other,
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
