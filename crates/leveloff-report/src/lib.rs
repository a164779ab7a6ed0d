//! A verdict, for people and for programs.
//!
//! Nothing is computed here that a verdict does not already hold: screen, JSON and CI print the same
//! numbers. [`judged`] is what is told, [`judge_text`] the screen, [`judge_json`] the contract for
//! programs. [`words`] has the sentences, [`rate`] and [`place`] print growth and positions, always with
//! what they refer to. [`secrets`] keeps out of every report what opens doors, [`redact`] what identifies
//! people and machines, when that is asked for.
//!
//! [`run_report`] is a whole run for reports: [`report_html`] for a colleague, [`report_markdown`] for an
//! issue upstream, [`report_json`] for programs, [`chart`] as a picture, [`text_chart`] for a terminal. Their
//! axes ([`memory_axis`], [`progress_axis`]) and what is drawn of a verdict ([`outlook`]) are the dashboard's
//! as well. [`fleet`] is many runs, worst first. [`comparison`] is two sides and what changed, [`check_report`] what a check came to; each has
//! its words, and a module for each format.

pub mod asked;
pub mod chart;
pub mod check_json;
pub mod check_report;
pub mod check_text;
pub mod check_words;
pub mod comparison;
pub mod comparison_json;
pub mod comparison_markdown;
pub mod comparison_text;
pub mod fleet_json;
pub mod fleet_text;
pub mod github;
pub mod gitlab;
pub mod judge_json;
pub mod judge_text;
pub mod junit;
pub mod markdown_words;
pub mod redact;
pub mod report_html;
pub mod report_json;
pub mod report_markdown;
mod ruled_out;
pub mod run_report;
pub mod secrets;
pub mod text_chart;
mod trim;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod check_cases;
