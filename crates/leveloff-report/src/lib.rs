//! A verdict, for people and for programs.
//!
//! Nothing is computed here that a verdict does not already hold: screen, JSON and CI print the same
//! numbers. [`judged`] is what is told, [`judge_text`] the screen, [`judge_json`] the contract for
//! programs. [`words`] has the sentences, [`rate`] and [`place`] print growth and positions, always with
//! what they refer to.

pub mod braille;
pub mod judge_json;
pub mod judge_text;
pub mod judged;
pub mod memory_axis;
pub mod outlook;
pub mod place;
pub mod progress_axis;
pub mod rate;
pub mod run_report;
pub mod sizing;
pub mod subject;
pub mod words;

#[cfg(test)]
mod cases;
