//! Reads what is new in a growing file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

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

    /// Passes on what was written since the last poll, up to a limit; returns whether anything was.
    pub fn poll(&mut self, mut see: impl FnMut(Chunk<'_>)) -> io::Result<bool> {
        let mut read = 0;
        while read < MOST_PER_POLL {
            let n = self.read_next()? as u64;
            if n == 0 {
                if read > 0 || !self.was_truncated()? {
                    return Ok(read > 0);
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
        Ok(true)
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
