//! Curves with a known truth: what is said of each, known mistakes included, and what holds for any
//! curve at all.

#![allow(clippy::unwrap_used)] // Helpers of tests count as tests.

mod any_curve;
mod chance;
mod compile_workers;
mod horizon;
mod purity;
mod reference_story;
mod run;
mod seeds;
mod shapes;
mod steadiness;
mod strange;
mod table;
