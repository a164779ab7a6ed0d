//! A trial: what each change does to the growth of a job.

pub mod json;
pub mod markdown;
mod table;
pub mod text;

use leveloff_classifier::trial::TrialSummary;

/// A trial with what the user calls it: what every format prints.
#[derive(Debug, Clone)]
pub struct TrialReport {
    /// The command of the job.
    pub command: String,
    /// Where the recordings are.
    pub directory: String,
    /// What was measured.
    pub summary: TrialSummary,
    /// The recordings of the control runs.
    pub control_recordings: Vec<String>,
    /// The recordings of each change, in the order of the changes.
    pub arm_recordings: Vec<Vec<String>>,
    /// What a reader must know besides.
    pub notes: Vec<String>,
}
