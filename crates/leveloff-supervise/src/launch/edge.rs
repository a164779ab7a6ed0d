//! The few calls that safe Rust has no words for: signal dispositions, what happens between fork
//! and exec, taking over descriptors by number, and leaders of another namespace. Everything else
//! in this program is safe code.
//!
//! Two rules keep it sound. Between fork and exec only async-signal-safe system calls are made and
//! nothing is allocated. A descriptor number is taken over once, in a process that has just been
//! started and has no other owner for it.

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

use super::entrance::Entrance;

/// The highest signal number of Linux.
const LAST_SIGNAL: i32 = 64;

/// What the user's shell, `nohup` or service manager had arranged before we ran: one bit a signal,
/// bit 0 for signal 1. A child has to start with exactly this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InheritedSignals {
    ignored: u64,
    blocked: u64,
}

impl InheritedSignals {
    /// As they were when this process was executed.
    pub fn of_this_process() -> InheritedSignals {
        InheritedSignals {
            ignored: IGNORED_AT_START.load(Ordering::Relaxed),
            blocked: BLOCKED_AT_START.load(Ordering::Relaxed),
        }
    }

    /// Whether the user wants this signal to have no effect.
    pub fn ignores(self, signal: i32) -> bool {
        has(self.ignored, signal)
    }
}

/// Starts the relay: it inherits the named descriptors under their numbers, and begins with every
/// signal blocked, so that none can end it before it is set up.
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

/// Where in the tree of sessions and jobs a command is put.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// Beside us, in the user's job.
    OurGroup,
    /// A process group of its own.
    OwnGroup,
    /// A process group of its own, which is in front of this terminal.
    InFrontOf(BorrowedFd<'a>),
}

/// Starts the user's command with the signals it would have had without us, inside of what it is to
/// enter.
pub fn spawn_child(
    command: &mut Command,
    signals: InheritedSignals,
    place: Place<'_>,
    entrance: Option<Entrance<BorrowedFd<'_>>>,
) -> io::Result<Child> {
    let blocked = signal_set(signals.blocked);
    // A background process that changes the foreground group is stopped by SIGTTOU, unless that
    // is blocked.
    let meanwhile = signal_set(u64::MAX);
    let (own_group, terminal) = match place {
        Place::OurGroup => (false, None),
        Place::OwnGroup => (true, None),
        Place::InFrontOf(terminal) => (true, Some(terminal.as_raw_fd())),
    };
    let entrance = entrance
        .map(|lent| lent.held_by(|procs| Ok(procs.as_raw_fd())))
        .transpose()?;
    let prepare = move || {
        set_mask(&meanwhile)?;
        if let Some(entrance) = entrance {
            // SAFETY: the caller lends it for the whole of this function.
            let lent = |&number: &RawFd| Ok(unsafe { BorrowedFd::borrow_raw(number) });
            entrance.held_by(lent)?.pass()?;
        }
        if own_group {
            rustix::process::setpgid(None, None)?;
        }
        if let Some(terminal) = terminal {
            // SAFETY: the caller lends it for the whole of this function.
            let terminal = unsafe { BorrowedFd::borrow_raw(terminal) };
            rustix::termios::tcsetpgrp(terminal, rustix::process::getpid())?;
        }
        for signal in (1..=LAST_SIGNAL).filter(|&signal| signals.ignores(signal)) {
            // SAFETY: sets a disposition; a number that libc reserves is refused, which is fine.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        set_mask(&blocked)
    };
    // SAFETY: the closure makes system calls only, and does not allocate.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// The leader of our session, if it is a process that we can see. In a container that was entered
/// from outside the leader may live in another pid namespace, and the kernel calls it 0, which
/// rustix takes for impossible.
pub fn own_session() -> Option<Pid> {
    // SAFETY: asks about this process; takes and writes no memory.
    Pid::from_raw(unsafe { libc::getsid(0) })
}

/// The leader of our process group, if it is in our pid namespace: see [`own_session`].
pub fn own_group() -> Option<Pid> {
    // SAFETY: asks about this process; takes and writes no memory.
    Pid::from_raw(unsafe { libc::getpgrp() })
}

/// Takes over a descriptor that [`spawn_relay`] handed down, and keeps it from going further.
pub fn adopt(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: only borrowed to ask whether it is open at all.
    rustix::io::fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC)?;
    // SAFETY: open, and named once in the plan; nothing else in this fresh process owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Closes what the user's shell left open for the child beside 0, 1 and 2, so that a reader of it
/// does not have to wait for us. It is known by surviving exec: all that is ours is close-on-exec.
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
        // SAFETY: only asks for its flags; a number that is closed by now gives an error.
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
    // SAFETY: fresh, and owned by nobody yet.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Who is to take a signal's default action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// This process alone.
    Us,
    /// Everyone in our process group: the whole job.
    OurGroup,
}

/// Does to this process, or its group, what the signal does by default, and puts our handler back
/// if we live on. The kernel itself ignores a keyboard stop when no shell is there to continue us.
///
/// The signal is made only once, for the group or for us: a second one would stop us again.
pub fn take_default_action(signal: i32, who: Who) {
    if !(1..=LAST_SIGNAL).contains(&signal) {
        return;
    }
    let only_this = signal_set(1 << (signal - 1));
    let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut former = MaybeUninit::<libc::sigaction>::zeroed();
    let mut default = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all are zeroed, which is valid; a zeroed sigaction asks for the default action.
    unsafe {
        (*default.as_mut_ptr()).sa_sigaction = libc::SIG_DFL;
        libc::sigaction(signal, default.as_ptr(), former.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &only_this, mask.as_mut_ptr());
        match who {
            Who::Us => libc::raise(signal),
            Who::OurGroup => libc::kill(0, signal),
        };
        libc::pthread_sigmask(libc::SIG_SETMASK, mask.as_ptr(), std::ptr::null_mut());
        libc::sigaction(signal, former.as_ptr(), std::ptr::null_mut());
    }
}

static IGNORED_AT_START: AtomicU64 = AtomicU64::new(0);
static BLOCKED_AT_START: AtomicU64 = AtomicU64::new(0);

/// Runs before `main`, because Rust's runtime ignores SIGPIPE there and forgets what it was.
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
    // SAFETY: emptied before it is used; numbers out of range are refused, which is fine.
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
