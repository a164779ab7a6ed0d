//! Does this curve level off, or does it leak?
//!
//! Pure: no files, no clock, no threads, nothing that fails. Too little data is a verdict.
//!
//! Read in this order: [`observation`] (one moment of a run, as evidence), [`curve`] (a series in
//! bounded memory), [`verdict`] (what can be said of it), [`judge`] (how it is said of one curve),
//! [`run`] (how the curves of a whole run are put together: blame, clock, findings, risk),
//! [`run_curves`] (the same run for charts and tables), [`fleet`] (many runs beside each other).

pub mod compare;
pub mod curve;
pub mod finding;
pub mod fleet;
pub mod gate;
pub mod judge;
pub mod observation;
pub mod profile;
pub mod run;
pub mod run_analysis;
pub mod run_curves;
mod share_history;
pub mod stats;
mod teardown;
pub mod units;
pub mod verdict;
