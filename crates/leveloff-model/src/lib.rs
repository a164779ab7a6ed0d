//! What leveloff measures, and the file that it is recorded in.
//!
//! Read in this order: [`units`] (amounts with their unit), [`process`] (identity and role of a process), [`environment`]
//! (its software), [`training_counters`] (counters that only the training can read), [`progress`] (steps, epochs, phases
//! and marks), [`allocation`] (lines that allocate), [`sample`] (one sample of everything), [`recording`] (a run on disk). [`folded`] bounds the length of a
//! series.
//!
//! Nothing here reads the machine or the clock. The sampler does, and a recording's reader returns the same
//! [`sample::Tick`]s.

pub mod allocation;
pub mod environment;
pub mod folded;
pub mod process;
pub mod progress;
pub mod recording;
pub mod sample;
pub mod training_counters;
pub mod units;
