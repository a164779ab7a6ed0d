//! Reads what is new in a growing file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::Stat;

use crate::regular_file::FileId;

/// How much is read at once.
const BUFFER: usize = 32 * 1024;

/// How far before its end an existing file is read from: enough for the current step, and cheap.
const LOOK_BACK: u64 = 64 * 1024;

/// How much is read in one poll. A training prints kilobytes a second.
const MOST_PER_POLL: u64 = 1 << 20;

/// How far a file may run ahead before bytes are skipped. Otherwise a writer faster than [`MOST_PER_POLL`]
/// would be followed with a growing delay.
const MOST_BEHIND: u64 = 8 << 20;

/// A file that is read as it grows.
#[derive(Debug)]
pub struct Tail {
    file: File,
    id: FileId,
    offset: u64,
    buffer: Vec<u8>,
    /// What the file showed when it was last read to its end.
    read_at: Option<Attributes>,
    is_removed: bool,
}

/// What changes with every write, truncation, renaming and removal of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Attributes {
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// What a poll found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// New bytes, or a truncation.
    News,
    /// Nothing new. The file may have been renamed or removed.
    Nothing,
    /// The file is exactly as it was: neither written nor truncated, renamed or removed.
    Unchanged,
}

/// A part of what a poll read.
#[derive(Debug)]
pub enum Chunk<'a> {
    /// The next bytes.
    Bytes(&'a [u8]),
    /// The file was truncated; its start follows.
    Truncated,
    /// Bytes were skipped; what follows begins within a line.
    Skipped,
}

impl Tail {
    /// From the start.
    pub fn from_start(file: File, id: FileId) -> Tail {
        Tail {
            file,
            id,
            offset: 0,
            buffer: Vec::new(),
            read_at: None,
            is_removed: false,
        }
    }

    /// From near the end; returns whether that is not the start.
    pub fn from_near_end(file: File, id: FileId) -> io::Result<(Tail, bool)> {
        let offset = file.metadata()?.len().saturating_sub(LOOK_BACK);
        let mut tail = Tail::from_start(file, id);
        tail.offset = offset;
        Ok((tail, offset > 0))
    }

    /// Which file it is.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Whether it had no name any more at the last poll: it was removed, or another file took its name.
    pub fn is_removed(&self) -> bool {
        self.is_removed
    }

    /// Passes on what was written since the last poll, up to a limit. Costs one system call if nothing changed.
    pub fn poll(&mut self, mut see: impl FnMut(Chunk<'_>)) -> io::Result<Found> {
        // Before reading, so that a later write changes it.
        let now = rustix::fs::fstat(&self.file)?;
        let attributes = Attributes::of(&now);
        self.is_removed = now.st_nlink == 0;
        if self.read_at == Some(attributes) && !self.is_removed {
            return Ok(Found::Unchanged);
        }
        self.read_at = None;
        let mut read = 0;
        while read < MOST_PER_POLL {
            let n = self.read_next()? as u64;
            if n == 0 {
                if read > 0 || !self.was_truncated()? {
                    self.read_at = Some(attributes);
                    return Ok(if read > 0 {
                        Found::News
                    } else {
                        Found::Nothing
                    });
                }
                see(Chunk::Truncated);
                self.offset = 0;
                // Once per poll, in case a file is truncated again and again.
                read = 1;
                continue;
            }
            see(Chunk::Bytes(&self.buffer[..n as usize]));
            self.offset += n;
            read += n;
        }
        if self.file.metadata()?.len().saturating_sub(self.offset) > MOST_BEHIND {
            see(Chunk::Skipped);
            self.offset = self.file.metadata()?.len().saturating_sub(LOOK_BACK);
        }
        Ok(Found::News)
    }

    fn read_next(&mut self) -> io::Result<usize> {
        // Allocated with the first read, so that an unread file costs nothing.
        self.buffer.resize(BUFFER, 0);
        loop {
            match self.file.read_at(&mut self.buffer, self.offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn was_truncated(&self) -> io::Result<bool> {
        Ok(self.file.metadata()?.len() < self.offset)
    }
}

impl Attributes {
    fn of(stat: &Stat) -> Attributes {
        // The types of these fields differ between architectures.
        #[allow(clippy::unnecessary_cast)]
        Attributes {
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}
