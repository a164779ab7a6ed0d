//! Finds the pids that were assigned since the last read, without listing all of /proc.
//!
//! The kernel assigns pids upwards, and `/proc/loadavg` ends with the newest one. While it does not change, no
//! process started; when it rose by a few, only these few pids need to be checked. A machine with thousands
//! of processes starts some every second, and listing them all each time would cost more than reading the
//! tree.

use std::fs::File;

use leveloff_model::process::Pid;
use rustix::io::{Errno, pread};

use super::handle::Scratch;
use super::session_id::session_id;
use crate::kernel::keyed::leading_number;
use crate::proc_root::ProcRoot;

/// The pids that the kernel assigned since the last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewPids {
    /// These. Some are processes, some threads, some have exited already.
    Some(Vec<Pid>),
    /// Too many to check each, or unknown.
    Many,
    /// The counter restarted from the bottom, so any pid may have been reused.
    Wrapped,
}

/// What a pid is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PidState {
    /// No process or thread has it.
    Unused,
    /// A process or thread of this session has it.
    InSession(Pid),
    /// Not known without opening it.
    Unknown,
}

/// Follows the newest pid.
#[derive(Debug)]
pub struct PidCounter {
    file: Option<File>,
    last: Option<u64>,
    /// Whether this /proc shows the pids of our own namespace, so that system calls understand them.
    has_own_pids: bool,
}

/// Pids that are checked one by one where each has to be opened: that takes some microseconds, a listing about one
/// for each process of the machine.
const OPENED_SINGLY: u64 = 32;

/// The same where a system call shows which of them have exited already, in a fraction of a microsecond. A machine
/// that compiles starts dozens of processes a second, and nearly all of them have exited by the next tick.
const ASKED_SINGLY: u64 = 512;

impl PidCounter {
    /// The counter of a /proc.
    pub fn open(root: &ProcRoot) -> PidCounter {
        let own = rustix::process::getpid().as_raw_pid().to_string();
        let shown = std::fs::read_link(root.path().join("self"));
        PidCounter {
            file: File::open(root.path().join("loadavg")).ok(),
            last: None,
            has_own_pids: shown.is_ok_and(|shown| shown.as_os_str() == own.as_str()),
        }
    }

    /// What a pid is, as far as that is known without opening it.
    pub fn look_up(&self, pid: Pid) -> PidState {
        if !self.has_own_pids {
            return PidState::Unknown;
        }
        match session_id(pid) {
            Ok(session) => PidState::InSession(session),
            Err(Errno::SRCH) => PidState::Unused,
            Err(_) => PidState::Unknown,
        }
    }

    /// The pids that were assigned since the last call.
    pub fn read(&mut self, scratch: &mut Scratch) -> NewPids {
        let newest = self.file.as_ref().and_then(|file| {
            let length = pread(file, &mut scratch[..], 0).ok()?;
            newest_pid(&scratch[..length])
        });
        let singly = match self.has_own_pids {
            true => ASKED_SINGLY,
            false => OPENED_SINGLY,
        };
        let new_pids = between(self.last, newest, singly);
        self.last = newest;
        new_pids
    }
}

/// Whether a `stat` is a thread's. A thread's number can be opened in /proc like a process's,
/// although it is not listed there. A thread sends no signal when it ends: the 38th
/// field, the 36th from the state on, is −1.
pub fn is_thread(stat: &[u8]) -> bool {
    memchr::memrchr(b')', stat)
        .and_then(|end| stat.get(end + 2..))
        .and_then(|fields| fields.split(|&byte| byte == b' ').nth(35))
        .is_some_and(|exit_signal| exit_signal == b"-1")
}

fn between(before: Option<u64>, now: Option<u64>, singly: u64) -> NewPids {
    match (before, now) {
        (Some(before), Some(now)) if now < before => NewPids::Wrapped,
        (Some(before), Some(now)) if now - before <= singly => NewPids::Some(
            (before + 1..=now)
                .filter_map(|number| i32::try_from(number).ok().map(Pid))
                .collect(),
        ),
        _ => NewPids::Many,
    }
}

fn newest_pid(loadavg: &[u8]) -> Option<u64> {
    let field = loadavg.trim_ascii_end().rsplit(|&b| b == b' ').next()?;
    leading_number(field).map(|(pid, _)| pid)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_newest_pid_is_the_last_field() {
        assert_eq!(newest_pid(b"0.00 0.01 0.00 2/79 2024\n"), Some(2024));
        assert_eq!(newest_pid(b""), None);
    }

    #[test]
    fn a_few_are_named_and_many_are_not() {
        let between = |before, now| between(before, now, 32);
        assert_eq!(between(Some(7), Some(7)), NewPids::Some(Vec::new()));
        assert_eq!(
            between(Some(7), Some(9)),
            NewPids::Some(vec![Pid(8), Pid(9)])
        );
        assert_eq!(between(Some(7), Some(7000)), NewPids::Many);
        assert_eq!(between(Some(7000), Some(301)), NewPids::Wrapped);
        assert_eq!(between(None, Some(7)), NewPids::Many);
        assert_eq!(between(Some(7), None), NewPids::Many);
    }

    #[test]
    fn a_pid_is_unused_once_its_process_was_collected() {
        let counter = PidCounter::open(&ProcRoot::live());
        assert!(counter.has_own_pids);
        let is_used = |pid| matches!(counter.look_up(pid), PidState::InSession(_));
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let pid = Pid(child.id() as i32);
        assert!(is_used(pid));
        child.wait().unwrap();
        assert_eq!(counter.look_up(pid), PidState::Unused);
        let saved = tempfile::tempdir().unwrap();
        let counter = PidCounter::open(&ProcRoot::at(saved.path()));
        assert_eq!(
            counter.look_up(pid),
            PidState::Unknown,
            "a saved tree has pids of its own"
        );
    }

    #[test]
    fn a_thread_is_distinguished_from_a_process() {
        let (sender, receiver) = channel();
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || {
            sender.send(rustix::thread::gettid().as_raw_pid()).unwrap();
            ended.recv().unwrap();
        });
        let stat_of = |number: &str| std::fs::read(format!("/proc/{number}/stat")).unwrap();
        assert!(is_thread(&stat_of(&receiver.recv().unwrap().to_string())));
        assert!(!is_thread(&stat_of("self")));
        end.send(()).unwrap();
        thread.join().unwrap();
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = (is_thread(&text), newest_pid(&text));
        }
    }
}
