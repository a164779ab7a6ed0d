//! A check for programs: one JSON object, every key always there. What is not known is null.

use leveloff_classifier::gate::{Gate, GateOutcome, GateResult};
use leveloff_classifier::verdict::RunVerdict;
use leveloff_text::comparison::{because, outcome_name};
use leveloff_text::gate::{gate_sentence, gate_unit};
use serde::Serialize;

use crate::check::report::{BaselineCheck, CheckReport, CheckedRun, Held, OpenCountsAs, Runs};
use crate::check::words::{next_steps, reason, run_outcome};
use crate::comparison::json::NumbersRow;
use crate::verdict::json::{Plain, Row, to_line};

/// The object, without the end of its line.
pub fn object(report: &CheckReport) -> String {
    to_line(&CheckRow {
        name: &report.name,
        outcome: report.outcome().name(),
        text: reason(report),
        next: next_steps(report),
        runs_are: match report.runs_are {
            Runs::Repeats => "repeats",
            Runs::Different => "different",
        },
        undecided_counts_as: match report.open_counts_as {
            OpenCountsAs::Itself => "undecided",
            OpenCountsAs::Passed => "passed",
            OpenCountsAs::Failed => "failed",
        },
        gates: report.gates().into_iter().map(VoteRow::of).collect(),
        baseline: report.baseline.as_ref().map(BaselineRow::of),
        runs: report.runs.iter().map(RunRow::of).collect(),
    })
}

#[derive(Serialize)]
struct CheckRow<'a> {
    name: &'a str,
    outcome: &'static str,
    text: String,
    next: Vec<String>,
    runs_are: &'static str,
    undecided_counts_as: &'static str,
    gates: Vec<VoteRow>,
    baseline: Option<BaselineRow<'a>>,
    runs: Vec<RunRow<'a>>,
}

/// A gate over all runs.
#[derive(Serialize)]
struct VoteRow {
    name: &'static str,
    outcome: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RunRow<'a> {
    Held(Box<HeldRow<'a>>),
    Unreadable(UnreadableRow<'a>),
}

#[derive(Serialize)]
struct HeldRow<'a> {
    #[serde(flatten)]
    verdict: Row<'a>,
    outcome: &'static str,
    gates: Vec<GateRow>,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct UnreadableRow<'a> {
    input: &'a str,
    outcome: &'static str,
    gates: [GateRow; 0],
    error: &'a str,
}

#[derive(Serialize)]
struct GateRow {
    name: &'static str,
    outcome: &'static str,
    measured: Plain,
    bound: Plain,
    unit: Option<String>,
    text: String,
}

#[derive(Serialize)]
struct BaselineRow<'a> {
    path: &'a str,
    outcome: &'static str,
    comparison: &'static str,
    text: String,
    #[serde(flatten)]
    numbers: NumbersRow,
}

impl VoteRow {
    fn of((gate, outcome): (Gate, GateOutcome)) -> VoteRow {
        VoteRow {
            name: gate.name(),
            outcome: outcome.name(),
        }
    }
}

impl<'a> RunRow<'a> {
    fn of(run: &'a CheckedRun) -> RunRow<'a> {
        match &run.result {
            Ok(held) => RunRow::Held(Box::new(HeldRow::of(&run.input, held))),
            Err(error) => RunRow::Unreadable(UnreadableRow {
                input: &run.input,
                outcome: "error",
                gates: [],
                error,
            }),
        }
    }
}

impl<'a> HeldRow<'a> {
    fn of(input: &'a str, held: &'a Held) -> HeldRow<'a> {
        let mut judged = held.report.judged();
        judged.input = input;
        let verdict = &held.report.verdict;
        HeldRow {
            verdict: Row::of(&judged),
            outcome: run_outcome(held).name(),
            gates: held
                .gates
                .iter()
                .map(|result| GateRow::of(result, verdict))
                .collect(),
            error: None,
        }
    }
}

impl GateRow {
    fn of(result: &GateResult, verdict: &RunVerdict) -> GateRow {
        GateRow {
            name: result.gate.name(),
            outcome: result.outcome.name(),
            measured: Plain(result.measured),
            bound: Plain(result.bound),
            unit: gate_unit(result.gate, verdict),
            text: gate_sentence(result, verdict),
        }
    }
}

impl BaselineRow<'_> {
    fn of(baseline: &BaselineCheck) -> BaselineRow<'_> {
        BaselineRow {
            path: &baseline.path,
            outcome: baseline.result.outcome.name(),
            comparison: outcome_name(baseline.comparison.outcome),
            text: because(&baseline.comparison),
            numbers: NumbersRow::of(&baseline.comparison),
        }
    }
}

#[cfg(test)]
mod tests;
