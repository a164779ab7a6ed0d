//! A check for programs: one JSON object, every key always there. What is not known is null.

use leveloff_classifier::gate::{CheckOutcome, Gate, GateNumbers, GateResult};
use leveloff_classifier::verdict::RunVerdict;
use leveloff_text::comparison::{because, outcome_name};
use leveloff_text::gate::{gate_sentence, gate_unit};
use leveloff_text::judged::Judged;
use serde_json::Value;

use crate::check::report::{BaselineCheck, CheckReport, CheckedRun, GatedRun, Runs};
use crate::check::words::{next_steps, reason, run_outcome};
use crate::json::{list, merged, object};
use crate::{comparison, verdict};

/// The object, without the end of its line.
pub fn object(report: &CheckReport) -> String {
    let row = object! {
        name: report.name,
        outcome: report.outcome().name(),
        text: reason(report),
        next: next_steps(report),
        runs_are: match report.runs_are {
            Runs::Repeats => "repeats",
            Runs::Different => "different",
        },
        undecided_counts_as: report.open_counts_as.name(),
        gates: list(report.gates(), vote_row),
        baseline: report.baseline.as_ref().map(baseline_row),
        runs: list(&report.runs, run_row),
    };
    row.to_string()
}

/// A gate over all runs.
fn vote_row((gate, outcome): (Gate, CheckOutcome)) -> Value {
    object! { name: gate.name(), outcome: outcome.name() }
}

fn run_row(run: &CheckedRun) -> Value {
    match &run.result {
        Ok(held) => held_row(&run.input, held),
        Err(error) => object! {
            input: run.input,
            outcome: "error",
            gates: [(); 0],
            error: error,
        },
    }
}

fn held_row(input: &str, held: &GatedRun) -> Value {
    let judged = Judged {
        progress: None,
        input,
        ..held.report.judged()
    };
    let more = object! {
        outcome: run_outcome(held).name(),
        gates: list(&held.gates, |result| gate_row(result, &held.report.verdict)),
        error: None::<&str>,
        steps_per_second: held.report.account.speed.map(verdict::json::speed_row),
    };
    merged([verdict::json::row(&judged), more])
}

fn gate_row(result: &GateResult, run: &RunVerdict) -> Value {
    let numbers = result.numbers.map(GateNumbers::plain);
    let (measured, bound) = numbers.unwrap_or_default();
    object! {
        name: result.gate.name(),
        outcome: result.outcome.name(),
        measured: measured,
        bound: bound,
        unit: gate_unit(result.gate, run),
        text: gate_sentence(result, run),
    }
}

fn baseline_row(baseline: &BaselineCheck) -> Value {
    let head = object! {
        path: baseline.path,
        outcome: baseline.result.outcome.name(),
        comparison: outcome_name(baseline.comparison.outcome),
        text: because(&baseline.comparison),
    };
    merged([head, comparison::json::numbers(&baseline.comparison)])
}

#[cfg(test)]
mod tests;
