//! Waits for the signals that ask leveloff to exit, together with a deadline and other descriptors.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Catches SIGINT, SIGTERM and SIGHUP, which then do not end the process.
#[derive(Debug)]
pub struct TerminationSignals {
    pipe: UnixStream,
}

/// Why waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitResult {
    /// The deadline has come.
    Deadline,
    /// A signal came. Each is reported once.
    Signal,
    /// This one of the other descriptors is readable: the first that is.
    Other(usize),
}

impl TerminationSignals {
    /// Starts to catch.
    pub fn listen() -> Result<TerminationSignals> {
        let (pipe, signalled) = UnixStream::pair().context("cannot make a pipe for signals")?;
        pipe.set_nonblocking(true)
            .context("cannot make a pipe for signals")?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, signalled.try_clone()?)
                .context("cannot listen to signals")?;
        }
        Ok(TerminationSignals { pipe })
    }

    /// Waits until `deadline`; whether a signal came before.
    pub fn wait_until(&self, deadline: Instant) -> Result<bool> {
        Ok(self.wait_for(&[], deadline)? == WaitResult::Signal)
    }

    /// The same, or until one of the `others` is readable.
    pub fn wait_for(&self, others: &[BorrowedFd], deadline: Instant) -> Result<WaitResult> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).ok();
            let mut fds: Vec<PollFd> = std::iter::once(self.pipe.as_fd())
                .chain(others.iter().copied())
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            match poll(&mut fds, timeout.as_ref()) {
                Ok(0) => return Ok(WaitResult::Deadline),
                Ok(_) if !fds[0].revents().is_empty() => {
                    self.clear();
                    return Ok(WaitResult::Signal);
                }
                Ok(_) => {
                    let ready = fds[1..].iter().position(|fd| !fd.revents().is_empty());
                    return Ok(ready.map_or(WaitResult::Deadline, WaitResult::Other));
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno).context("cannot wait"),
            }
        }
    }

    /// Signals that came together count once.
    fn clear(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.pipe).read(&mut bytes), Ok(count) if count > 0) {}
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    /// Only a test that fails waits for this.
    fn far() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn a_signal_is_reported_once_and_before_anything_else() {
        let stop = TerminationSignals::listen().unwrap();
        let (reader, mut writer) = UnixStream::pair().unwrap();
        assert_eq!(
            stop.wait_for(&[], Instant::now()).unwrap(),
            WaitResult::Deadline
        );
        writer.write_all(b"x").unwrap();
        assert_eq!(
            stop.wait_for(&[reader.as_fd()], far()).unwrap(),
            WaitResult::Other(0)
        );
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert_eq!(
            stop.wait_for(&[reader.as_fd()], far()).unwrap(),
            WaitResult::Signal
        );
        assert_eq!(
            stop.wait_for(&[], Instant::now()).unwrap(),
            WaitResult::Deadline
        );
    }
}
