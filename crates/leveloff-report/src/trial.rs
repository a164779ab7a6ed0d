//! A trial: what each change does to the growth of a job.

pub mod html;
pub mod json;
pub mod markdown;
mod table;
pub mod text;

use leveloff_classifier::trial::TrialSummary;
use leveloff_text::trial::{Answer, TrialJob, answer};

use crate::run_report::RunReport;

/// A trial with what the user calls it: what every format prints.
#[derive(Debug, Clone)]
pub struct TrialReport {
    /// The command of the job, quoted for a shell.
    pub command: String,
    /// Where the recordings are.
    pub directory: String,
    /// The command that goes on with the trial.
    pub resume: String,
    /// What was measured.
    pub summary: TrialSummary,
    /// The control runs.
    pub control: Vec<TrialRun>,
    /// The runs of each change, in the order of the changes.
    pub arms: Vec<Vec<TrialRun>>,
    /// What a reader must know besides.
    pub notes: Vec<String>,
}

/// One run of a trial.
#[derive(Debug, Clone)]
pub struct TrialRun {
    /// Its recording.
    pub recording: String,
    /// What was recorded; `None` if nothing could be.
    pub report: Option<RunReport>,
}

impl TrialReport {
    /// What it comes to, in words.
    pub fn answer(&self) -> Answer {
        let job = TrialJob {
            command: &self.command,
            directory: &self.directory,
            resume: &self.resume,
        };
        answer(&self.summary, &job)
    }
}
