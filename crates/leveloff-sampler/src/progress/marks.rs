//! Marks: what a training writes for leveloff.
//!
//! `docs/MARKS.md` has the protocol. `target` identifies the writer, `location` lists where its file may
//! be, `trust` opens the file if it can be trusted, `follower` reads it. In the other direction,
//! `stop_request` asks the training to stop.

pub(crate) mod follower;
pub(crate) mod location;
mod stop_request;
pub(crate) mod target;
pub(crate) mod trust;

pub use stop_request::{SentRequest, StopRequest, StopRequestError};
pub use trust::Distrust;
