//! A run on disk: JSON Lines, append-only, a header first.
//!
//! A recorder that is killed at any byte loses at most the tick it was writing: readers ignore a
//! torn last line. What did not change is not written. `docs/RECORDING_FORMAT.md` describes the
//! lines; `v1` holds them as types of their own, so that renaming a field of the program cannot
//! break an old recording.

mod allocations;
mod reader;
mod v1;
mod writer;

pub use allocations::AllocationEncoder;
pub use reader::RecordingReader;
pub use writer::RecordingWriter;

use crate::progress::StepUnit;
use crate::units::{Bytes, Limit, Seconds, Step};

/// The newest format version that this program writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// The first line of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Version of leveloff that wrote it.
    pub tool: String,
    /// Start in seconds since 1970, for display only; nothing is computed from it.
    pub started_unix: f64,
    /// Host name.
    pub host: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// What is watched.
    pub target: Target,
    /// Time between samples.
    pub interval: Seconds,
    /// CPU that PSS may cost, in percent of one core.
    pub pss_budget_percent: f64,
    /// What the user stated about the run.
    pub stated: StatedFacts,
}

/// What a recording watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A command that leveloff started.
    Command(Vec<String>),
    /// A run that was already there.
    Attached(crate::process::Pid),
    /// The whole machine.
    System,
}

/// What the user stated about the run; a verdict may use it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatedFacts {
    /// Memory must have levelled off by this step.
    pub level_by: Option<Step>,
    /// Memory must have levelled off by this time, counted from the first sample.
    pub level_by_time: Option<Seconds>,
    /// `level_by` is not stated by the user: a check assumes it.
    pub level_by_is_assumed: bool,
    /// A limit nearer than the machine's own.
    pub limit: Option<Limit>,
    /// Steps the run is going to take.
    pub planned_steps: Option<Step>,
    /// Steps in an epoch.
    pub epoch_steps: Option<Step>,
    /// How earlier runs of the same job ended. Not stated, but known when the run was started; what is stated takes
    /// precedence.
    pub earlier: Option<EarlierRuns>,
}

/// Earlier runs of the same job whose memory was level for certain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EarlierRuns {
    /// What the positions count.
    pub axis: RunAxis,
    /// How many runs.
    pub runs: u32,
    /// Where memory was level first, counted from the beginning of the run.
    pub earliest: f64,
    /// Where it was level last.
    pub latest: f64,
}

/// What positions in a run count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunAxis {
    /// Seconds since the first sample.
    Time,
    /// What the training counts.
    Count(StepUnit),
}

/// A run whose first count is at most this began there; one that begins later was resumed, or joined.
const BEGINNING: f64 = 10.0;

/// Below this, earlier runs were level from the beginning, and the next may differ by as much.
const SHORTEST_HORIZON: f64 = 20.0;

impl EarlierRuns {
    /// The position, counted from the beginning of a run, by which memory of the next run is expected to be level: that of
    /// the latest run, and as much more as one run may differ from the others.
    pub fn horizon(&self) -> f64 {
        let others = f64::from(self.runs.saturating_sub(1).max(1));
        let spread = (self.latest - self.earliest) / others;
        let margin = spread - MARGIN_OF_A_HORIZON * self.latest;
        (self.latest + margin.max(0.0)).max(SHORTEST_HORIZON)
    }
}

/// Growth counts only from this much behind any horizon, so that a spread within it needs no margin of its own.
const MARGIN_OF_A_HORIZON: f64 = 0.1;

impl RunAxis {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            RunAxis::Time => "seconds",
            RunAxis::Count(unit) => unit.name(),
        }
    }

    /// The axis of this name.
    pub fn named(name: &str) -> Option<RunAxis> {
        let counts = StepUnit::ALL.into_iter().map(RunAxis::Count);
        let mut all = counts.chain([RunAxis::Time]);
        all.find(|axis| axis.name() == name)
    }

    /// Where a run whose first position is `first` begins on this axis.
    pub fn beginning(self, first: f64) -> f64 {
        match self {
            RunAxis::Count(_) if first <= BEGINNING => 0.0,
            RunAxis::Time | RunAxis::Count(_) => first,
        }
    }
}

impl StatedFacts {
    /// Whether a step or a time is stated, or assumed, by which memory must be level.
    pub fn has_horizon(&self) -> bool {
        self.level_by.is_some() || self.level_by_time.is_some()
    }

    /// These facts, and where one is missing, that of `recorded`.
    #[must_use]
    pub fn or(self, recorded: &StatedFacts) -> StatedFacts {
        // A step and a time are two ways to state the same fact.
        let horizon = if self.has_horizon() { &self } else { recorded };
        StatedFacts {
            level_by: horizon.level_by,
            level_by_time: horizon.level_by_time,
            level_by_is_assumed: horizon.level_by_is_assumed,
            limit: self.limit.or(recorded.limit),
            planned_steps: self.planned_steps.or(recorded.planned_steps),
            epoch_steps: self.epoch_steps.or(recorded.epoch_steps),
            earlier: self.earlier.or(recorded.earlier),
        }
    }
}

/// How a recording ended; absent when the recorder was killed.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// Time of the end.
    pub t: Seconds,
    /// Why it ended.
    pub reason: EndReason,
}

/// Why a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The command ended with this code.
    Exited(i32),
    /// The command was ended by this signal.
    Signalled(i32),
    /// The watched processes are all gone.
    TargetGone,
    /// The `--duration` is over.
    Duration,
    /// The recorder was stopped; the run went on.
    Stopped,
    /// A reason that a later version of leveloff wrote.
    Other,
}

impl EndReason {
    /// Whether the run ended, and not only its recording.
    pub fn is_end_of_run(self) -> bool {
        !matches!(self, EndReason::Duration | EndReason::Stopped)
    }
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("cannot read the recording: {0}")]
    Io(#[from] std::io::Error),
    /// The file is empty.
    #[error("the recording is empty: the recorder had not written anything yet")]
    Empty,
    /// Another kind of file.
    #[error(
        "this is not a leveloff recording: its first line is not a header; \
         `leveloff record -o FILE` makes one"
    )]
    NotARecording,
    /// Written by a later version.
    #[error(
        "the recording has format version {found}, this leveloff reads up to {FORMAT_VERSION}; \
         upgrade leveloff to read it"
    )]
    Newer {
        /// The version in the file.
        found: u32,
    },
}

/// A stated limit as files have it: a size in bytes, or a share.
fn limit_to_text(limit: Limit) -> String {
    match limit {
        Limit::Size(Bytes(bytes)) => format!("{bytes}B"),
        Limit::Share(share) => format!("{}%", share * 100.0),
    }
}
