//! Starts the command of `leveloff run` so that it behaves as without us, and lets us see what it
//! prints without its life depending on ours.
//!
//! Three processes stand in a row:
//!
//! - the **front**, the pid that the user started: it samples, passes keys, sizes and signals on,
//!   and ends as the command ends;
//! - the **relay**, this same program executed anew: it holds the command's terminal or pipes,
//!   moves its output to the user, and does nothing else. It has its signals blocked and a name of
//!   its own, and it stays until the last byte. When the front is killed, even by SIGKILL, the
//!   command does not notice;
//! - the **command**, with the descriptors, signals and environment it would have had.
//!
//! The front gets copies of the output through *taps*, pipes that the relay never waits for: what
//! does not fit is dropped and counted. What goes to a regular file or a device does not pass
//! through the relay at all. `docs/RUN.md` has the choices, their reasons and what they cost.

mod channel;
mod edge;
mod entrance;
mod message;
mod outcome;
mod outer;
mod plan;
mod program;
mod relay;
mod serve;
mod session;
mod signals;
mod start;
mod terminal;
mod wiring;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use leveloff_model::process::Pid;

use message::Link;
use outer::Terminals;
use signals::Signals;

pub use entrance::Entrance;
pub use leveloff_sampler::progress::OutputStream;
pub use outcome::{Outcome, pass_on};
pub use wiring::Mode;

/// The running command, as the front holds it. Dropping it gives the terminal back and leaves the
/// command running.
#[derive(Debug)]
pub struct Launch {
    child: Pid,
    relay: Pid,
    mode: Mode,
    is_apart: bool,
    link: Option<Link>,
    child_handle: Option<OwnedFd>,
    signals: Signals,
    terminals: Option<Terminals>,
    taps: [Option<OwnedFd>; 2],
    next_look_at_taps: Instant,
    dropped: u64,
    outcome: Option<Outcome>,
    relay_is_leaving: bool,
    relay_is_reaped: bool,
    output_files: Vec<PathBuf>,
    /// Whether we stop when the command is stopped.
    stops_with_command: bool,
}

/// Why [`Launch::serve_until`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// It is time.
    Deadline,
    /// There is output to take.
    Output,
    /// We were stopped for a while, and go on.
    Resumed,
    /// The command has ended, all it wrote has been passed on, and the terminal is as it was.
    Exited(Outcome),
}

/// To be called first thing in `main`: if this process was started to be the relay, does its
/// work and says with what code to exit.
pub fn relay_entry() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != plan::RELAY_ARGUMENT {
        return None;
    }
    let plan = arguments.next()?.to_str()?.parse().ok()?;
    let result = edge::adopt(plan).and_then(relay::run);
    // The front notices that we are gone; there is nobody else to tell.
    Some(ExitCode::from(u8::from(result.is_err())))
}

/// Starts the command, inside of what it is to enter. On a terminal that is ours, takes that over
/// until the command ends.
pub fn launch(command: &[OsString], entrance: Option<&Entrance>) -> anyhow::Result<Launch> {
    start::launch(command, entrance)
}

/// Starts the command away from the terminal: it reads nothing, and what it prints goes to `log`. The
/// terminal stays ours.
pub fn launch_into(
    command: &[OsString],
    entrance: Option<&Entrance>,
    log: &File,
) -> anyhow::Result<Launch> {
    start::launch_into(command, entrance, log)
}

/// Lets a process that does nothing pass the entrance, so that a refusal is known before the command
/// is started.
pub fn try_entrance(entrance: &Entrance) -> io::Result<()> {
    start::try_entrance(entrance)
}

/// Refuses, in the words of [`launch`], a command that another program is to start and could not.
pub fn check_command(command: &[OsString]) -> anyhow::Result<()> {
    start::check_command(command)
}

/// Stops this process as Ctrl-Z would, until it is continued. Nothing happens where no shell is there
/// to continue it.
pub fn suspend() {
    edge::take_default_action(signal_hook::consts::SIGTSTP, edge::Who::Us);
}

/// Whether our job may read and change this terminal. Where nobody tells, it may.
pub fn is_in_front(terminal: BorrowedFd<'_>) -> bool {
    rustix::termios::tcgetpgrp(terminal).is_err() || terminal::in_foreground(terminal)
}

impl Launch {
    /// A handle to the command that can only ever mean it; `None` when it has ended already.
    pub fn handle(&self) -> Option<OwnedFd> {
        self.child_handle.as_ref()?.try_clone().ok()
    }

    /// From now on we stop when the command is stopped, and it when we are, as one job. Not so while
    /// a screen of ours is shown.
    pub fn join_jobs(&mut self) {
        self.stops_with_command = true;
    }

    /// The command's pid.
    pub fn child(&self) -> Pid {
        self.child
    }

    /// The relay's pid. It is in the process tree, and no part of the training.
    pub fn relay(&self) -> Pid {
        self.relay
    }

    /// How the command is connected to the user.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Serves keys, sizes, signals and job control until `deadline`, or until there is something
    /// to tell. Comes back for output at most twenty times a second.
    pub fn serve_until(&mut self, deadline: Instant) -> io::Result<Served> {
        serve::serve_until(self, deadline)
    }

    /// Appends copies of the command's output since the last call, a bounded amount; never waits.
    /// Says how many bytes.
    pub fn take_output(&mut self, stream: OutputStream, buffer: &mut Vec<u8>) -> usize {
        serve::take_output(&mut self.taps[stream as usize], buffer)
    }

    /// Bytes that are missing in the copies, because we did not take them in time. The user got
    /// them all.
    pub fn dropped_output(&self) -> u64 {
        self.dropped
    }

    /// Regular files that the command's stdout and stderr go to directly.
    pub fn output_files(&self) -> Vec<PathBuf> {
        self.output_files.clone()
    }

    /// Gives the terminal its own modes back, before something of ours is printed on it. The next
    /// [`Launch::serve_until`] takes it over again.
    pub fn restore_terminal(&mut self) {
        if let (Some(terminals), Some(link)) = (&mut self.terminals, &mut self.link) {
            terminals.give_back(link);
        }
    }
}
