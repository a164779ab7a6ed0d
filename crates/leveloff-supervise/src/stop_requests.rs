//! Signals that ask us to stop, waited for together with time and with the end of a process.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// SIGINT, SIGTERM and SIGHUP, which now end nothing by themselves.
#[derive(Debug)]
pub struct StopRequests {
    pipe: UnixStream,
}

/// Why waiting came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// It is time.
    Deadline,
    /// A stop was asked for. Each request is told once.
    Stop,
    /// What was waited for besides is there: the first of it that is.
    Other(usize),
}

impl StopRequests {
    /// Listens from now on.
    pub fn listen() -> Result<StopRequests> {
        let (pipe, signalled) = UnixStream::pair().context("cannot make a pipe for signals")?;
        pipe.set_nonblocking(true)
            .context("cannot make a pipe for signals")?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, signalled.try_clone()?)
                .context("cannot listen to signals")?;
        }
        Ok(StopRequests { pipe })
    }

    /// Waits until `deadline`; whether a stop was asked for before.
    pub fn wait_until(&self, deadline: Instant) -> Result<bool> {
        Ok(self.wait_for(&[], deadline)? == Woken::Stop)
    }

    /// The same, unless there is something to read from one of the `others` before.
    pub fn wait_for(&self, others: &[BorrowedFd], deadline: Instant) -> Result<Woken> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).ok();
            let mut fds: Vec<PollFd> = std::iter::once(self.pipe.as_fd())
                .chain(others.iter().copied())
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            match poll(&mut fds, timeout.as_ref()) {
                Ok(0) => return Ok(Woken::Deadline),
                Ok(_) if !fds[0].revents().is_empty() => {
                    self.forget();
                    return Ok(Woken::Stop);
                }
                Ok(_) => {
                    let ready = fds[1..].iter().position(|fd| !fd.revents().is_empty());
                    return Ok(ready.map_or(Woken::Deadline, Woken::Other));
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno).context("cannot wait"),
            }
        }
    }

    /// Signals that came together are one request.
    fn forget(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.pipe).read(&mut bytes), Ok(count) if count > 0) {}
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    /// Long enough that only a test that fails waits for it.
    fn far() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn a_request_is_told_once_and_before_anything_else() {
        let stop = StopRequests::listen().unwrap();
        let (reader, mut writer) = UnixStream::pair().unwrap();
        assert_eq!(stop.wait_for(&[], Instant::now()).unwrap(), Woken::Deadline);
        writer.write_all(b"x").unwrap();
        assert_eq!(
            stop.wait_for(&[reader.as_fd()], far()).unwrap(),
            Woken::Other(0)
        );
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert_eq!(
            stop.wait_for(&[reader.as_fd()], far()).unwrap(),
            Woken::Stop
        );
        assert_eq!(stop.wait_for(&[], Instant::now()).unwrap(), Woken::Deadline);
    }
}
