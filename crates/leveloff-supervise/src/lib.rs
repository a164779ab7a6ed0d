//! Everything that acts on a run instead of only reading it.
//!
//! - [`launch`] starts the command of `leveloff run` through a relay process that outlives us; [`isolate`] puts a memory
//!   limit around it.
//! - [`guard`] stops a run gracefully before it reaches its limit; [`restart`] starts it again afterwards.
//! - [`oom`] finds out whether the kernel's OOM killer ended a process of the run.
//! - [`termination_signals`] waits for the signals that ask leveloff itself to exit.
//!
//! The crate depends on the model and on the sampler: the guard decides on the sampler's memory readings and signals processes
//! through it, and the others read `/proc` and control groups with its parsers. It does not depend on the classifier: what
//! the guard needs of a verdict comes in through [`guard::Judgement`]. Messages to the user leave through a
//! [`notify::Notify`] function, so the crate prints nothing itself.

pub mod guard;
pub mod isolate;
pub mod launch;
pub mod notify;
pub mod oom;
pub mod restart;
pub mod termination_signals;
