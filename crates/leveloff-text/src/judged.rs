//! What the formats print about one input.

use leveloff_classifier::allocation_history::LineGrowth;
use leveloff_classifier::finding::Finding;
use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::progress::Progress;
use leveloff_model::recording::StatedFacts;

use crate::finding::finding_words;
use crate::shell::shell;

/// A verdict with where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// What the user calls the input: a path, or `-`.
    pub input: &'a str,
    /// The verdict.
    pub verdict: &'a RunVerdict,
    /// What the user stated, so that no advice repeats it.
    pub stated: &'a StatedFacts,
    /// What was left out, guessed or torn while reading.
    pub notes: &'a [String],
    /// How far the training came and where its steps come from, if the input says so.
    pub progress: Option<&'a Progress>,
    /// The lines whose memory grew, most first, if the run was started with `--blame`.
    pub lines: &'a [LineGrowth],
    /// The command of the job, without secrets, if the input says it.
    pub job: Option<&'a [String]>,
    /// Earlier verdicts, if `--looks` requests them.
    pub looks: &'a [Look],
}

/// What would have been said at an earlier moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// How far the run had come; `None` before anything was counted.
    pub x: Option<f64>,
    /// The verdict then.
    pub verdict: Verdict,
    /// The shape then.
    pub shape: leveloff_classifier::verdict::Shape,
}

impl<'a> Judged<'a> {
    /// A verdict alone, without a word about its reading.
    pub fn plain(input: &'a str, verdict: &'a RunVerdict, stated: &'a StatedFacts) -> Judged<'a> {
        Judged {
            input,
            verdict,
            stated,
            notes: &[],
            progress: None,
            lines: &[],
            job: None,
            looks: &[],
        }
    }

    /// The command that would refute a finding, if it can be run as it is.
    pub fn experiment(&self, finding: &Finding) -> Option<String> {
        let experiment = finding_words(finding).experiment;
        let is_ours = experiment.command.starts_with("leveloff ");
        (is_ours && self.job.is_some()).then(|| experiment.command_for(self.job))
    }

    /// What tries every change: for growth that no finding explains.
    pub fn trial(&self) -> Option<String> {
        let is_unexplained = self.verdict.verdict.is_alarm() && self.verdict.findings.is_empty();
        let job = self.job.filter(|_| is_unexplained)?;
        Some(format!("leveloff try -- {}", shell(job)))
    }
}
