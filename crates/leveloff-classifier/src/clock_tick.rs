//! What growth follows: the clock that explains it.

/// An event that growth follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockTick {
    /// Each step.
    Step,
    /// Each evaluation.
    Evaluation,
    /// Each checkpoint.
    Checkpoint,
    /// Each epoch.
    Epoch,
    /// Each token, where tokens are not proportional to steps.
    Token,
    /// Each training sample, where samples are not proportional to steps.
    TrainingSample,
    /// Each episode.
    Episode,
    /// Each graph that is compiled.
    Compilation,
    /// Something regular that the training does not report.
    Regular,
}

impl ClockTick {
    /// A stable name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ClockTick::Step => "step",
            ClockTick::Evaluation => "evaluation",
            ClockTick::Checkpoint => "checkpoint",
            ClockTick::Epoch => "epoch",
            ClockTick::Token => "token",
            ClockTick::TrainingSample => "sample",
            ClockTick::Episode => "episode",
            ClockTick::Compilation => "compilation",
            ClockTick::Regular => "regular",
        }
    }
}
