//! A loader worker that is a new program, as multiprocessing's `spawn` does it: nothing is shared with
//! the training, so what it costs is what it holds. A fork in the middle of a training would also
//! keep old copies of every page that the training rewrites.

use std::io;
use std::process::ExitCode;

use super::fork::leave_interrupts_to_the_parent;
use super::started::{Started, failed, ready_until_dropped};
use super::{LOADER_NAME, WorkerKind, cannot_start};
use crate::memory::Ballast;
use crate::memory::own::{Counted, memory};
use crate::pattern::PatternError;

/// The command line of a worker that multiprocessing spawned.
const COMMAND_LINE: &[&str] = &[
    "/opt/venv/bin/python",
    "-c",
    "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=8, pipe_handle=13)",
    "--multiprocessing-fork",
];

/// A running loader worker.
#[derive(Debug)]
pub struct Loader {
    _process: Started,
}

impl Loader {
    /// Starts a worker whose own memory is `own` bytes in all; returns when it has them.
    pub fn start(own: u64) -> Result<Loader, PatternError> {
        let process = Started::start(WorkerKind::Loader { own }, COMMAND_LINE)
            .map_err(|error| cannot_start("a loader worker", error))?;
        Ok(Loader { _process: process })
    }
}

/// The worker's own life, in the process that was started for it.
pub(super) fn serve(own: u64) -> ExitCode {
    leave_interrupts_to_the_parent();
    let _ = rustix::thread::set_name(LOADER_NAME);
    match filled_up_to(own) {
        Ok(_ballast) => match ready_until_dropped() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            failed(&error);
            ExitCode::FAILURE
        }
    }
}

/// What the program itself needs counts too: the rest is filled up.
fn filled_up_to(own: u64) -> io::Result<Ballast> {
    let mut ballast = Ballast::default();
    memory(Counted::Anonymous)
        .and_then(|program| ballast.hold(own.saturating_sub(program)))
        .map_err(|error| error.why)?;
    Ok(ballast)
}
