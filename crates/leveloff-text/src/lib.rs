//! The words of leveloff: everything that its screens and reports say about a run.
//!
//! This crate computes no statistics. It prints what a verdict holds, so that the terminal, the dashboard,
//! the reports and the metrics use the same words and the same numbers.
//!
//! - [`verdict`]: headlines, reasons, risk, blame and the next step of one verdict; [`evidence`]: the
//!   labelled rows below a headline.
//! - [`gate`] and [`comparison`]: the same for a gate's result and for two runs compared.
//! - [`steps`]: where the steps come from, and what to do when none are read.
//! - [`finding`]: what else the evidence shows, and what to try next.
//! - [`fleet`]: many runs, worst first, and their table.
//! - [`rate`], [`x_position`], [`number`], [`since`], [`sizing`], [`speed`], [`subject`]: numbers, always with a unit and a base.
//! - [`memory_axis`], [`progress_axis`], [`outlook`], [`braille`]: what every chart shares, on screen and on
//!   paper.
//! - [`page`] and [`paint`]: 80-column text for a terminal; [`shell`]: commands as one types them.
//! - [`voice`]: the lines that are printed while a run goes on.
//! - [`tiles`]: the four answers that are read from across the room.
//! - [`trial`]: what each change of `leveloff try` does, and what a trial comes to.

pub mod allocation;
pub mod braille;
#[cfg(any(test, feature = "cases"))]
pub mod cases;
pub mod comparison;
pub mod evidence;
pub mod finding;
pub mod fleet;
pub mod gate;
pub mod judged;
pub mod known_bug;
pub mod memory_axis;
pub mod number;
pub mod outlook;
pub mod page;
pub mod paint;
pub mod progress_axis;
pub mod rate;
pub mod shell;
pub mod since;
pub mod sizing;
pub mod speed;
pub mod steps;
pub mod subject;
pub mod tiles;
pub mod trial;
pub mod verdict;
pub mod verdict_counts;
pub mod voice;
pub mod x_position;
