//! `/dev/kmsg`: the kernel's log, one record for each read.

use std::io;
use std::os::fd::OwnedFd;

use leveloff_model::process::printable;
use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;

/// A position in the log.
#[derive(Debug)]
pub struct KernelLog {
    file: OwnedFd,
    buffer: Vec<u8>,
    is_complete: bool,
}

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Microseconds since boot.
    pub micros: u64,
    /// The first line.
    pub text: &'a [u8],
}

/// The kernel never writes a longer record.
const LONGEST_RECORD: usize = 8192;

/// The most records of one call: more than the largest usual log holds, so that a kernel that logs without pause cannot keep
/// us.
const MOST_RECORDS: usize = 100_000;

impl KernelLog {
    /// Opens the log at its end.
    pub fn open_at_end() -> io::Result<KernelLog> {
        let log = KernelLog::open_at_start()?;
        rustix::fs::seek(&log.file, SeekFrom::End(0))?;
        Ok(log)
    }

    /// Opens the log at its oldest record.
    pub fn open_at_start() -> io::Result<KernelLog> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(KernelLog {
            file: rustix::fs::open("/dev/kmsg", flags, Mode::empty())?,
            buffer: vec![0; LONGEST_RECORD],
            is_complete: true,
        })
    }

    /// Whether no record was overwritten before it was read.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Calls `see` with each record since the last call; never waits.
    pub fn for_each(&mut self, mut see: impl FnMut(Record<'_>)) {
        for _ in 0..MOST_RECORDS {
            match rustix::io::read(&self.file, &mut self.buffer[..]) {
                Ok(0) => return,
                Ok(length) => {
                    if let Some(record) = Record::parse(&self.buffer[..length]) {
                        see(record);
                    }
                }
                // Records were overwritten; the next read returns the oldest that is left.
                Err(Errno::PIPE) => self.is_complete = false,
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

impl Record<'_> {
    /// Parses `level,number,micros,flags;text`. Lines with details may follow.
    pub fn parse(record: &[u8]) -> Option<Record<'_>> {
        let head = record.iter().position(|&b| b == b';')?;
        let micros = record[..head].split(|&b| b == b',').nth(2)?;
        let text = record[head + 1..].split(|&b| b == b'\n').next()?;
        Some(Record {
            micros: std::str::from_utf8(micros).ok()?.parse().ok()?,
            text,
        })
    }

    /// As `dmesg` prints it.
    pub fn printed(&self) -> String {
        let (seconds, micros) = (self.micros / 1_000_000, self.micros % 1_000_000);
        format!("[{seconds:>5}.{micros:06}] {}", printable(self.text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_record_has_its_time_and_its_text() {
        let raw = b"3,423,1277929750,-;Killed; indeed\n SUBSYSTEM=cpu\n";
        let record = Record::parse(raw).unwrap();
        assert_eq!(record.text, b"Killed; indeed");
        assert_eq!(record.printed(), "[ 1277.929750] Killed; indeed");
        assert_eq!(Record::parse(b"no head"), None);
        assert_eq!(Record::parse(b"1,2;text"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_a_panic(raw in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Record::parse(&raw).map(|record| record.printed());
        }
    }
}
