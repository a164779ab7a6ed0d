//! What can happen to a dashboard. Live, following and replay send the same.

use std::path::PathBuf;

use crossterm::event::{KeyEvent, MouseEvent};
use leveloff_model::sample::Tick;
use leveloff_model::units::Seconds;

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// The run moved on.
    Tick(Box<Tick>),
    /// The source of ticks has something to say about itself.
    Source(SourceNews),
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse moved or a button was pressed.
    Mouse(MouseEvent),
    /// The terminal has this size now: columns, then rows.
    Resized(u16, u16),
    /// What was asked of the outside is done, or could not be done.
    Answer(String),
    /// Something has to be heard now: it is shown like an answer, and the bell rings.
    Alarm(String),
    /// A signal asks to leave.
    Leave,
    /// This program was stopped for a while, and goes on.
    Continued,
}

/// What the source of ticks says about itself.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceNews {
    /// Ticks come from the beginning again: a replay jumped back.
    Restarted,
    /// The run ended, in words; no more ticks come.
    Ended(String),
    /// A replay is here.
    Replaying(ReplayPosition),
}

/// Where a replay is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplayPosition {
    /// On the recording's clock.
    pub at: Seconds,
    /// Where the recording ends, as far as that is known.
    pub end: Option<Seconds>,
    /// Seconds of the recording for one of ours.
    pub speed: f64,
    /// Whether it waits.
    pub paused: bool,
}

/// What the dashboard asks of the outside. It does no input or output of its own.
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
