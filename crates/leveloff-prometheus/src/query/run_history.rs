//! The series of one run, as fetched.

use leveloff_model::process::Role;

use super::response::Labels;
use super::series::Series;

/// One run: a rank of a job, or one series of a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunHistory {
    /// Its name.
    pub name: String,
    /// The job, whose ranks are held against each other.
    pub job: Option<String>,
    /// Its labels on the server.
    pub labels: Labels,
    /// Its memory.
    pub memory: Series,
    /// The memory of each role, where it is known.
    pub roles: Vec<(Role, Series)>,
    /// Its steps.
    pub steps: Option<Series>,
    /// The most that it may hold.
    pub ceiling: Option<Series>,
    /// Notes for the user, in sentences.
    pub notes: Vec<String>,
}
