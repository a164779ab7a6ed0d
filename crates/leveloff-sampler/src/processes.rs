//! The processes of a run: finds them, holds them by descriptors and reads their counters.
//!
//! `tree` decides which processes belong to a run; `new_pids` lists the pids started since the last tick,
//! so that /proc is not listed every time; `foreign_sessions` knows which of them need not be read. [`handle`] holds a process so that a reused pid is never mistaken
//! for it. `watched_process` reads the counters of one process, `pss_uncertainty` bounds how far its PSS
//! may be off by now, `copied_pages` estimates what a fork has copied before its PSS is read, `fork_families` spreads the
//! pages that forks share, and `watched_processes` keeps all processes of a run.

mod copied_pages;
mod foreign_sessions;
pub(crate) mod fork_families;
pub mod handle;
mod new_pids;
pub(crate) mod pss_uncertainty;
mod session_id;
mod tree;
pub(crate) mod watched_process;
mod watched_processes;

pub use tree::Scope;
pub(crate) use watched_processes::WatchedProcesses;
