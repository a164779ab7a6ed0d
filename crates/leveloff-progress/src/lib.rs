//! Reads how far a training has come from the bytes that it writes.
//!
//! Bytes go in, [`ProgressUpdate`]s come out. The crate opens no file, reads no clock and starts no
//! thread, so live output and stored logs go through the same code.
//!
//! - [`OutputParser`] reads what a training prints: progress bars, metric dictionaries and plain log
//!   lines. `output` cuts the bytes into pieces, `formats` parses one piece, `steps` decides which
//!   of the printed counts are training steps.
//! - [`marks_line`] reads one line of a marks file; docs/MARKS.md has the protocol.
//! - [`RunProgress`] merges the updates of several sources into the progress of one run.

mod formats;
pub mod marks_line;
mod number;
mod output;
mod run_progress;
mod steps;
mod update;

pub use output::OutputParser;
pub use run_progress::{RunProgress, SourceId, UpdateContext};
pub use update::{Plan, ProgressUpdate, UnixSeconds};
