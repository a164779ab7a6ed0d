//! What a pattern is: something that memory does on purpose, and the truth about it.

use std::fmt;

use candle_core::Tensor;
use serde::Serialize;

use crate::sizes::Size;

/// Memory that behaves in a known way beside a training.
///
/// The training calls it at the moments that real leaks are tied to, always from the same thread:
/// workers end with the thread that started them. All that it holds is given back when it is
/// dropped: memory, files in /dev/shm, worker processes.
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

/// One of the [`Knobs`], so that a pattern can say which it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knob {
    /// [`Knobs::rate`].
    Rate,
    /// [`Knobs::size`].
    Size,
    /// [`Knobs::onset`].
    Onset,
    /// [`Knobs::workers`].
    Workers,
}

impl Knob {
    /// How it is written on the command line.
    pub fn flag(self) -> &'static str {
        match self {
            Knob::Rate => "--rate",
            Knob::Size => "--size",
            Knob::Onset => "--onset",
            Knob::Workers => "--workers",
        }
    }
}

impl Knobs {
    /// Those that the user has set.
    pub fn given(&self) -> Vec<Knob> {
        let set = [
            (Knob::Rate, self.rate.is_some()),
            (Knob::Size, self.size.is_some()),
            (Knob::Onset, self.onset.is_some()),
            (Knob::Workers, self.workers.is_some()),
        ];
        let given = set.into_iter().filter(|(_, is_set)| *is_set);
        given.map(|(knob, _)| knob).collect()
    }

    /// Growth a step, in bytes.
    pub(crate) fn rate_or(&self, default: u64) -> u64 {
        self.rate.map_or(default, |rate| rate.0)
    }

    /// What is held, in bytes.
    pub(crate) fn size_or(&self, default: u64) -> u64 {
        self.size.map_or(default, |size| size.0)
    }

    /// The step after which it begins, or by which it is over.
    pub(crate) fn onset_or(&self, default: u64) -> u64 {
        self.onset.unwrap_or(default)
    }

    /// Worker processes; none at all would be no pattern.
    pub(crate) fn workers_or(&self, default: u32) -> u32 {
        self.workers.unwrap_or(default).max(1)
    }
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
    /// Descriptors that stay open each step from then on.
    #[serde(skip_serializing_if = "is_zero")]
    pub descriptors_per_step: u64,
    /// The role whose memory grows.
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

impl Truth {
    /// Level since a step, with nothing to blame.
    pub(crate) fn level(since: u64) -> Truth {
        Truth {
            verdict: TrueVerdict::Level,
            since,
            bytes_per_step: 0,
            descriptors_per_step: 0,
            role: None,
            kind: None,
            findings: &[],
            seen_in: SeenIn::Trainer,
        }
    }

    /// A leak of the training process's own memory.
    pub(crate) fn leak(since: u64, bytes_per_step: u64) -> Truth {
        Truth {
            verdict: TrueVerdict::Leak,
            bytes_per_step,
            role: Some("trainer"),
            kind: Some("anon"),
            ..Truth::level(since)
        }
    }

    /// What stays at each of some events: a leak, unless they never come.
    pub(crate) fn leak_at_events(bytes: u64, every: u64) -> Truth {
        match bytes.checked_div(every) {
            Some(bytes_per_step) => Truth::leak(0, bytes_per_step),
            None => Truth::level(0),
        }
    }

    /// The same in loader workers instead of the training process.
    pub(crate) fn of_workers(self) -> Truth {
        Truth {
            role: self.role.map(|_| "dataloader-worker"),
            seen_in: SeenIn::Tree,
            ..self
        }
    }

    /// The findings that should stand beside it.
    pub(crate) fn with(self, findings: &'static [&'static str]) -> Truth {
        Truth { findings, ..self }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
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
#[error("{what}: {why}; {next}")]
pub struct PatternError {
    /// What could not be done.
    pub what: String,
    /// Why.
    pub why: std::io::Error,
    /// What the user can do.
    pub next: String,
}

impl PatternError {
    /// An error that says what could not be done, and what to do.
    pub fn new(what: impl fmt::Display, why: std::io::Error, next: &str) -> PatternError {
        PatternError {
            what: what.to_string(),
            why,
            next: next.to_owned(),
        }
    }
}
