//! Reports about the memory of a training run: one folder for each subject, one file for each format.
//!
//! | | text | JSON | Markdown | HTML | picture | CI |
//! |---|---|---|---|---|---|---|
//! | [`verdict`] | text | json | | | | |
//! | [`run`] | text_chart | json | markdown | html | chart | |
//! | [`check`] | text | json | | | | junit, github, gitlab |
//! | [`comparison`] | text | json | markdown | html | | |
//! | [`lines`] | text | | | | svg | |
//! | [`fleet`] | text | json | | html | | |
//! | [`trial`] | text | json | markdown | html | | |
//!
//! A report computes nothing that a verdict does not already hold: screen, JSON and CI print the same numbers.
//! The words come from `leveloff-text`. [`secrets`] masks credentials in every report; [`redact`] removes
//! paths, host names and user names when that is requested.

pub mod check;
pub mod comparison;
pub mod fleet;
mod html;
mod json;
pub mod lines;
mod markdown;
pub mod redact;
pub mod run;
pub mod run_report;
pub mod secrets;
pub mod trial;
pub mod verdict;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod check_cases;
