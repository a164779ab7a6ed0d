//! Sends signals to exactly identified processes.
//!
//! A pid may be reused. So a process is first held by a pidfd and then compared with the intended one: the
//! signal reaches the process that was compared, or none.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::str::FromStr;

use leveloff_model::process::ProcessKey;
use rustix::io::Errno;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::kernel::status;
use crate::proc_root::ProcRoot;
use crate::proc_root::key_of;

/// A signal that can end a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopSignal(Signal);

/// What became of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It was sent.
    Delivered,
    /// The process has exited; its pid may be reused.
    Gone,
}

/// What a process does on a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// It has a handler.
    Caught,
    /// It ignores it.
    Ignored,
    /// The default, which for these signals is to exit.
    Default,
}

/// A process held by a pidfd.
#[derive(Debug)]
pub struct Held {
    descriptor: OwnedFd,
}

/// Signals that trainings handle, by name.
const KNOWN: [(&str, Signal); 6] = [
    ("SIGTERM", Signal::TERM),
    ("SIGINT", Signal::INT),
    ("SIGUSR1", Signal::USR1),
    ("SIGUSR2", Signal::USR2),
    ("SIGHUP", Signal::HUP),
    ("SIGQUIT", Signal::QUIT),
];

impl StopSignal {
    /// The usual signal.
    pub const TERM: StopSignal = StopSignal(Signal::TERM);
    /// The signal that cannot be handled.
    pub const KILL: StopSignal = StopSignal(Signal::KILL);
    /// The signal that resumes a stopped process, so that it receives the others.
    pub const CONTINUE: StopSignal = StopSignal(Signal::CONT);

    /// Whether launchers forward it to their ranks. They do not forward SIGUSR1 and SIGUSR2.
    pub fn is_handed_on(self) -> bool {
        self.0 != Signal::USR1 && self.0 != Signal::USR2
    }
}

impl Held {
    /// Holds exactly this process; `None` when it has exited.
    pub fn hold(proc_root: &ProcRoot, key: ProcessKey) -> io::Result<Option<Held>> {
        let Some(pid) = rustix::process::Pid::from_raw(key.pid.0) else {
            return Ok(None);
        };
        let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => descriptor,
            // Older kernels return EINVAL when the pid is that of a thread.
            Err(Errno::SRCH | Errno::INVAL) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        // Compared after it is held: if the pid still has the same key, so does the descriptor.
        match key_of(proc_root, key.pid) {
            Ok(now) if now == key => Ok(Some(Held { descriptor })),
            _ => Ok(None),
        }
    }

    /// Sends it a signal.
    pub fn send(&self, signal: StopSignal) -> io::Result<Sent> {
        match pidfd_send_signal(&self.descriptor, signal.0) {
            Ok(()) => Ok(Sent::Delivered),
            Err(Errno::SRCH) => Ok(Sent::Gone),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Sends a signal to exactly this process.
pub fn send(proc_root: &ProcRoot, key: ProcessKey, signal: StopSignal) -> io::Result<Sent> {
    match Held::hold(proc_root, key)? {
        Some(held) => held.send(signal),
        None => Ok(Sent::Gone),
    }
}

/// Whether leveloff may send signals to this process. `true` for a process that has exited.
pub fn may_signal(key: ProcessKey) -> bool {
    // Signal 0 only checks the permission.
    let allowed = rustix::process::Pid::from_raw(key.pid.0).map(rustix::process::test_kill_process);
    !matches!(allowed, Some(Err(Errno::PERM)))
}

/// What the process does on this signal; `None` when that is unknown.
pub fn disposition(
    proc_root: &ProcRoot,
    key: ProcessKey,
    signal: StopSignal,
) -> Option<Disposition> {
    let text = std::fs::read(proc_root.process(key.pid).join("status")).ok()?;
    let bit = 1u64 << (signal.0.as_raw() - 1);
    let (caught, ignored) = (
        status::caught_signals(&text)?,
        status::ignored_signals(&text)?,
    );
    Some(match (caught & bit != 0, ignored & bit != 0) {
        (true, _) => Disposition::Caught,
        (false, true) => Disposition::Ignored,
        (false, false) => Disposition::Default,
    })
}

impl FromStr for StopSignal {
    type Err = String;

    /// `SIGTERM`, `term`, `15`.
    fn from_str(text: &str) -> Result<StopSignal, String> {
        let upper = text.trim().to_ascii_uppercase();
        let named = |(name, signal): &(&str, Signal)| {
            upper == *name || upper == name["SIG".len()..] || upper == signal.as_raw().to_string()
        };
        let found = KNOWN.iter().find(|known| named(known));
        found.map(|(_, signal)| StopSignal(*signal)).ok_or_else(|| {
            let known: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
            format!(
                "'{}' is not a signal that ends a training gracefully; known: {}",
                text.trim(),
                known.join(", ")
            )
        })
    }
}

impl fmt::Display for StopSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = KNOWN
            .iter()
            .chain(&[("SIGKILL", Signal::KILL), ("SIGCONT", Signal::CONT)]);
        let mut named = all.filter(|(_, signal)| *signal == self.0);
        f.pad(named.next().map_or("a signal", |(name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use leveloff_model::process::{Pid, StartTicks};

    use super::*;

    fn sleeper() -> (Child, ProcessKey) {
        let child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let pid = Pid(child.id().try_into().unwrap());
        (child, key_of(&ProcRoot::live(), pid).unwrap())
    }

    fn is_alive(child: &mut Child) -> bool {
        child.try_wait().unwrap().is_none()
    }

    #[test]
    fn the_process_with_this_key_gets_the_signal() {
        let (mut child, key) = sleeper();
        assert_eq!(
            send(&ProcRoot::live(), key, StopSignal::TERM).unwrap(),
            Sent::Delivered
        );
        assert!(!child.wait().unwrap().success());
        assert_eq!(
            send(&ProcRoot::live(), key, StopSignal::TERM).unwrap(),
            Sent::Gone
        );
    }

    #[test]
    fn a_process_with_a_reused_pid_gets_no_signal() {
        let (mut child, key) = sleeper();
        let earlier = ProcessKey {
            start: StartTicks(key.start.0 - 1),
            ..key
        };
        assert_eq!(
            send(&ProcRoot::live(), earlier, StopSignal::KILL).unwrap(),
            Sent::Gone
        );
        assert!(is_alive(&mut child));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_number_that_was_given_out_again_is_never_signalled() {
        let (mut first, key) = sleeper();
        first.kill().unwrap();
        first.wait().unwrap();
        let before = (key.pid.0 - 1).to_string();
        if std::fs::write("/proc/sys/kernel/ns_last_pid", before).is_err() {
            leveloff_testkit::cannot_run_here("reusing a pid needs root and checkpoint support");
            return;
        }
        let (mut second, its_key) = sleeper();
        if its_key.pid != key.pid {
            leveloff_testkit::cannot_run_here("another process took the number");
        } else if its_key == key {
            leveloff_testkit::cannot_run_here("both started within one tick of the clock");
        } else {
            assert_eq!(
                send(&ProcRoot::live(), key, StopSignal::KILL).unwrap(),
                Sent::Gone
            );
            assert!(is_alive(&mut second));
        }
        second.kill().unwrap();
        second.wait().unwrap();
    }

    #[test]
    fn what_a_process_does_on_a_signal_is_known_before() {
        let said = |script: &str| {
            let mut child = Command::new("sh")
                .args(["-c", &format!("{script}; echo set; read line")])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut ready = [0; 4];
            std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
            let key = key_of(&ProcRoot::live(), Pid(child.id().try_into().unwrap())).unwrap();
            let found = disposition(&ProcRoot::live(), key, StopSignal::TERM);
            child.kill().unwrap();
            child.wait().unwrap();
            found
        };
        assert_eq!(said("trap : TERM"), Some(Disposition::Caught));
        assert_eq!(said("trap '' TERM"), Some(Disposition::Ignored));
        assert_eq!(said(":"), Some(Disposition::Default));
    }

    #[test]
    fn names_are_understood_and_others_answered_with_those_there_are() {
        for text in ["SIGUSR1", "usr1", " Usr1 ", "10"] {
            assert_eq!(text.parse::<StopSignal>().unwrap().to_string(), "SIGUSR1");
        }
        for text in ["SIGFOO", "9", "KILL", "", "-15"] {
            let error = text.parse::<StopSignal>().unwrap_err();
            assert!(error.contains("known: SIGTERM, SIGINT"), "{error}");
        }
    }
}
