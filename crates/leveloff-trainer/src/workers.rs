//! Processes beside the training, which end when it ends, however it ends.
//!
//! Some are forked before the training has threads ([`fork`]), so that they share its pages. Others
//! are this program started again under the command line of torch's ([`pool`], [`loader`]): such a
//! process finds an environment variable that says what it is, and [`entry`] obeys it.

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
const CALLING: &str = "LEVELOFF_TRAINER_WORKER";

/// The name that torch gives its loader workers.
pub const LOADER_NAME: &CStr = c"pt_data_worker";

/// What this process is, if it was started as a worker: to be called first in `main`, which then
/// ends with this code.
pub fn entry() -> Option<ExitCode> {
    let calling = std::env::var_os(CALLING)?;
    Some(match calling.to_str().and_then(|text| text.parse().ok()) {
        Some(calling) => serve(calling),
        None => {
            eprintln!(
                "leveloff-trainer: {CALLING} is for its own workers and says nothing that they know; unset it"
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
        _ => "ask for fewer --workers, or less --size",
    };
    PatternError::new(format!("cannot start {who}"), error, next)
}

/// What a process was started for, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Calling {
    parent: i32,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The parent of torch's compile workers.
    CompilePool { workers: u32, shared: u64 },
    /// A loader worker with so much memory of its own.
    Loader { own: u64 },
}

fn serve(calling: Calling) -> ExitCode {
    if !stay_with(calling.parent) {
        return ExitCode::SUCCESS;
    }
    match calling.part {
        Part::CompilePool { workers, shared } => pool::serve(workers, shared),
        Part::Loader { own } => loader::serve(own),
    }
}

/// Ends this process with its parent, even when that is killed; false if it is gone already.
/// Makes system calls only, so that a forked worker may call it.
pub(crate) fn stay_with(parent: i32) -> bool {
    let asked = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let living = rustix::process::getppid().map(Pid::as_raw_pid);
    asked.is_ok() && living == Some(parent)
}

impl std::fmt::Display for Calling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parent = self.parent;
        match self.part {
            Part::CompilePool { workers, shared } => {
                write!(f, "compile-pool {parent} {workers} {shared}")
            }
            Part::Loader { own } => write!(f, "loader {parent} {own}"),
        }
    }
}

impl FromStr for Calling {
    type Err = ();

    fn from_str(text: &str) -> Result<Calling, ()> {
        let number = |word: &str| word.parse::<u64>().map_err(|_| ());
        let words: Vec<&str> = text.split(' ').collect();
        let (parent, part) = match words[..] {
            ["compile-pool", parent, workers, shared] => {
                let workers = workers.parse().map_err(|_| ())?;
                let shared = number(shared)?;
                (parent, Part::CompilePool { workers, shared })
            }
            ["loader", parent, own] => (parent, Part::Loader { own: number(own)? }),
            _ => return Err(()),
        };
        let parent = parent.parse().map_err(|_| ())?;
        Ok(Calling { parent, part })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_calling_is_understood_as_it_was_meant() {
        let pool = Part::CompilePool {
            workers: 20,
            shared: 64 << 20,
        };
        for part in [pool, Part::Loader { own: 6 << 20 }] {
            let calling = Calling { parent: 4312, part };
            assert_eq!(calling.to_string().parse(), Ok(calling));
        }
        for wrong in [
            "",
            "1",
            "loader",
            "loader 1 -5",
            "compile-pool 1 2",
            "loader 1 2 3",
        ] {
            assert!(wrong.parse::<Calling>().is_err(), "{wrong}");
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
            let _ = text.parse::<Calling>();
        }
    }
}
