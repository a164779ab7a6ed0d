//! How far the training has come, and what it said about itself.

use std::collections::BTreeMap;

use crate::process::ProcessIndex;
use crate::training_counters::{GrownTensors, TrainingCounters};
use crate::units::{Seconds, Step};

/// The training's progress as last heard of. Every field is unknown until something tells it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// The current step.
    pub step: Option<Step>,
    /// The current epoch; 2.5 is half-way through the third.
    pub epoch: Option<f64>,
    /// What is going on now.
    pub phase: Option<Phase>,
    /// How many steps the run is going to take.
    pub planned_steps: Option<Step>,
    /// How many steps an epoch has.
    pub epoch_steps: Option<Step>,
    /// What the training counted.
    pub counters: TrainingCounters,
    /// Which tensors became more, most bytes first, where the training tells.
    pub grown: Vec<GrownTensors>,
    /// Who told.
    pub source: Option<ProgressSource>,
}

/// Where progress was learned, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProgressSource {
    /// Marks that the training wrote for us.
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
    /// Anything else, in the training's own word.
    Other(String),
}

/// Something the training said at a moment: a phase began, a checkpoint was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// When, on the recording's clock.
    pub t: Seconds,
    /// Which trainer said it, if that is known.
    pub process: Option<ProcessIndex>,
    /// The step at that time.
    pub step: Option<Step>,
    /// What happened.
    pub kind: MarkKind,
    /// Where, if it is an event that has a place: the checkpoint that was saved. The training's own
    /// word, which may name people and machines: whoever shows it must mask it where that is asked for.
    pub path: Option<String>,
    /// Other numbers that came with it, by name.
    pub facts: BTreeMap<String, f64>,
}

/// The event that a run was started again within one recording: what is judged begins anew.
pub const RESTART: &str = "guard_restart";

/// What a mark tells.
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
    /// Its word.
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
