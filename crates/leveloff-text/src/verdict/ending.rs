//! How a run ended, and what a `malloc_trim` gave back.

use leveloff_model::recording::EndReason;
use leveloff_model::units::Bytes;

/// `exit code 1`, `signal 9`.
pub fn end_words(reason: EndReason) -> String {
    match reason {
        EndReason::Exited(code) => format!("exit code {code}"),
        EndReason::Signalled(signal) => format!("signal {signal}"),
        EndReason::TargetGone => "all processes exited".to_owned(),
        EndReason::Duration => "the requested duration elapsed".to_owned(),
        EndReason::Stopped => "recording stopped, the run continued".to_owned(),
        EndReason::Other => "a reason that this version of leveloff does not know".to_owned(),
    }
}

/// `malloc_trim released 310 MiB`
pub fn trimmed_words(trimmed: Bytes) -> String {
    match trimmed {
        Bytes::ZERO => "malloc_trim released nothing".to_owned(),
        trimmed => format!("malloc_trim released {trimmed}"),
    }
}
