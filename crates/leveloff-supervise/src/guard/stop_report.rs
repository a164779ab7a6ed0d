//! The report of a stop.

use std::time::Duration;

use leveloff_model::process::Pid;
use leveloff_model::units::{Bytes, Step};
use leveloff_sampler::signalling::StopSignal;

use super::policy::Reason;
use super::stop_sequence::Stage;

/// What the guard did.
#[derive(Debug, Clone, PartialEq)]
pub struct StopReport {
    /// Why the run was stopped.
    pub reason: Reason,
    /// The newest step at the decision.
    pub step: Option<Step>,
    /// The run's memory at the decision.
    pub memory: Bytes,
    /// The run's peak memory.
    pub peak: Bytes,
    /// The signal that the training saves and stops on.
    pub signal: StopSignal,
    /// The stages, each with the time from the decision to its begin.
    pub stages: Vec<(Stage, Duration)>,
    /// The last checkpoint since the decision.
    pub checkpoint: Option<Checkpoint>,
    /// The time until every process had exited.
    pub took: Duration,
    /// The processes that did not exit.
    pub left: Vec<Pid>,
}

/// A checkpoint that the training reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The step that it saves.
    pub step: Option<Step>,
    /// Its path, if the training reported one.
    pub path: Option<String>,
}
