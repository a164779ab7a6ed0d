//! Plays a recording: which ticks are due, how fast, from where. Reads as it goes, in bounded memory;
//! to go back is to start over and skip forward.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use leveloff_dashboard::event::{ReplayPosition, ReplayRequest};
use leveloff_model::recording::{End, Header, RecordingReader};
use leveloff_model::sample::Tick;
use leveloff_model::units::Seconds;

use crate::commands::watch::open;

/// How long a whole recording takes without --speed.
const WHOLE: f64 = 60.0;

/// Below, nothing moves; above, everything is shown at once.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.01..=1e6;

/// Ticks that are due closer together come together: the screen shows two frames a second.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);

/// The place moves on even while nothing was recorded.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// Nothing moves by itself; only a request wakes.
const STILL: Duration = Duration::from_secs(3600);

/// The end of a recording that holds its last sample, with many processes.
const TAIL: u64 = 4 << 20;

#[derive(Debug)]
pub(crate) struct Player {
    path: PathBuf,
    reader: RecordingReader<BufReader<File>>,
    next: Option<Tick>,
    /// On the recording's clock.
    at: f64,
    /// The step that is hurried to.
    goal: Option<u64>,
    /// The newest step that was handed out.
    step: Option<u64>,
    speed: f64,
    is_paused: bool,
    last: Option<Seconds>,
}

impl Player {
    /// At the beginning. Without a `speed`, one that shows all within a minute, and never slower than
    /// it happened.
    pub(crate) fn open(path: &Path, speed: Option<f64>) -> Result<Player> {
        let last = last_moment(path);
        let whole = last.map_or(1.0, |last| (last.0 / WHOLE).max(1.0));
        let mut player = Player {
            reader: open(path)?,
            path: path.to_owned(),
            next: None,
            at: 0.0,
            goal: None,
            step: None,
            speed: speed.unwrap_or(whole).clamp(*SPEEDS.start(), *SPEEDS.end()),
            is_paused: false,
            last,
        };
        player.next = player.reader.next_tick()?;
        Ok(player)
    }

    /// What the recording says of itself.
    pub(crate) fn header(&self) -> &Header {
        self.reader.header()
    }

    /// How it ended; known when it is over.
    pub(crate) fn end(&self) -> Option<&End> {
        self.reader.end()
    }

    /// Whether all was handed out.
    pub(crate) fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// The next tick, if it is time for it.
    pub(crate) fn due(&mut self) -> Result<Option<Tick>> {
        let is_due = self
            .next
            .as_ref()
            .is_some_and(|next| self.goal.is_some() || next.sample.t.0 <= self.at);
        if !is_due {
            return Ok(None);
        }
        let following = self.reader.next_tick()?;
        let due = std::mem::replace(&mut self.next, following);
        if let Some(tick) = &due {
            self.step = tick.sample.progress.step.map(|step| step.0).or(self.step);
            let hurries = self.goal.is_some();
            if self.next.is_none() || self.goal.is_some_and(|goal| self.step >= Some(goal)) {
                self.goal = None;
            }
            if hurries || self.next.is_none() {
                self.at = tick.sample.t.0;
            }
        }
        Ok(due)
    }

    /// So much of our time has passed.
    pub(crate) fn pass(&mut self, time: Duration) {
        if !self.is_paused && !self.is_over() {
            self.at += time.as_secs_f64() * self.speed;
        }
    }

    /// How long nothing is due.
    pub(crate) fn wait(&self) -> Duration {
        match &self.next {
            Some(next) if !self.is_paused => {
                let wait = ((next.sample.t.0 - self.at) / self.speed).max(0.0);
                let wait = Duration::try_from_secs_f64(wait).unwrap_or(LONGEST_WAIT);
                wait.clamp(SHORTEST_WAIT, LONGEST_WAIT)
            }
            _ => STILL,
        }
    }

    pub(crate) fn position(&self) -> ReplayPosition {
        ReplayPosition {
            at: Seconds(self.at),
            end: self.last,
            speed: self.speed,
            paused: self.is_paused,
        }
    }

    /// Handles a request; true if the recording starts from its beginning for that.
    pub(crate) fn handle(&mut self, request: ReplayRequest) -> Result<bool> {
        match request {
            ReplayRequest::TogglePause => self.is_paused = !self.is_paused,
            ReplayRequest::Speed(factor) => {
                self.speed = (self.speed * factor).clamp(*SPEEDS.start(), *SPEEDS.end());
            }
            ReplayRequest::Skip(seconds) if seconds < 0.0 => {
                let to = (self.at + seconds).max(0.0);
                self.restart()?;
                self.at = to;
                return Ok(true);
            }
            ReplayRequest::Skip(seconds) if !self.is_over() => self.at += seconds,
            ReplayRequest::Skip(_) => {}
            ReplayRequest::JumpToStep(step) => {
                let is_behind = self.step.is_some_and(|now| now > step);
                if is_behind {
                    self.restart()?;
                }
                let is_there = self.step == Some(step);
                self.goal = Some(step).filter(|_| !is_there);
                return Ok(is_behind);
            }
            ReplayRequest::JumpToEnd => self.goal = Some(u64::MAX),
        }
        Ok(false)
    }

    fn restart(&mut self) -> Result<()> {
        self.reader = open(&self.path)?;
        self.next = self.reader.next_tick()?;
        (self.at, self.goal, self.step) = (0.0, None, None);
        Ok(())
    }
}

/// When the last sample was taken. Only the end of the file is read for that, and where it has
/// nothing, nothing is known: a replay does without.
fn last_moment(path: &Path) -> Option<Seconds> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))
        .ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    tail.split(|&byte| byte == b'\n').rev().find_map(moment)
}

fn moment(line: &[u8]) -> Option<Seconds> {
    let row: serde_json::Value = serde_json::from_slice(line).ok()?;
    row.get("s")?.get("t")?.as_f64().map(Seconds)
}

#[cfg(test)]
mod tests;
