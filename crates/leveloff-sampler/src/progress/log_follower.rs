//! Follows the log that a training writes.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use super::error::ProgressError;
use super::marks::trust::Owners;
use super::tail::{Chunk, Found, Tail};
use crate::regular_file::{self, FileId, Refused};
use leveloff_progress::{EventFile, OutputParser, ProgressUpdate, SeenOutput, StepRegex};

/// A log that is read as it grows, across truncation, rotation and removal.
#[derive(Debug)]
pub struct LogFollower {
    path: PathBuf,
    tail: Tail,
    reader: FileReader,
    /// Whose files are read; `None` for a file that the user named or that the training's output goes to.
    owners: Option<Owners>,
    /// Its content from before it was opened has not been read yet.
    is_catching_up: bool,
    /// Its name still led to it when that was last checked.
    is_in_place: bool,
    /// Polls since then.
    unchecked_polls: u32,
}

/// A file that did not change can still lose its name: a link leads elsewhere, or a directory above it is renamed. So the
/// name is checked every this many polls.
const NAME_CHECKED_EVERY: u32 = 8;

/// What the bytes of a file are.
#[derive(Debug)]
pub enum FileReader {
    /// Lines of output.
    Text {
        /// Reads them.
        parser: Box<OutputParser>,
        /// The next bytes are the rest of a line whose start was not read.
        is_mid_line: bool,
    },
    /// TensorBoard's records.
    Events(EventFile),
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

impl LogUpdates {
    /// Whether any update has a step.
    pub fn has_step(&self) -> bool {
        self.updates.iter().any(|update| update.step.is_some())
    }
}

impl FileReader {
    /// Lines of output, with the user's pattern if there is one.
    pub fn text(step_regex: Option<&StepRegex>) -> FileReader {
        FileReader::Text {
            parser: Box::new(output_parser(step_regex)),
            is_mid_line: false,
        }
    }

    fn take(&mut self, chunk: Chunk<'_>) -> Vec<ProgressUpdate> {
        match (self, chunk) {
            (
                FileReader::Text {
                    parser,
                    is_mid_line,
                },
                Chunk::Bytes(bytes),
            ) => {
                return parser.feed(whole_lines(bytes, is_mid_line));
            }
            (
                FileReader::Text {
                    parser,
                    is_mid_line,
                },
                Chunk::Truncated,
            ) => {
                parser.forget_line();
                *is_mid_line = false;
            }
            (
                FileReader::Text {
                    parser,
                    is_mid_line,
                },
                Chunk::Skipped,
            ) => {
                parser.forget_line();
                *is_mid_line = true;
            }
            (FileReader::Events(events), Chunk::Bytes(bytes)) => return events.feed(bytes),
            (FileReader::Events(events), Chunk::Truncated) => events.start_over(),
            (FileReader::Events(events), Chunk::Skipped) => events.lose_place(),
        }
        Vec::new()
    }

    /// The file has ended and another one with its name begins.
    fn finish(&mut self) -> Vec<ProgressUpdate> {
        match self {
            FileReader::Text {
                parser,
                is_mid_line,
            } => {
                *is_mid_line = false;
                parser.finish()
            }
            FileReader::Events(events) => {
                events.start_over();
                Vec::new()
            }
        }
    }
}

impl LogFollower {
    /// Opens a log; a long one is read from near its end.
    pub fn open(path: &Path) -> Result<LogFollower, ProgressError> {
        LogFollower::open_with(path, FileReader::text(None), None)
    }

    /// Opens a log whose steps are read by the user's pattern, if there is one.
    pub fn open_by(
        path: &Path,
        step_regex: Option<&StepRegex>,
    ) -> Result<LogFollower, ProgressError> {
        LogFollower::open_with(path, FileReader::text(step_regex), None)
    }

    /// Opens a file that leveloff found by itself: only of these users, and no link.
    pub fn open_owned(
        path: &Path,
        reader: FileReader,
        owners: Owners,
    ) -> Result<LogFollower, ProgressError> {
        LogFollower::open_with(path, reader, Some(owners))
    }

    fn open_with(
        path: &Path,
        mut reader: FileReader,
        owners: Option<Owners>,
    ) -> Result<LogFollower, ProgressError> {
        let (file, stat) = open_file(path, owners).map_err(|refused| explain(path, refused))?;
        let (tail, is_mid_file) = Tail::from_near_end(file, FileId::of(&stat))
            .map_err(|source| explain(path, Refused::Io(source)))?;
        if is_mid_file {
            reader.take(Chunk::Skipped);
        }
        Ok(LogFollower {
            path: path.to_owned(),
            tail,
            reader,
            owners,
            is_catching_up: stat.st_size > 0,
            is_in_place: true,
            unchecked_polls: 0,
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The training's name of the counter that the steps come from.
    pub fn clock_name(&self) -> Option<&str> {
        match &self.reader {
            FileReader::Text { parser, .. } => parser.clock_name(),
            FileReader::Events(_) => None,
        }
    }

    /// How much text it held, for a message about missing steps.
    pub fn seen(&self) -> Option<SeenOutput> {
        match &self.reader {
            FileReader::Text { parser, .. } => Some(parser.seen()),
            FileReader::Events(_) => None,
        }
    }

    /// Reads what is new. Costs one system call when the file did not change.
    pub fn poll(&mut self) -> LogUpdates {
        let mut found = LogUpdates {
            is_history: std::mem::take(&mut self.is_catching_up),
            ..LogUpdates::default()
        };
        let result = match self.read_new(&mut found.updates) {
            Ok(Found::News) => {
                // It may have been renamed together with the write.
                self.is_in_place = false;
                Ok(())
            }
            Ok(Found::Unchanged) if self.is_surely_in_place() => Ok(()),
            Ok(_) => self.follow_rotation(&mut found.updates),
            Err(why) => Err(why),
        };
        found.trouble = result.err();
        found
    }

    /// Whether its name need not be checked after a poll that found it unchanged.
    fn is_surely_in_place(&mut self) -> bool {
        self.unchecked_polls += 1;
        self.is_in_place && self.unchecked_polls < NAME_CHECKED_EVERY
    }

    fn read_new(&mut self, updates: &mut Vec<ProgressUpdate>) -> Result<Found, String> {
        let reader = &mut self.reader;
        let read = self.tail.poll(|chunk| updates.extend(reader.take(chunk)));
        read.map_err(|error| format!("cannot read the log {}: {error}", self.path.display()))
    }

    /// Continues with another file that has the same name now. The old one has been read to its end.
    fn follow_rotation(&mut self, updates: &mut Vec<ProgressUpdate>) -> Result<(), String> {
        let id = FileId::at(&self.path);
        self.unchecked_polls = 0;
        self.is_in_place = id.as_ref().is_ok_and(|id| *id == self.tail.id());
        match id {
            Ok(_) if self.is_in_place => return Ok(()),
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
        let (file, stat) = open_file(&self.path, self.owners)
            .map_err(|refused| explain(&self.path, refused).to_string())?;
        updates.extend(self.reader.finish());
        self.tail = Tail::from_start(file, FileId::of(&stat));
        self.read_new(updates).map(|_| ())
    }
}

/// A parser of output, by the user's pattern if there is one.
pub(super) fn output_parser(step_regex: Option<&StepRegex>) -> OutputParser {
    match step_regex {
        Some(step_regex) => OutputParser::with_step_regex(step_regex.clone()),
        None => OutputParser::new(),
    }
}

fn open_file(path: &Path, owners: Option<Owners>) -> Result<(File, Stat), Refused> {
    match owners {
        Some(owners) => regular_file::open_owned(path, |owner| owners.include(owner)),
        None => regular_file::open(path),
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
