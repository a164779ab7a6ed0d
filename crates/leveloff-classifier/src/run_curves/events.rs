//! What happens in a training, for charts, logs and the judge.

use leveloff_model::progress::{MarkKind, Phase};
use leveloff_model::units::Seconds;

use crate::units::X;

/// Something that happened in the training.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEvent {
    /// At which count.
    pub x: Option<X>,
    /// When.
    pub t: Option<Seconds>,
    /// What.
    pub kind: RunEventKind,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEventKind {
    /// An evaluation began.
    Evaluation,
    /// A checkpoint was saved.
    Checkpoint,
    /// An epoch began.
    Epoch(u64),
    /// Something that the training names.
    Named(String),
    /// From here on another counter of the training gives the steps: its name.
    Clock(String),
}

impl RunEventKind {
    /// What a mark means, for charts, logs and the judge alike; `None` for training that goes on.
    pub fn of(mark: &MarkKind) -> Option<RunEventKind> {
        match mark {
            MarkKind::Phase(Phase::Train) => None,
            MarkKind::Phase(Phase::Eval) => Some(RunEventKind::Evaluation),
            MarkKind::Phase(Phase::Checkpoint) => Some(RunEventKind::Checkpoint),
            MarkKind::Phase(Phase::Other(name)) => Some(RunEventKind::Named(name.clone())),
            MarkKind::Epoch(epoch) => Some(RunEventKind::Epoch(*epoch)),
            MarkKind::Event(name) => Some(match Phase::from(name.clone()) {
                Phase::Checkpoint => RunEventKind::Checkpoint,
                _ => RunEventKind::Named(name.clone()),
            }),
            MarkKind::Clock(counter) => Some(RunEventKind::Clock(counter.clone())),
        }
    }
}
