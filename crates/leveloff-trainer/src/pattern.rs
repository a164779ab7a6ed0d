//! What a pattern is: something that memory does on purpose, and the truth about it.

use std::fmt;

use candle_core::Tensor;
use serde::Serialize;

use crate::sizes::Size;

/// Memory that behaves in a known way beside a training.
///
/// The training calls it at the moments that real leaks are tied to. All that it holds is given back
/// when it is dropped: memory, files in /dev/shm, worker processes.
pub trait Pattern {
    /// Before the model is made and any thread is started: the time to fork.
    fn begin(&mut self) -> Result<(), PatternError> {
        Ok(())
    }

    /// After a training step.
    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        let _ = done;
        Ok(())
    }

    /// In the middle of an evaluation after `step` steps: what it allocates here and frees in
    /// [`Pattern::evaluated`] is a spike.
    fn evaluating(&mut self, step: u64) -> Result<(), PatternError> {
        let _ = step;
        Ok(())
    }

    /// After an evaluation.
    fn evaluated(&mut self, step: u64) -> Result<(), PatternError> {
        let _ = step;
        Ok(())
    }

    /// After a checkpoint was saved.
    fn saved(&mut self, step: u64) -> Result<(), PatternError> {
        let _ = step;
        Ok(())
    }

    /// Tensors that it keeps alive, for the marks.
    fn held_tensors(&self) -> u64 {
        0
    }
}

/// A training step that was done.
#[derive(Debug, Clone, Copy)]
pub struct StepDone<'a> {
    /// Steps done, this one included; over all epochs, and over a resume.
    pub step: u64,
    /// The loss, with the graph that computed it.
    pub loss: &'a Tensor,
    /// What the graph of the loss keeps alive.
    pub graph_tensors: u64,
}

/// What a user may set of a pattern; what is left out has the pattern's own default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Knobs {
    /// Growth a step, for what grows by the step.
    pub rate: Option<Size>,
    /// What a warmup, cache, spike or jump holds.
    pub size: Option<Size>,
    /// The step after which a leak or shrinking begins, or by which a warmup is over.
    pub onset: Option<u64>,
    /// Worker processes.
    pub workers: Option<u32>,
}

/// When things happen in the training beside the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Steps in the run.
    pub steps: u64,
    /// Steps in an epoch.
    pub epoch_steps: u64,
    /// Steps between evaluations.
    pub evaluate_every: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// Where randomness begins.
    pub seed: u64,
}

/// What is true of a pattern with given knobs in a given schedule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Truth {
    /// Whether memory levels off.
    pub verdict: TrueVerdict,
    /// The step since which it is level, or since which it leaks.
    pub since: u64,
    /// What stays each step from then on, on average; zero if it is level.
    pub bytes_per_step: u64,
    /// Whose memory it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// What kind of memory it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The findings that should stand beside the verdict, by name.
    pub findings: &'static [&'static str],
    /// Where the growth is seen: what a check from outside must read.
    pub seen_in: SeenIn,
}

/// Does it level off, or does it leak?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrueVerdict {
    /// It levels off, perhaps after a warmup, or falls.
    Level,
    /// It grows for ever.
    Leak,
}

/// Where the growth of a pattern is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeenIn {
    /// Private memory of the training process.
    Trainer,
    /// Memory of all its processes, with shared pages counted once.
    Tree,
    /// Files in /dev/shm.
    DevShm,
    /// The machine's shared memory, and nowhere else.
    MachineShmem,
    /// Open descriptors; memory stands still.
    Descriptors,
}

/// A pattern that cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}; {next}")]
pub struct PatternError {
    /// What could not be done.
    pub what: String,
    /// Why.
    pub source: std::io::Error,
    /// What the user can do.
    pub next: String,
}

impl PatternError {
    /// An error that says what could not be done, and what to do.
    pub fn new(what: impl fmt::Display, source: std::io::Error, next: &str) -> PatternError {
        PatternError {
            what: what.to_string(),
            source,
            next: next.to_owned(),
        }
    }
}
