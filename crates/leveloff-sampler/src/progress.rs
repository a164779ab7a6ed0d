//! How far the training has come, from whoever tells it.
//!
//! Three sources, best first: marks that the training writes for us, its output under `run`, and
//! the log that its output goes to.
//!
//! - Output: [`output`] reads bytes; `pieces` cuts them, `bar`, `metrics` and `phrase` understand
//!   a piece, `bar_book` and `counter` decide what is a training step.
//! - Logs: [`stdout_log`] finds them, [`log_follower`] reads them as they grow.
//! - Marks: [`marks`] finds, checks and reads them; docs/MARKS.md has the protocol.
//! - [`tracker`] puts them together.

mod ansi;
mod bar;
mod bar_book;
mod counter;
pub mod error;
mod evidence;
mod hint;
pub mod log_follower;
pub mod marks;
mod metrics;
mod number;
mod other_bars;
pub mod output;
mod phrase;
mod pieces;
mod purpose;
pub(crate) mod regular_file;
pub mod stdout_log;
mod tail;
mod told;
pub mod tracker;
pub mod update;
mod words;

pub use error::ProgressError;
pub use log_follower::LogFollower;
pub use marks::{SentRequest, StopRequest, StopRequestError};
pub use output::OutputParser;
pub use stdout_log::stdout_logs_of;
pub use tracker::{OutputStream, ProgressNews, ProgressOptions, ProgressTracker};
pub use update::{Plan, ProgressUpdate, UnixSeconds};
