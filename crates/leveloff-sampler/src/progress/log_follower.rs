//! Follows the log that a training writes.

use std::io;
use std::path::{Path, PathBuf};

use super::error::ProgressError;
use super::tail::{Chunk, Tail};
use crate::regular_file::{self, FileId, Refused};
use leveloff_progress::{OutputParser, ProgressUpdate};

/// A log that is read as it grows: through truncation, rotation and removal.
#[derive(Debug)]
pub struct LogFollower {
    path: PathBuf,
    tail: Tail,
    parser: OutputParser,
    /// What comes first is the rest of a line whose start was not read.
    is_mid_line: bool,
    /// Something was in it when it was opened, and has not been read yet.
    is_catching_up: bool,
    trouble: Option<String>,
}

/// What a poll of a log told.
#[derive(Debug, Default)]
pub struct LogNews {
    /// Oldest first.
    pub updates: Vec<ProgressUpdate>,
    /// The updates are from before the log was opened.
    pub is_history: bool,
    /// Something that the reader should know. Said once.
    pub trouble: Option<String>,
}

impl LogFollower {
    /// Opens a log, near its end when there is much in it.
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
            trouble: None,
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads what is new. Costs a read and a stat when nothing is.
    pub fn poll(&mut self) -> LogNews {
        let mut news = LogNews {
            is_history: std::mem::take(&mut self.is_catching_up),
            ..LogNews::default()
        };
        let result = self.read_new(&mut news.updates).and_then(|any| {
            if any {
                Ok(())
            } else {
                self.follow_rotation(&mut news.updates)
            }
        });
        news.trouble = match result {
            Ok(()) => None,
            Err(trouble) if self.trouble.as_ref() == Some(&trouble) => None,
            Err(trouble) => Some(self.trouble.insert(trouble).clone()),
        };
        news
    }

    fn read_new(&mut self, updates: &mut Vec<ProgressUpdate>) -> Result<bool, String> {
        let (parser, is_mid_line) = (&mut self.parser, &mut self.is_mid_line);
        let read = self.tail.poll(|chunk| match chunk {
            Chunk::Bytes(bytes) => updates.extend(parser.feed(whole_lines(bytes, is_mid_line))),
            Chunk::CutShort | Chunk::Skipped => {
                parser.forget_line();
                *is_mid_line = matches!(chunk, Chunk::Skipped);
            }
        });
        read.map_err(|error| format!("cannot read the log {}: {error}", self.path.display()))
    }

    /// The old file is read to its end: goes on with the one that now has its name.
    fn follow_rotation(&mut self, updates: &mut Vec<ProgressUpdate>) -> Result<(), String> {
        match FileId::at(&self.path) {
            Ok(id) if id == self.tail.id() => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // The training may still write into the file that has no name any more.
                return Err(format!(
                    "the log {} was removed; what is still written into it is read, and a new \
                     file of that name will be followed",
                    self.path.display()
                ));
            }
            Err(error) => {
                return Err(format!(
                    "cannot look at the log {}: {error}",
                    self.path.display()
                ));
            }
        }
        let (file, stat) = regular_file::open(&self.path)
            .map_err(|refused| explain(&self.path, refused).to_string())?;
        updates.extend(self.parser.finish());
        self.tail = Tail::from_start(file, FileId::of(&stat));
        self.is_mid_line = false;
        self.trouble = None;
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
        Refused::NotRegular(what) => ProgressError::NotAFile { path, what },
        Refused::Io(source) if source.kind() == io::ErrorKind::NotFound => {
            ProgressError::Missing { path }
        }
        Refused::Io(source) => ProgressError::Unreadable { path, source },
    }
}

#[cfg(test)]
#[path = "log_follower_tests.rs"]
mod tests;
