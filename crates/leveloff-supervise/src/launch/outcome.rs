//! How the command ended, and how to end the same way.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::{Resource, Rlimit};
use serde::{Deserialize, Serialize};

use super::sys::{self, SignalTarget};

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl From<ExitStatus> for Outcome {
    fn from(status: ExitStatus) -> Outcome {
        match status.signal() {
            Some(signal) => Outcome::Signal(signal),
            None => Outcome::Code(status.code().unwrap_or(0)),
        }
    }
}

/// A shell's exit code for a death by signal is this plus the signal's number.
const SIGNAL_BASE: i32 = 128;

/// Ends this process as the command ended, so that our parent sees the same as without us: a shell loop stops on Ctrl-C only if
/// its command died of SIGINT.
pub fn pass_on(outcome: Outcome) -> ! {
    let code = match outcome {
        Outcome::Code(code) => code,
        Outcome::Signal(signal) => {
            // Our core dump would overwrite the command's.
            let limit = Rlimit {
                current: Some(0),
                maximum: rustix::process::getrlimit(Resource::Core).maximum,
            };
            let _ = rustix::process::setrlimit(Resource::Core, limit);
            sys::take_default_action(signal, SignalTarget::Process);
            // Process 1 of a container does not die of signals.
            SIGNAL_BASE + signal
        }
    };
    std::process::exit(code)
}
