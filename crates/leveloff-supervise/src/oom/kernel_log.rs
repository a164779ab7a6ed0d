//! `/dev/kmsg`: the kernel's log, a record for each read.

use std::io;
use std::os::fd::OwnedFd;

use leveloff_model::process::printable;
use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;

/// The log, from where we are in it.
#[derive(Debug)]
pub struct KernelLog {
    file: OwnedFd,
    buffer: Vec<u8>,
    has_lost_some: bool,
}

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Microseconds since boot.
    pub micros: u64,
    /// What it says.
    pub text: &'a [u8],
}

/// The kernel never writes a longer record.
const LONGEST_RECORD: usize = 8192;

/// Records taken in one go: more than the largest usual log holds, so that a kernel that writes
/// without end cannot keep us.
const MOST_RECORDS: usize = 100_000;

impl KernelLog {
    /// Its end: only what comes from now on.
    pub fn from_now_on() -> io::Result<KernelLog> {
        let log = KernelLog::from_the_start()?;
        rustix::fs::seek(&log.file, SeekFrom::End(0))?;
        Ok(log)
    }

    /// All of it that is still there.
    pub fn from_the_start() -> io::Result<KernelLog> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(KernelLog {
            file: rustix::fs::open("/dev/kmsg", flags, Mode::empty())?,
            buffer: vec![0; LONGEST_RECORD],
            has_lost_some: false,
        })
    }

    /// Whether some of it was overwritten before it was read.
    pub fn has_lost_some(&self) -> bool {
        self.has_lost_some
    }

    /// Hands out what has come since; never waits.
    pub fn each(&mut self, mut see: impl FnMut(Record<'_>)) {
        for _ in 0..MOST_RECORDS {
            match rustix::io::read(&self.file, &mut self.buffer[..]) {
                Ok(0) => return,
                Ok(length) => {
                    if let Some(record) = Record::parse(&self.buffer[..length]) {
                        see(record);
                    }
                }
                // Some were overwritten before we came; the next read is of the oldest there is.
                Err(Errno::PIPE) => self.has_lost_some = true,
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

impl Record<'_> {
    /// Reads `level,number,micros,flags;text`, which lines of details may follow.
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
        fn no_bytes_make_it_panic(raw in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Record::parse(&raw).map(|record| record.printed());
        }
    }
}
