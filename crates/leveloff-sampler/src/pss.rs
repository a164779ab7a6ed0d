//! PSS readings: what the processes of a run share, within a CPU budget.
//!
//! A PSS reading walks the page tables of a process. [`plan`] chooses the processes whose PSS is most
//! uncertain, [`cpu_budget`] limits what the readings cost, [`reader`] takes them on a thread of its own, and
//! [`PssTracker`] does all of that for one run.

mod cpu_budget;
mod filling_mapping;
mod plan;
mod pss_tracker;
pub(crate) mod reader;

pub(crate) use pss_tracker::PssTracker;
