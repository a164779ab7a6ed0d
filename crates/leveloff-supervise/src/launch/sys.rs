//! The unsafe calls of this program: signal dispositions, code between fork and exec, adoption of inherited descriptors, and
//! session and group leaders in another pid namespace.
//!
//! Two rules keep it sound. Between fork and exec, code makes async-signal-safe system calls only and allocates nothing. A
//! descriptor number is adopted once, in a new process that has no other owner for it.

#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::FdFlags;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use super::child_limit::ChildLimit;

/// The highest signal number of Linux.
const LAST_SIGNAL: i32 = 64;

/// The signals that the user's shell, `nohup` or service manager had ignored or blocked when we started: one bit for each,
/// bit 0 for signal 1. The command has to start with exactly these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InheritedSignals {
    ignored: u64,
    blocked: u64,
}

impl InheritedSignals {
    /// Those at the start of this process.
    pub fn of_this_process() -> InheritedSignals {
        InheritedSignals {
            ignored: IGNORED_AT_START.load(Ordering::Relaxed),
            blocked: BLOCKED_AT_START.load(Ordering::Relaxed),
        }
    }

    /// Whether this signal was ignored.
    pub fn ignores(self, signal: i32) -> bool {
        has(self.ignored, signal)
    }
}

/// Starts the relay. It inherits these descriptors under their numbers, and starts with every signal blocked, so that none
/// can end it before it is set up.
pub fn spawn_relay(command: &mut Command, descriptors: Vec<RawFd>) -> io::Result<Child> {
    let everything = signal_set(u64::MAX);
    let prepare = move || {
        set_mask(&everything)?;
        for &number in &descriptors {
            // SAFETY: the number is open: the caller holds it until the relay has been started.
            let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
            rustix::io::fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        Ok(())
    };
    // SAFETY: the closure makes system calls only, and does not allocate.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// The process group that a command is put in.
#[derive(Debug, Clone, Copy)]
pub enum ProcessGroup<'a> {
    /// Ours, in the user's job.
    Ours,
    /// A new one.
    New,
    /// A new one, in the foreground of this terminal.
    NewForeground(BorrowedFd<'a>),
}

/// Starts the user's command with the signals it would have without us, and within its limit.
pub fn spawn_child(
    command: &mut Command,
    signals: InheritedSignals,
    group: ProcessGroup<'_>,
    limit: Option<ChildLimit<BorrowedFd<'_>>>,
) -> io::Result<Child> {
    let blocked = signal_set(signals.blocked);
    // A background process that changes the foreground group is stopped by SIGTTOU, unless that
    // is blocked.
    let meanwhile = signal_set(u64::MAX);
    let (new_group, terminal) = match group {
        ProcessGroup::Ours => (false, None),
        ProcessGroup::New => (true, None),
        ProcessGroup::NewForeground(terminal) => (true, Some(terminal.as_raw_fd())),
    };
    let limit = limit.map(|limit| limit.map(AsRawFd::as_raw_fd));
    let prepare = move || {
        set_mask(&meanwhile)?;
        if let Some(limit) = limit {
            // SAFETY: the caller lends the descriptor for the whole of this function.
            let borrowed = limit.map(|&number| unsafe { BorrowedFd::borrow_raw(number) });
            borrowed.apply()?;
        }
        if new_group {
            rustix::process::setpgid(None, None)?;
        }
        if let Some(terminal) = terminal {
            // SAFETY: the caller lends the descriptor for the whole of this function.
            let terminal = unsafe { BorrowedFd::borrow_raw(terminal) };
            rustix::termios::tcsetpgrp(terminal, rustix::process::getpid())?;
        }
        for signal in (1..=LAST_SIGNAL).filter(|&signal| signals.ignores(signal)) {
            // SAFETY: sets a disposition; libc refuses the numbers that it reserves, which is fine.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        set_mask(&blocked)
    };
    // SAFETY: the closure makes system calls only, and does not allocate.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// The leader of our session, if we can see it. In a container that was entered from outside, the leader may be in another
/// pid namespace; the kernel then returns 0, which rustix does not expect.
pub fn own_session() -> Option<Pid> {
    // SAFETY: asks about this process; takes and writes no memory.
    Pid::from_raw(unsafe { libc::getsid(0) })
}

/// The leader of our process group, if we can see it: see [`own_session`].
pub fn own_group() -> Option<Pid> {
    // SAFETY: asks about this process; takes and writes no memory.
    Pid::from_raw(unsafe { libc::getpgrp() })
}

/// Adopts a descriptor that was inherited through [`spawn_relay`], and makes it close-on-exec.
pub fn adopt(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: only borrowed for this call, which fails if it is not open.
    rustix::io::fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC)?;
    // SAFETY: open, and named once in the plan; nothing else in this fresh process owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Closes the descriptors above 2 that the user's shell left open for the child, so that their readers do not have to wait for
/// us. They are those without close-on-exec: all of ours have it.
pub fn close_inherited_extras() -> io::Result<()> {
    let mut inherited = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let number = entry?
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        inherited.extend(number.filter(|&number: &RawFd| number > libc::STDERR_FILENO));
    }
    for number in inherited {
        // SAFETY: only borrowed for this call, which fails if it is closed by now.
        let flags = rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) });
        if flags.is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC)) {
            // SAFETY: every descriptor that a value of ours owns is close-on-exec; this is not.
            unsafe { libc::close(number) };
        }
    }
    Ok(())
}

/// A descriptor that becomes readable when a child changes state. SIGCHLD has to be blocked.
pub fn child_events() -> io::Result<OwnedFd> {
    let set = signal_set(1 << (libc::SIGCHLD - 1));
    // SAFETY: the set is initialised; the result is a fresh descriptor or -1.
    let number = unsafe { libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: fresh, and without an owner yet.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Which processes take a signal's default action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalTarget {
    /// This process.
    Process,
    /// Our process group: the whole job.
    Group,
}

/// Lets a signal take its default action on this process or its group, and restores our handler if we live on. The kernel
/// ignores a keyboard stop if no shell exists that could continue us.
///
/// The signal is sent only once, to the group or to us: a second one would stop us again.
pub fn take_default_action(signal: i32, target: SignalTarget) {
    if !(1..=LAST_SIGNAL).contains(&signal) {
        return;
    }
    let only_this = signal_set(1 << (signal - 1));
    let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut former = MaybeUninit::<libc::sigaction>::zeroed();
    let mut default = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all are zeroed, which is valid; a zeroed sigaction is the default action.
    unsafe {
        (*default.as_mut_ptr()).sa_sigaction = libc::SIG_DFL;
        libc::sigaction(signal, default.as_ptr(), former.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &only_this, mask.as_mut_ptr());
        match target {
            SignalTarget::Process => libc::raise(signal),
            SignalTarget::Group => libc::kill(0, signal),
        };
        libc::pthread_sigmask(libc::SIG_SETMASK, mask.as_ptr(), std::ptr::null_mut());
        libc::sigaction(signal, former.as_ptr(), std::ptr::null_mut());
    }
}

static IGNORED_AT_START: AtomicU64 = AtomicU64::new(0);
static BLOCKED_AT_START: AtomicU64 = AtomicU64::new(0);

/// Runs before `main`: Rust's runtime ignores SIGPIPE there, and its former state would be lost.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE_INHERITED_SIGNALS: extern "C" fn() = note_inherited_signals;

extern "C" fn note_inherited_signals() {
    let mut ignored = 0;
    let mut blocked = 0;
    let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: reads the mask and the dispositions into zeroed, valid structures.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr());
        for signal in 1..=LAST_SIGNAL {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed();
            let known = libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0;
            if known && action.assume_init().sa_sigaction == libc::SIG_IGN {
                ignored |= 1 << (signal - 1);
            }
            if libc::sigismember(mask.as_ptr(), signal) == 1 {
                blocked |= 1 << (signal - 1);
            }
        }
    }
    IGNORED_AT_START.store(ignored, Ordering::Relaxed);
    BLOCKED_AT_START.store(blocked, Ordering::Relaxed);
}

fn has(signals: u64, signal: i32) -> bool {
    (1..=LAST_SIGNAL).contains(&signal) && signals >> (signal - 1) & 1 == 1
}

fn signal_set(signals: u64) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: emptied before it is used; libc refuses numbers out of range, which is fine.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in (1..=LAST_SIGNAL).filter(|&signal| has(signals, signal)) {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

fn set_mask(set: &libc::sigset_t) -> io::Result<()> {
    // SAFETY: the set is initialised.
    match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, set, std::ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
