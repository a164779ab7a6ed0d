//! A verdict, for people and for programs.
//!
//! Nothing is computed here that a verdict does not already hold: screen, JSON and CI print the same
//! numbers. [`judged`] is what is told, [`judge_text`] the screen, [`judge_json`] the contract for
//! programs. [`words`] has the sentences, [`rate`] and [`place`] print growth and positions, always with
//! what they refer to.
//!
//! [`run_report`] is a whole run for reports: [`report_markdown`] for an issue upstream, [`report_json`]
//! for programs, [`chart`] as a picture, [`text_chart`] for a terminal. Their axes ([`memory_axis`],
//! [`progress_axis`]) and what is drawn of a verdict ([`outlook`]) are the dashboard's as well.

pub mod braille;
pub mod chart;
pub mod judge_json;
pub mod judge_text;
pub mod judged;
pub mod memory_axis;
pub mod outlook;
pub mod place;
pub mod progress_axis;
pub mod rate;
pub mod report_json;
pub mod report_markdown;
pub mod run_report;
pub mod sizing;
pub mod subject;
pub mod text_chart;
pub mod words;

#[cfg(test)]
mod cases;
