//! Tells a run of `leveloff try` when to end: when the FIFO that `try` holds open is closed, be it because the trial has seen
//! enough of the run, or because `try` itself has ended.

use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, Result};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The reading end of the FIFO.
#[derive(Debug)]
pub(crate) struct TrialEnd(OwnedFd);

impl TrialEnd {
    pub(crate) fn open(fifo: &Path) -> Result<TrialEnd> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let opened = rustix::fs::open(fifo, flags, Mode::empty());
        let shown = fifo.display();
        opened
            .map(TrialEnd)
            .with_context(|| format!("cannot open the FIFO {shown} of the trial"))
    }

    /// Whether no process has it open for writing any more.
    pub(crate) fn is_over(&self) -> bool {
        let mut byte = [0];
        match rustix::io::read(&self.0, &mut byte) {
            Ok(read) => read == 0,
            Err(error) => error != Errno::AGAIN && error != Errno::INTR,
        }
    }
}
