//! This program started again as a worker: its start, its readiness and its end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{WORKER_VARIABLE, WorkerKind, WorkerStart};

/// A worker that ends its own workers gets this long for it.
const TIME_TO_END: Timespec = Timespec {
    tv_sec: 5,
    tv_nsec: 0,
};

/// A process that was started. It ends when this is dropped, or when its starter ends.
#[derive(Debug)]
pub(super) struct Started {
    child: Child,
}

impl Started {
    /// Starts this program under another command line, and waits until it is ready.
    pub(super) fn start(kind: WorkerKind, command_line: &[&str]) -> io::Result<Started> {
        let start = WorkerStart {
            parent: rustix::process::getpid().as_raw_pid(),
            kind,
        };
        let (name, arguments) = command_line
            .split_first()
            .ok_or(io::ErrorKind::InvalidInput)?;
        // The link of the kernel also works when the file was replaced by a new build.
        let child = Command::new("/proc/self/exe")
            .arg0(name)
            .args(arguments)
            .env(WORKER_VARIABLE, start.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut started = Started { child };
        started.await_ready()?;
        Ok(started)
    }

    fn await_ready(&mut self) -> io::Result<()> {
        let Some(stdout) = self.child.stdout.as_mut() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        match line.trim_end().split_once(' ') {
            None if line == "ready\n" => Ok(()),
            Some(("failed", errno)) => Err(errno.parse().map_or(
                io::ErrorKind::InvalidData.into(),
                io::Error::from_raw_os_error,
            )),
            _ => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "it ended before it was ready",
            )),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if !ended_in_time(&self.child) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// In the worker: reports that it is ready, then waits until its starter is gone or drops it.
pub(super) fn ready_until_dropped() -> io::Result<()> {
    report("ready")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// In the worker: reports why it cannot start.
pub(super) fn failed(error: &io::Error) {
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    // A starter that is gone needs no report.
    let _ = report(&format!("failed {errno}"));
}

fn report(word: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{word}")?;
    stdout.flush()
}

fn ended_in_time(child: &Child) -> bool {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let Some(Ok(handle)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else {
        return false;
    };
    let mut ended = [PollFd::new(&handle, PollFlags::IN)];
    poll(&mut ended, Some(&TIME_TO_END)).is_ok_and(|count| count > 0)
}
