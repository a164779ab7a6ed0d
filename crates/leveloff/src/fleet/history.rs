//! What was fetched of one run, before it is judged.

use leveloff_model::process::Role;

use super::answer::Labels;
use super::track::Track;

/// One run: a rank of a job, or whatever a query gives one series of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// What it is called.
    pub name: String,
    /// The job, whose ranks are held against each other.
    pub job: Option<String>,
    /// What it is known by on the server.
    pub labels: Labels,
    /// Its memory.
    pub memory: Track,
    /// Of that, each role's, where it is told.
    pub roles: Vec<(Role, Track)>,
    /// Its step.
    pub steps: Option<Track>,
    /// What it may hold at most.
    pub ceiling: Option<Track>,
    /// What there is to say of its fetching.
    pub notes: Vec<String>,
}
