//! Decides whether the memory of a training run levels off or leaks.
//!
//! Observations go in one by one, at any time a verdict comes out: warming up, level, leak or undecided, with the
//! numbers that it rests on. The crate reads no files, no clock and no environment, starts no threads and
//! never fails: too little data is a verdict, too. Memory stays bounded however long the run is.
//!
//! ```
//! use leveloff_classifier::observation::{Observation, XUnit};
//! use leveloff_classifier::run::RunJudge;
//! use leveloff_classifier::verdict::Verdict;
//! use leveloff_model::recording::StatedFacts;
//! use leveloff_model::units::{Bytes, Step};
//!
//! let memory = |step| 8_000_000_000 + 2_000_000 * step;
//! let samples: Vec<(u64, u64)> = (1..=900).map(|step| (step, memory(step))).collect();
//!
//! let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
//! for (step, bytes) in samples {
//!     judge.observe(&Observation::at_step(Step(step), Bytes(bytes)));
//! }
//! let run = judge.verdict();
//! assert!(matches!(run.verdict, Verdict::Leak(_)));
//! assert_eq!(run.judgement.rate.unwrap().value.0.round(), 2_000_000.0);
//! ```
//!
//! - [`observation`]: one moment of a run. Only the memory is required; processes, counters and limits make the verdict
//!   more precise. [`observer::Observer`] makes them from ticks.
//! - [`run::RunJudge`]: the verdict on a run. [`run_analysis::RunAnalysis`] also keeps curves and the table of
//!   processes.
//! - [`verdict`]: what comes out; [`finding`]: what else the evidence shows; [`units`]: its quantities.
//! - [`judge`]: the statistics of one [`curve`]; [`stats`]: the estimators that they use.
//! - [`allocation_history`]: which lines allocated memory that is not freed.
//! - [`run_curves`]: the series of a run for charts and tables.
//! - [`speed`]: how fast a run goes.
//! - [`compare`], [`gate`], [`profile`], [`fleet`]: runs against earlier runs, against bounds, beside each other.
//! - [`trial`]: runs with one thing changed, against control runs.

pub mod allocation_history;
mod clock_tick;
pub mod compare;
pub mod curve;
pub mod finding;
pub mod fleet;
pub mod gate;
pub mod judge;
pub mod known_bugs;
pub mod observation;
pub mod observer;
pub mod profile;
pub mod run;
pub mod run_analysis;
pub mod run_curves;
mod share_history;
pub mod speed;
pub mod stats;
mod stretch;
pub mod teardown;
pub mod trial;
pub mod units;
pub mod verdict;
