//! How the command ended, and how to end the same way.

use rustix::process::{Resource, Rlimit};

use super::edge::{self, Who};

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// What shells make of a death by signal: 128 and the signal's number.
const SIGNAL_BASE: i32 = 128;

/// Ends this process as the command ended, so that whoever started us sees what it would have
/// seen: a shell loop stops on Ctrl-C only if its command died of SIGINT.
pub fn pass_on(outcome: Outcome) -> ! {
    let code = match outcome {
        Outcome::Code(code) => code,
        Outcome::Signal(signal) => {
            // The command's core is the interesting one; ours would only replace it.
            let limit = Rlimit {
                current: Some(0),
                maximum: rustix::process::getrlimit(Resource::Core).maximum,
            };
            let _ = rustix::process::setrlimit(Resource::Core, limit);
            edge::take_default_action(signal, Who::Us);
            // Process 1 of a container does not die of signals.
            SIGNAL_BASE + signal
        }
    };
    std::process::exit(code)
}
