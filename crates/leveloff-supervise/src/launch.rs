//! Starts the command of `leveloff run` so that it behaves as without us, and copies its output without its life depending on
//! ours.
//!
//! Three processes:
//!
//! - the **front**, the pid that the user started: it samples, passes on keys, terminal sizes and signals, and ends as the command
//!   ends;
//! - the **relay**, this same program executed again: it holds the command's terminal or pipes, moves its output to the user, and
//!   does nothing else. It blocks its signals, has a name of its own, and stays until the last byte. When the front is killed,
//!   even by SIGKILL, the command does not notice;
//! - the **command**, with the descriptors, signals and environment that it would have without us.
//!
//! The front gets copies of the output through *taps*, pipes that the relay never waits for: what does not fit is dropped. Output
//! to a regular file or a device does not pass through the relay at all. `docs/RUN.md` has the choices, their reasons and their
//! costs.

mod channel;
mod child_limit;
mod command_process;
mod executable;
mod message;
mod outcome;
mod plan;
mod relay;
mod serve;
mod signals;
mod start;
mod sys;
mod terminal;
mod terminal_pair;
mod wiring;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use leveloff_model::process::Pid;

use message::Link;
use signals::Signals;
use sys::SignalTarget;
use terminal_pair::TerminalPair;
use wiring::Mode;

pub use child_limit::ChildLimit;
pub use leveloff_sampler::progress::OutputStream;
pub use outcome::{Outcome, pass_on};
pub use start::{check_command, launch, launch_into, try_limit};

/// The running command, in the front. Dropping it restores the terminal and leaves the command running.
#[derive(Debug)]
pub struct Launch {
    child: Pid,
    relay: Pid,
    mode: Mode,
    has_own_session: bool,
    link: Option<Link>,
    child_handle: Option<OwnedFd>,
    signals: Signals,
    terminals: Option<TerminalPair>,
    taps: [Option<OwnedFd>; 2],
    next_output_at: Instant,
    outcome: Option<Outcome>,
    relay_is_leaving: bool,
    relay_is_reaped: bool,
    output_files: Vec<PathBuf>,
    /// Whether we stop when the command stops.
    stops_with_command: bool,
}

/// Why [`Launch::serve_until`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// The deadline has come.
    Deadline,
    /// There is output to read.
    Output,
    /// We were stopped and continued.
    Resumed,
    /// The command has ended, its output has been passed on, and the terminal is restored.
    Exited(Outcome),
}

/// Call first in `main`: if this process is the relay, does its work and returns its exit code.
pub fn relay_entry() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != plan::RELAY_ARGUMENT {
        return None;
    }
    let plan = arguments.next()?.to_str()?.parse().ok()?;
    let result = sys::adopt(plan).and_then(relay::run);
    // The front notices that the relay is gone; there is no other place for the error.
    Some(ExitCode::from(u8::from(result.is_err())))
}

/// Stops this process as Ctrl-Z does, until it is continued. Does nothing if no shell exists that could continue it.
pub fn suspend() {
    sys::take_default_action(signal_hook::consts::SIGTSTP, SignalTarget::Process);
}

/// Whether our job is in the foreground of this terminal. If that cannot be read, it counts as in the foreground.
pub fn is_in_foreground(terminal: BorrowedFd<'_>) -> bool {
    rustix::termios::tcgetpgrp(terminal).is_err() || terminal::in_foreground(terminal)
}

impl Launch {
    /// A pidfd of the command; `None` if it has exited already.
    pub fn handle(&self) -> Option<OwnedFd> {
        self.child_handle.as_ref()?.try_clone().ok()
    }

    /// From now on we stop when the command stops, and it when we do, as one job. Not while our screen is shown.
    pub fn join_jobs(&mut self) {
        self.stops_with_command = true;
    }

    /// The command's pid.
    pub fn child(&self) -> Pid {
        self.child
    }

    /// The relay's pid. It is in the process tree, but no part of the training.
    pub fn relay(&self) -> Pid {
        self.relay
    }

    /// Regular files that the command's stdout and stderr go to directly.
    pub fn output_files(&self) -> Vec<PathBuf> {
        self.output_files.clone()
    }

    /// Restores the terminal's modes, so that we can print on it. The next [`Launch::serve_until`] takes it over again.
    pub fn restore_terminal(&mut self) {
        if let (Some(terminals), Some(link)) = (&mut self.terminals, &mut self.link) {
            terminals.restore(link);
        }
    }
}
