//! A verdict, for people and for programs.
//!
//! Nothing is computed here that a verdict does not already hold: screen, JSON and CI print the same
//! numbers. [`judged`] is what is told, [`judge_text`] the screen, [`judge_json`] the contract for
//! programs. [`words`] has the sentences, [`rate`] and [`place`] print growth and positions, always with
//! what they refer to. [`secrets`] keeps out of every report what opens doors, [`redact`] what identifies
//! people and machines, when that is asked for.

pub mod asked;
pub mod check_json;
pub mod check_report;
pub mod check_text;
pub mod check_words;
pub mod comparison;
pub mod comparison_json;
pub mod comparison_markdown;
pub mod comparison_text;
pub mod comparison_words;
pub mod gate_words;
pub mod github;
pub mod gitlab;
pub mod judge_json;
pub mod judge_text;
pub mod judged;
pub mod junit;
pub mod markdown_words;
pub mod place;
pub mod rate;
pub mod redact;
pub mod run_report;
pub mod secrets;
pub mod sizing;
pub mod subject;
pub mod words;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod check_cases;
