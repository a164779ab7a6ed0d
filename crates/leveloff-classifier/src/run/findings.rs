//! What the evidence shows beside the verdict.

mod counted_growth;
mod counters;
mod counts;
mod growth;
mod piling_up;
mod workers;

use leveloff_model::process::Role;
use leveloff_model::units::Bytes;

use super::decide::Decision;
use super::run_series::RunSeries;
use super::series_judgements::SeriesJudgements;
use crate::finding::{FileOwner, Finding, Growth};
use crate::observation::XUnit;
use crate::units::{Position, X};
use crate::verdict::Clock;

/// Everything that a finding may rest on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    /// The series.
    pub(super) series: &'a RunSeries,
    /// The judgement of each.
    pub(super) judgements: &'a SeriesJudgements,
    /// The judgement of the run.
    pub(super) decision: &'a Decision,
    /// What makes it grow.
    pub(super) clock: Option<&'a Clock>,
    /// Whose the growing files in /dev/shm are.
    pub(super) file_owner: FileOwner,
    /// What x counts.
    pub(super) unit: XUnit,
    /// Where the growth began.
    pub(super) onset: f64,
    /// The newest x that is judged.
    pub(super) now: f64,
}

/// Finds one thing. Each module lists its own rules; the order of [`Finding::NAMES`] is that of the results.
type Rule = fn(&Case) -> Option<Finding>;

/// All findings, strongest evidence first.
pub(super) fn findings(case: &Case) -> Vec<Finding> {
    let rules = [
        growth::RULES,
        counters::RULES,
        workers::RULES,
        counts::RULES,
    ]
    .concat();
    let found = rules.into_iter().filter_map(|rule| rule(case));
    let overcounted = Role::ALL
        .into_iter()
        .filter_map(|role| workers::overcounted(case, role));
    let mut findings: Vec<Finding> = found.chain(overcounted).collect();
    // Processes that start at an evaluation and stay are the cause; the evaluation is when.
    let is_processes = |finding: &Finding| matches!(finding, Finding::ProcessGrowth { .. });
    if !findings.iter().any(is_processes) {
        findings.extend(growth::at_events(case));
    }
    findings.sort_by_key(strength);
    findings
}

fn strength(finding: &Finding) -> Option<usize> {
    let name = finding.name();
    Finding::NAMES.iter().position(|known| *known == name)
}

impl Case<'_> {
    /// How much the run's memory grew since the onset, if it is growing by a material amount.
    fn memory_growth(&self) -> Option<f64> {
        let growth = self.series.memory.growth_since(self.onset, self.now);
        let grows = self.decision.is_growth_of_memory();
        (grows && growth > 0.0 && growth >= self.material()).then_some(growth)
    }

    /// Growth of the run's memory below this is not reported.
    fn material(&self) -> f64 {
        self.decision.memory.material.0
    }

    /// How much the memory grew of the process that counts inside; of all trainers where there is only one, and
    /// of the run where its processes are unknown.
    fn counting_process_growth(&self, from: f64, to: f64) -> f64 {
        let trainers = self.series.roles.get(Role::Trainer);
        let memory = match (self.series.processes.counting_process(), trainers) {
            (Some(process), _) => &process.memory,
            (None, Some(trainer)) => &trainer.memory,
            (None, None) => &self.series.memory,
        };
        memory.growth_since(from, to)
    }

    fn growth(&self, bytes: f64, since: f64) -> Growth {
        Growth {
            bytes: amount(bytes),
            since: self.position(since),
        }
    }

    fn position(&self, x: f64) -> Position {
        Position {
            x: X(x),
            unit: self.unit,
        }
    }
}

/// The size of a change out of a curve.
fn amount(bytes: f64) -> Bytes {
    Bytes(bytes.abs() as u64)
}

/// A count out of a curve, which has fractions between its points.
fn count(value: f64) -> u64 {
    value.round() as u64
}
