//! Follows a marks file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::Stat;

use super::target::MarksTarget;
use crate::progress::tail::{Chunk, Tail};
use crate::regular_file::FileId;
use leveloff_progress::ProgressUpdate;
use leveloff_progress::marks_line::{self, BadMark, MarksHeader, MarksLine};

/// The longest line that is read.
const LONGEST_LINE: usize = 64 * 1024;

/// How much of a file is searched for its first line.
const LONGEST_HEADER: usize = 4 * 1024;

/// How much older than its process a file may seem: the boot time is in whole seconds, and clocks are set.
const CLOCK_SLACK: f64 = 2.0;

/// A marks file that is read as it grows.
#[derive(Debug)]
pub struct MarksFollower {
    tail: Tail,
    lines: Lines,
    /// An invalid line was reported.
    reported_bad: bool,
}

/// Which process wrote a marks file.
#[derive(Debug)]
pub enum Writer {
    /// The target; boxed because it is much larger than the other variants.
    Target(Box<MarksFollower>),
    /// Its first line is not complete yet.
    Unknown,
    /// Another process, for this reason.
    Other(String),
}

/// What a poll found.
#[derive(Debug, Default)]
pub struct MarksUpdates {
    /// Oldest first.
    pub updates: Vec<ProgressUpdate>,
    /// The first invalid line of the file; reported once.
    pub first_bad: Option<BadMark>,
}

impl MarksFollower {
    /// Follows a trusted file, if the target wrote it and not an earlier process.
    pub fn begin(file: File, stat: &Stat, target: &MarksTarget) -> io::Result<Writer> {
        let Some(header) = first_line(&file)? else {
            return Ok(Writer::Unknown);
        };
        if let Some(why) = foreign(header, stat, target) {
            return Ok(Writer::Other(why));
        }
        let (tail, is_skipping) = Tail::from_near_end(file, FileId::of(stat))?;
        Ok(Writer::Target(Box::new(MarksFollower {
            tail,
            lines: Lines {
                is_skipping,
                ..Lines::default()
            },
            reported_bad: false,
        })))
    }

    /// The identity of the file.
    pub fn id(&self) -> FileId {
        self.tail.id()
    }

    /// Whether the file had no name any more at the last poll.
    pub fn is_removed(&self) -> bool {
        self.tail.is_removed()
    }

    /// Reads what is new. An incomplete last line is read with its rest.
    pub fn poll(&mut self) -> io::Result<MarksUpdates> {
        let lines = &mut self.lines;
        self.tail.poll(|chunk| match chunk {
            Chunk::Bytes(bytes) => lines.feed(bytes),
            Chunk::Truncated | Chunk::Skipped => {
                lines.pending.clear();
                lines.is_skipping = matches!(chunk, Chunk::Skipped);
            }
        })?;
        let first_bad = lines.bad.take().filter(|_| !self.reported_bad);
        self.reported_bad |= first_bad.is_some();
        Ok(MarksUpdates {
            updates: std::mem::take(&mut lines.updates),
            first_bad,
        })
    }
}

/// Assembles lines and parses them.
#[derive(Debug, Default)]
struct Lines {
    /// The line that has not ended yet.
    pending: Vec<u8>,
    /// The bytes up to the next line end are skipped.
    is_skipping: bool,
    updates: Vec<ProgressUpdate>,
    /// The first invalid line.
    bad: Option<BadMark>,
}

impl Lines {
    fn feed(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let line = &bytes[..end];
            bytes = &bytes[end + 1..];
            if std::mem::take(&mut self.is_skipping) {
                continue;
            }
            if self.pending.is_empty() {
                self.read(line);
            } else if self.keep(line) {
                let whole = std::mem::take(&mut self.pending);
                self.read(&whole);
            }
            self.is_skipping = false;
        }
        if !self.is_skipping {
            self.keep(bytes);
        }
    }

    /// Appends to the unfinished line; drops it when it is too long.
    fn keep(&mut self, part: &[u8]) -> bool {
        if self.pending.len() + part.len() > LONGEST_LINE {
            self.pending.clear();
            self.is_skipping = true;
            self.bad.get_or_insert(BadMark::TooLong);
            return false;
        }
        self.pending.extend_from_slice(part);
        true
    }

    fn read(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match marks_line::parse(line) {
            Ok(MarksLine::Header(_)) => {}
            Ok(MarksLine::Mark(mark, bad)) => {
                self.bad = self.bad.take().or(bad);
                if !mark.is_empty() {
                    self.updates.push(mark);
                }
            }
            Err(bad) => {
                self.bad.get_or_insert(bad);
            }
        }
    }
}

/// The file's first line, if it is complete; within, the header, if it is one.
fn first_line(file: &File) -> io::Result<Option<Option<MarksHeader>>> {
    let mut start = vec![0; LONGEST_HEADER];
    let read = file.read_at(&mut start, 0)?;
    let start = &start[..read];
    Ok(match memchr::memchr(b'\n', start) {
        Some(end) => match marks_line::parse(&start[..end]) {
            Ok(MarksLine::Header(header)) => Some(Some(header)),
            _ => Some(None),
        },
        None if read == LONGEST_HEADER => Some(None),
        None => None,
    })
}

/// Why the target did not write the file; `None` when it did. A start time in the header decides; without
/// one, the target cannot have written a file that is older than itself.
fn foreign(header: Option<MarksHeader>, stat: &Stat, target: &MarksTarget) -> Option<String> {
    if let Some(header) = header {
        if header.version != marks_line::VERSION {
            return Some(format!(
                "it has version {} of the protocol; this leveloff reads version {}",
                header.version,
                marks_line::VERSION
            ));
        }
        if let Some(pid) = header.pid.filter(|pid| *pid != target.own_pid) {
            return Some(format!("process {pid} wrote it"));
        }
        if let Some(start) = header.start {
            return (start != target.start)
                .then(|| "an earlier process with the same pid wrote it".to_owned());
        }
    }
    let written = stat.st_mtime as f64 + f64::from(stat.st_mtime_nsec as u32) / 1e9;
    let is_older = target
        .started
        .is_some_and(|started| written < started.0 - CLOCK_SLACK);
    is_older.then(|| "it is older than the process".to_owned())
}

#[cfg(test)]
#[path = "follower_tests.rs"]
mod tests;
