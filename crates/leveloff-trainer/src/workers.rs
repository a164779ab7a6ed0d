//! Processes beside the training, which end when it ends, however it ends.
//!
//! Some are forked before the training has threads ([`fork`]), so that they share its pages. Others
//! are this program started again under the command line of torch's ([`pool`], [`loader`]): such a
//! process finds an environment variable that says what it is, and [`entry`] serves as that.

pub mod fork;
pub mod loader;
pub mod pool;
mod started;

use std::ffi::CStr;
use std::io;
use std::process::ExitCode;
use std::str::FromStr;

use rustix::process::{Pid, Signal};

use crate::pattern::PatternError;

/// The variable that makes this program a worker.
const WORKER_VARIABLE: &str = "LEVELOFF_TRAINER_WORKER";

/// The name that torch gives its loader workers.
pub const LOADER_NAME: &CStr = c"pt_data_worker";

/// Serves as a worker if this process was started as one. Called first in `main`, which then exits
/// with this code.
pub fn entry() -> Option<ExitCode> {
    let start = std::env::var_os(WORKER_VARIABLE)?;
    Some(match start.to_str().and_then(|text| text.parse().ok()) {
        Some(start) => serve(start),
        None => {
            eprintln!(
                "leveloff-trainer: {WORKER_VARIABLE} is internal and has an unknown value; unset it"
            );
            ExitCode::from(2)
        }
    })
}

/// An error of a worker that could not be started, which names the limits that are met first.
pub fn cannot_start(who: &str, error: io::Error) -> PatternError {
    let next = match error.raw_os_error() {
        Some(libc::EAGAIN) => {
            "the limit on processes is reached: see `ulimit -u`, and pids.max of the cgroup in a \
             container; or ask for fewer --workers"
        }
        Some(libc::EMFILE) => "the limit on open files is reached: see `ulimit -n`",
        _ => "lower --workers or --size",
    };
    PatternError::new(format!("cannot start {who}"), error, next)
}

/// The parent and the kind of a worker, in the variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WorkerStart {
    parent: i32,
    kind: WorkerKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WorkerKind {
    /// The parent of torch's compile workers.
    CompilePool { workers: u32, shared: u64 },
    /// A loader worker with so much memory of its own.
    Loader { own: u64 },
}

fn serve(start: WorkerStart) -> ExitCode {
    if !stay_with(start.parent) {
        return ExitCode::SUCCESS;
    }
    match start.kind {
        WorkerKind::CompilePool { workers, shared } => pool::serve(workers, shared),
        WorkerKind::Loader { own } => loader::serve(own),
    }
}

/// Ends this process with its parent, even when that is killed; false if it is gone already.
/// Makes system calls only, so that a forked worker may call it.
pub(crate) fn stay_with(parent: i32) -> bool {
    let set = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let living = rustix::process::getppid().map(Pid::as_raw_pid);
    set.is_ok() && living == Some(parent)
}

impl std::fmt::Display for WorkerStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parent = self.parent;
        match self.kind {
            WorkerKind::CompilePool { workers, shared } => {
                write!(f, "compile-pool {parent} {workers} {shared}")
            }
            WorkerKind::Loader { own } => write!(f, "loader {parent} {own}"),
        }
    }
}

impl FromStr for WorkerStart {
    type Err = ();

    fn from_str(text: &str) -> Result<WorkerStart, ()> {
        let number = |word: &str| word.parse::<u64>().map_err(|_| ());
        let words: Vec<&str> = text.split(' ').collect();
        let (parent, kind) = match words[..] {
            ["compile-pool", parent, workers, shared] => {
                let workers = workers.parse().map_err(|_| ())?;
                let shared = number(shared)?;
                (parent, WorkerKind::CompilePool { workers, shared })
            }
            ["loader", parent, own] => (parent, WorkerKind::Loader { own: number(own)? }),
            _ => return Err(()),
        };
        let parent = parent.parse().map_err(|_| ())?;
        Ok(WorkerStart { parent, kind })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_calling_is_understood_as_it_was_meant() {
        let pool = WorkerKind::CompilePool {
            workers: 20,
            shared: 64 << 20,
        };
        for kind in [pool, WorkerKind::Loader { own: 6 << 20 }] {
            let start = WorkerStart { parent: 4312, kind };
            assert_eq!(start.to_string().parse(), Ok(start));
        }
        for wrong in [
            "",
            "1",
            "loader",
            "loader 1 -5",
            "compile-pool 1 2",
            "loader 1 2 3",
        ] {
            assert!(wrong.parse::<WorkerStart>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_limit_on_processes_is_named() {
        let error = cannot_start("a worker", io::Error::from_raw_os_error(libc::EAGAIN));
        assert!(error.to_string().contains("ulimit -u"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "(loader|compile-pool)?[ 0-9a-z-]{0,40}") {
            let _ = text.parse::<WorkerStart>();
        }
    }
}
