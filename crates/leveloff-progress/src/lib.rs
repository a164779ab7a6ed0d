//! Reads how far a training has come from the bytes that it writes.
//!
//! Bytes go in, [`ProgressUpdate`]s come out. The crate opens no file, reads no clock and starts no
//! thread, so live output and stored logs go through the same code.
//!
//! - [`OutputParser`] reads what a training prints: progress bars, metric dictionaries and plain log
//!   lines. `output` cuts the bytes into pieces, `formats` parses one piece, `steps` decides which
//!   of the printed counts are training steps.
//! - [`StepRegex`] replaces that decision by the user's own pattern.
//! - [`EventFile`], [`metrics_csv`] and [`trainer_state`] read files in which frameworks keep metrics.
//! - [`marks_line`] reads one line of a marks file; docs/MARKS.md has the protocol.
//! - [`RunProgress`] merges the updates of several sources into the progress of one run.

mod clock;
mod formats;
mod key_search;
mod label;
mod line;
mod line_facts;
mod logger_prefix;
pub mod marks_line;
mod metric_files;
mod number;
mod output;
mod run_progress;
mod step_regex;
mod steps;
mod update;
mod vocabulary;

pub use metric_files::{EventFile, metrics_csv, trainer_state};
pub use output::{OutputParser, SeenOutput};
pub use run_progress::{RunProgress, SourceId, UpdateContext};
pub use step_regex::{BadStepRegex, StepRegex};
pub use update::{Plan, ProgressUpdate, UnixSeconds};
