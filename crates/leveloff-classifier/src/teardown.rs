//! The end of a run, recognised by one rule.
//!
//! A run that ends gives its memory back: workers exit, the interpreter frees what it holds, the
//! trainer is reaped. None of that says how the run behaved. Three parts recognise it, and every
//! output reads their answer:
//!
//! - [`TrainerPresence`] drops samples in which trainers have exited: they are no observations.
//! - `PendingStep` keeps the newest step back from the judge until the next one begins.
//! - `LastWholeSample` is the state that is reported for a run that has ended: the last sample
//!   before processes exited and memory was released to the end.

mod last_whole_sample;
mod pending_step;
mod trainer_presence;

pub(crate) use last_whole_sample::LastWholeSample;
pub(crate) use pending_step::PendingStep;
pub use trainer_presence::{Present, TrainerPresence};
