//! What leveloff measures, and how it is kept.
//!
//! Read in this order: [`units`] (amounts that know their unit), [`process`] (who was measured),
//! [`environment`] (with which software), [`inside`] (what only it can count), [`progress`] (what the training said), [`sample`] (one look
//! at everything), [`recording`] (a run on disk, and back). [`folded`] keeps long series short.
//!
//! Nothing here reads the machine or the clock; the sampler does that, and a recording's reader
//! hands out the very same [`sample::Tick`]s.

pub mod environment;
pub mod folded;
pub mod inside;
pub mod process;
pub mod progress;
pub mod recording;
pub mod sample;
pub mod units;
