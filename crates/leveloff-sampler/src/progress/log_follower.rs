//! Follows the log that a training writes.

use std::io;
use std::path::{Path, PathBuf};

use super::error::ProgressError;
use super::tail::{Chunk, Tail};
use crate::regular_file::{self, FileId, Refused};
use leveloff_progress::{OutputParser, ProgressUpdate};

/// A log that is read as it grows, across truncation, rotation and removal.
#[derive(Debug)]
pub struct LogFollower {
    path: PathBuf,
    tail: Tail,
    parser: OutputParser,
    /// The next bytes are the rest of a line whose start was not read.
    is_mid_line: bool,
    /// Its content from before it was opened has not been read yet.
    is_catching_up: bool,
}

/// What a poll of a log found.
#[derive(Debug, Default)]
pub struct LogUpdates {
    /// Oldest first.
    pub updates: Vec<ProgressUpdate>,
    /// The updates are from before the log was opened.
    pub is_history: bool,
    /// Why the log, or part of it, could not be read.
    pub trouble: Option<String>,
}

impl LogFollower {
    /// Opens a log; a long one is read from near its end.
    pub fn open(path: &Path) -> Result<LogFollower, ProgressError> {
        let (file, stat) = regular_file::open(path).map_err(|refused| explain(path, refused))?;
        let (tail, is_mid_line) = Tail::from_near_end(file, FileId::of(&stat))
            .map_err(|source| explain(path, Refused::Io(source)))?;
        Ok(LogFollower {
            path: path.to_owned(),
            tail,
            parser: OutputParser::new(),
            is_mid_line,
            is_catching_up: stat.st_size > 0,
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads what is new. Costs a read and a stat when nothing is new.
    pub fn poll(&mut self) -> LogUpdates {
        let mut found = LogUpdates {
            is_history: std::mem::take(&mut self.is_catching_up),
            ..LogUpdates::default()
        };
        let result = match self.read_new(&mut found.updates) {
            Ok(false) => self.follow_rotation(&mut found.updates),
            result => result.map(|_| ()),
        };
        found.trouble = result.err();
        found
    }

    fn read_new(&mut self, updates: &mut Vec<ProgressUpdate>) -> Result<bool, String> {
        let (parser, is_mid_line) = (&mut self.parser, &mut self.is_mid_line);
        let read = self.tail.poll(|chunk| match chunk {
            Chunk::Bytes(bytes) => updates.extend(parser.feed(whole_lines(bytes, is_mid_line))),
            Chunk::Truncated | Chunk::Skipped => {
                parser.forget_line();
                *is_mid_line = matches!(chunk, Chunk::Skipped);
            }
        });
        read.map_err(|error| format!("cannot read the log {}: {error}", self.path.display()))
    }

    /// Continues with another file that has the same name now. The old one has been read to its end.
    fn follow_rotation(&mut self, updates: &mut Vec<ProgressUpdate>) -> Result<(), String> {
        match FileId::at(&self.path) {
            Ok(id) if id == self.tail.id() => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // The training may still write into the removed file.
                return Err(format!(
                    "the log {} was removed; it is read to its end, and a new file with that \
                     name will be followed",
                    self.path.display()
                ));
            }
            Err(error) => {
                return Err(format!(
                    "cannot read the log {}: {error}",
                    self.path.display()
                ));
            }
        }
        let (file, stat) = regular_file::open(&self.path)
            .map_err(|refused| explain(&self.path, refused).to_string())?;
        updates.extend(self.parser.finish());
        self.tail = Tail::from_start(file, FileId::of(&stat));
        self.is_mid_line = false;
        self.read_new(updates).map(|_| ())
    }
}

/// `bytes` without the rest of a line whose start was not read.
fn whole_lines<'a>(bytes: &'a [u8], is_mid_line: &mut bool) -> &'a [u8] {
    if !*is_mid_line {
        return bytes;
    }
    match memchr::memchr2(b'\n', b'\r', bytes) {
        Some(end) => {
            *is_mid_line = false;
            &bytes[end..]
        }
        None => &[],
    }
}

fn explain(path: &Path, refused: Refused) -> ProgressError {
    let path = path.to_owned();
    match refused {
        Refused::NotRegular(kind) => ProgressError::NotAFile {
            path,
            what: regular_file::description(kind),
        },
        Refused::Io(source) if source.kind() == io::ErrorKind::NotFound => {
            ProgressError::Missing { path }
        }
        Refused::Io(source) => ProgressError::Unreadable { path, source },
    }
}

#[cfg(test)]
#[path = "log_follower_tests.rs"]
mod tests;
