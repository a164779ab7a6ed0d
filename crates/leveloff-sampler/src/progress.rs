//! Follows the sources that report how far a training has come.
//!
//! The sources, best first: marks that the training writes for us, its output under `run`, the log file
//! that its output goes to, and other files that it writes. `leveloff-progress` reads their bytes; this
//! module finds and opens the files.
//!
//! - Logs: [`stdout_log`] finds them, [`log_follower`] reads them as they grow.
//! - Other files: `step_files` finds and reads them.
//! - Marks: [`marks`] finds, checks and reads them; docs/MARKS.md has the protocol.
//! - [`tracker`] polls all of them.

pub mod error;
pub mod log_follower;
pub mod marks;
pub mod stdout_log;
mod step_files;
mod tail;
pub mod tracker;

pub use error::ProgressError;
pub use log_follower::LogFollower;
pub use marks::{SentRequest, StopRequest, StopRequestError};
pub use stdout_log::stdout_logs_of;
pub use tracker::{OutputStream, ProgressOptions, ProgressPoll, ProgressTracker};
