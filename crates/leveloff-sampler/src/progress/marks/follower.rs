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

/// How much earlier than its process a file may seem to have been written: the kernel tells the
/// boot time in whole seconds, and clocks are set.
const CLOCK_SLACK: f64 = 2.0;

/// A marks file that is read as it grows.
#[derive(Debug)]
pub struct MarksFollower {
    tail: Tail,
    /// The line that has not ended yet.
    pending: Vec<u8>,
    /// What follows, up to the next line end, is not read.
    is_skipping: bool,
    bad_lines: u64,
}

/// Whether a file is the target's.
#[derive(Debug)]
pub enum Belonging {
    /// It is; boxed because it is so much bigger than the other answers.
    Theirs(Box<MarksFollower>),
    /// Its first line is not whole yet.
    Unknown,
    /// An earlier process that had the same pid wrote it.
    Someones(String),
}

/// What a poll told.
#[derive(Debug, Default)]
pub struct MarksNews {
    /// Oldest first.
    pub updates: Vec<ProgressUpdate>,
    /// What was wrong with the first bad line. Said once.
    pub first_bad: Option<BadMark>,
}

impl MarksFollower {
    /// Follows a trusted file, if it is the target's and not that of a process before it.
    pub fn begin(file: File, stat: &Stat, target: &MarksTarget) -> io::Result<Belonging> {
        let Some(header) = first_line(&file)? else {
            return Ok(Belonging::Unknown);
        };
        if let Some(why) = foreign(header, stat, target) {
            return Ok(Belonging::Someones(why));
        }
        let (tail, is_skipping) = Tail::from_near_end(file, FileId::of(stat))?;
        Ok(Belonging::Theirs(Box::new(MarksFollower {
            tail,
            pending: Vec::new(),
            is_skipping,
            bad_lines: 0,
        })))
    }

    /// Which file it is.
    pub fn id(&self) -> FileId {
        self.tail.id()
    }

    /// How many lines could not be read, or not all of.
    pub fn bad_lines(&self) -> u64 {
        self.bad_lines
    }

    /// Reads what is new. A last line without its end waits.
    pub fn poll(&mut self) -> io::Result<MarksNews> {
        let mut lines = Lines {
            pending: std::mem::take(&mut self.pending),
            is_skipping: self.is_skipping,
            updates: Vec::new(),
            bad: Vec::new(),
        };
        let result = self.tail.poll(|chunk| match chunk {
            Chunk::Bytes(bytes) => lines.feed(bytes),
            Chunk::CutShort | Chunk::Skipped => {
                lines.pending.clear();
                lines.is_skipping = matches!(chunk, Chunk::Skipped);
            }
        });
        self.pending = lines.pending;
        self.is_skipping = lines.is_skipping;
        let is_first = self.bad_lines == 0;
        self.bad_lines += lines.bad.len() as u64;
        result?;
        Ok(MarksNews {
            updates: lines.updates,
            first_bad: lines.bad.into_iter().next().filter(|_| is_first),
        })
    }
}

/// Puts lines together and reads them.
struct Lines {
    pending: Vec<u8>,
    is_skipping: bool,
    updates: Vec<ProgressUpdate>,
    bad: Vec<BadMark>,
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

    /// Adds to the line that has not ended; gives it up when it is too long.
    fn keep(&mut self, part: &[u8]) -> bool {
        if self.pending.len() + part.len() > LONGEST_LINE {
            self.pending.clear();
            self.is_skipping = true;
            self.bad.push(BadMark::TooLong);
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
                self.bad.extend(bad);
                if !mark.is_empty() {
                    self.updates.push(mark);
                }
            }
            Err(bad) => self.bad.push(bad),
        }
    }
}

/// The file's first line, if it is whole; within, the header, if it is one.
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

/// Why the file is not the target's, if it is not. A start time in the header decides; without
/// one, a file that was last written before the process began cannot be its own.
fn foreign(header: Option<MarksHeader>, stat: &Stat, target: &MarksTarget) -> Option<String> {
    if let Some(header) = header {
        if header.version != marks_line::VERSION {
            return Some(format!(
                "it is written in version {} of the protocol; this leveloff reads version {}",
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
