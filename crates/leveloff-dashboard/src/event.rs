//! The events of a dashboard. Live, following and replay send the same.

use std::path::PathBuf;

use crossterm::event::{KeyEvent, MouseEvent};
use leveloff_model::sample::Tick;
use leveloff_model::units::Seconds;

/// An event.
#[derive(Debug, Clone)]
pub enum Event {
    /// A sample of the run, and its events.
    Tick(Box<Tick>),
    /// The source of ticks changed.
    Source(SourceEvent),
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse moved or a button was pressed.
    Mouse(MouseEvent),
    /// The terminal has this size now: columns, then rows.
    Resized(u16, u16),
    /// A message for the last line, such as the result of a request.
    Answer(String),
    /// A message that needs attention now: the bell rings.
    Alarm(String),
    /// A signal requests the end of the dashboard.
    Leave,
    /// This program was stopped for a while, and goes on.
    Continued,
}

/// A change of the source of ticks.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceEvent {
    /// Ticks come from the beginning again: a replay jumped back.
    Restarted,
    /// The run ended, in words; no more ticks come.
    Ended(String),
    /// The recording is over and the run went on, in words; no more ticks come.
    RecordingEnded(String),
    /// The position of a replay.
    Replaying(ReplayPosition),
}

/// The position of a replay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplayPosition {
    /// On the recording's clock.
    pub at: Seconds,
    /// Where the recording ends, as far as that is known.
    pub end: Option<Seconds>,
    /// Seconds of the recording for one of ours.
    pub speed: f64,
    /// Whether it is paused.
    pub paused: bool,
}

/// What the dashboard needs from its caller: it does no input or output of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Write the samples so far as CSV.
    Export,
    /// Write the report.
    Report,
    /// Move a replay.
    Replay(ReplayRequest),
    /// Leave, and let the run go on.
    Leave,
    /// Stop the command of `run --watch`, then leave.
    StopRun,
    /// Stop this program until it is continued.
    Suspend,
}

/// How to move a replay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReplayRequest {
    /// Pause, or go on.
    TogglePause,
    /// Faster or slower by this factor.
    Speed(f64),
    /// So many seconds on or, negative, back.
    Skip(f64),
    /// To this step.
    JumpToStep(u64),
    /// To the end.
    JumpToEnd,
}

/// What is being watched, and how.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Subject {
    /// What it is called: a command, a file.
    pub title: String,
    /// Where it is recorded to, or played from.
    pub recording: Option<PathBuf>,
    /// How ticks come.
    pub mode: Mode,
    /// Whether a recording is of a whole machine, which is not judged.
    pub is_machine: bool,
}

/// How ticks come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// We sample a run that is not ours.
    #[default]
    Live,
    /// We sample a command that we started.
    Command,
    /// Another process records; we read.
    Follow,
    /// From a recording that is complete.
    Replay,
    /// Every process of the machine.
    System,
}
