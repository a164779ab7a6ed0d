//! The signals that the front receives, and which of them the command has to get from us.

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

use super::edge::InheritedSignals;

/// Passed on to the command, unless the user ignores them.
const PASSED_ON: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP];

/// Needed for our own work.
const OURS: [i32; 3] = [SIGCHLD, SIGCONT, SIGWINCH];

/// Generations that a signal's sender is traced back: far more than real trees have.
const MOST_ANCESTORS: usize = 100;

/// The front's signals, caught from now on.
#[derive(Debug)]
pub struct Signals(SignalDelivery<UnixStream, WithOrigin>);

/// One that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// A child of ours changed its state.
    ChildChanged,
    /// We were continued after a stop.
    Continued,
    /// The terminal's size changed.
    Resized,
    /// One for the command, and who sent it.
    ForCommand(i32, Sender),
}

/// Who sent a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// The terminal, to every process of the job in front of it.
    Terminal,
    /// This process.
    Process(Pid),
}

impl Signals {
    /// Starts catching.
    pub fn catch(inherited: InheritedSignals) -> io::Result<Signals> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        let wanted = PASSED_ON
            .into_iter()
            .filter(|&signal| !inherited.ignores(signal));
        let delivery =
            SignalDelivery::with_pipe(reader, writer, WithOrigin::default(), wanted.chain(OURS))?;
        Ok(Signals(delivery))
    }

    /// Those that arrived since the last call.
    pub fn arrived(&mut self) -> Vec<Arrived> {
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

/// A process's parent now.
pub fn parent(proc_root: &ProcRoot, process: Pid) -> Option<Pid> {
    let text = std::fs::read(proc_root.process(process).join("stat")).ok()?;
    stat::parse(&text).map(|stat| stat.parent)
}

fn classify(origin: &Origin) -> Arrived {
    match origin.signal {
        SIGCHLD => Arrived::ChildChanged,
        SIGCONT => Arrived::Continued,
        SIGWINCH => Arrived::Resized,
        signal => Arrived::ForCommand(signal, sender(origin)),
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
    fn descent_is_traced_through_proc() {
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
