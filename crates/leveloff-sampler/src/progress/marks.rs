//! Marks: what a training writes for us, and what may be believed of it.
//!
//! `docs/MARKS.md` has the protocol. [`target`] tells who writes, [`place`] where to, [`trust`]
//! opens the file if it can be trusted, [`follower`] reads it.
//! The other way round, [`stop_request`] asks the training to stop.

pub mod follower;
pub mod place;
pub mod stop_request;
pub mod target;
pub mod trust;

pub use follower::MarksFollower;
pub use place::MarksPlace;
pub use stop_request::{SentRequest, StopRequest, StopRequestError};
pub use target::MarksTarget;
