//! The signals that the front receives, with their senders.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use leveloff_model::process::Pid;
use leveloff_sampler::kernel::stat;
use leveloff_sampler::proc_root::ProcRoot;
use signal_hook::consts::signal::{
    SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH,
};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::sys::InheritedSignals;

/// Forwarded to the command, unless they were ignored at our start.
const FORWARDED: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP];

/// For the front itself.
const OURS: [i32; 3] = [SIGCHLD, SIGCONT, SIGWINCH];

/// The most generations that a signal's sender is traced back: far more than real trees have.
const MOST_ANCESTORS: usize = 100;

/// Catches the front's signals.
#[derive(Debug)]
pub struct Signals(SignalDelivery<UnixStream, WithOrigin>);

/// A signal that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceivedSignal {
    /// A child of ours changed its state.
    ChildChanged,
    /// We were continued after a stop.
    Continued,
    /// The terminal's size changed.
    Resized,
    /// A signal for the command.
    ForCommand(i32, Sender),
}

/// The sender of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// The terminal, which sends to its whole foreground job.
    Terminal,
    /// A process.
    Process(Pid),
}

impl Signals {
    /// Starts to catch.
    pub fn catch(inherited: InheritedSignals) -> io::Result<Signals> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        let wanted = FORWARDED
            .into_iter()
            .filter(|&signal| !inherited.ignores(signal));
        let delivery =
            SignalDelivery::with_pipe(reader, writer, WithOrigin::default(), wanted.chain(OURS))?;
        Ok(Signals(delivery))
    }

    /// The signals since the last call.
    pub fn pending(&mut self) -> Vec<ReceivedSignal> {
        self.0.pending().map(|origin| classify(&origin)).collect()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.get_read().as_fd()
    }
}

/// Whether a process is `root` or descends from it.
pub fn descends_from(process: Pid, root: Pid) -> bool {
    let proc_root = ProcRoot::live();
    let mut at = process;
    for _ in 0..MOST_ANCESTORS {
        if at == root {
            return true;
        }
        match parent(&proc_root, at) {
            Some(parent) => at = parent,
            None => return false,
        }
    }
    false
}

/// The parent of a process.
pub fn parent(proc_root: &ProcRoot, process: Pid) -> Option<Pid> {
    let text = std::fs::read(proc_root.process(process).join("stat")).ok()?;
    stat::parse(&text).map(|stat| stat.parent)
}

fn classify(origin: &Origin) -> ReceivedSignal {
    match origin.signal {
        SIGCHLD => ReceivedSignal::ChildChanged,
        SIGCONT => ReceivedSignal::Continued,
        SIGWINCH => ReceivedSignal::Resized,
        signal => ReceivedSignal::ForCommand(signal, sender(origin)),
    }
}

fn sender(origin: &Origin) -> Sender {
    match (origin.cause, origin.process) {
        (Cause::Sent(_), Some(process)) => Sender::Process(Pid(process.pid)),
        _ => Sender::Terminal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descent_is_read_from_proc() {
        let us = Pid(std::process::id().cast_signed());
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let its_pid = Pid(child.id().cast_signed());
        assert!(descends_from(its_pid, us));
        assert!(descends_from(us, us));
        assert!(!descends_from(us, its_pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!descends_from(its_pid, us));
    }
}
