//! The results of a check: one for each gate, or for each run that could not be read.
//!
//! What CI shows must add up to the check's own outcome: of repeats that vote, one that fails alone
//! must not turn a job red. So JUnit, GitHub and GitLab all print this list and not the runs' gates.

use leveloff_classifier::gate::{CheckOutcome, Gate};
use leveloff_text::gate::{baseline_sentence, gate_sentence};

use crate::check::report::{BaselineCheck, CheckReport, CheckedRun, GatedRun, Runs};

/// The result of one gate.
#[derive(Debug, Clone)]
pub struct CheckResult<'a> {
    /// What the gate was applied to.
    pub scope: Scope<'a>,
    /// Which gate; `None` if a run could not be read.
    pub gate: Option<Gate>,
    /// How it went, before `--undecided` is applied.
    pub outcome: CheckOutcome,
    /// The same in a sentence with its numbers.
    pub sentence: String,
}

/// What a gate is applied to.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    /// One run.
    Run(&'a CheckedRun),
    /// All repeats together.
    Repeats(&'a CheckReport),
    /// All runs, compared with a baseline.
    Baseline(&'a BaselineCheck),
}

impl<'a> CheckResult<'a> {
    /// All results of a check: first the runs that could not be read, then the gates.
    pub fn of(report: &'a CheckReport) -> Vec<CheckResult<'a>> {
        let unreadable = report.runs.iter().filter_map(CheckResult::unreadable);
        let mut all: Vec<CheckResult> = unreadable.collect();
        if report.runs_are == Runs::Repeats && report.held().nth(1).is_some() {
            all.extend(CheckResult::of_repeats(report));
        } else {
            all.extend(report.runs.iter().flat_map(CheckResult::of_run));
        }
        all.extend(report.baseline.iter().map(CheckResult::of_baseline));
        all
    }

    /// The name of the gate, or `readable`.
    pub fn name(&self) -> &'static str {
        self.gate.map_or("readable", Gate::name)
    }

    /// A name for the scope that is the same at the next check. A recording that a check made itself is
    /// named after the time, so repeats are only numbered.
    pub fn lasting_name(&self, report: &CheckReport) -> String {
        match (self.scope, report.runs_are) {
            (Scope::Baseline(_), _) => "baseline".to_owned(),
            (Scope::Run(run), Runs::Different) => run.input.clone(),
            (Scope::Run(run), Runs::Repeats) if report.runs.len() > 1 => {
                let is_it = |other: &CheckedRun| std::ptr::eq(run, other);
                let index = report.runs.iter().position(is_it).unwrap_or(0);
                format!("repeat {}", index + 1)
            }
            (Scope::Run(_), Runs::Repeats) | (Scope::Repeats(_), _) => "repeats".to_owned(),
        }
    }

    fn unreadable(run: &'a CheckedRun) -> Option<CheckResult<'a>> {
        let error = run.result.as_ref().err()?;
        Some(CheckResult {
            scope: Scope::Run(run),
            gate: None,
            outcome: CheckOutcome::Broken,
            sentence: error.clone(),
        })
    }

    fn of_run(run: &'a CheckedRun) -> impl Iterator<Item = CheckResult<'a>> {
        run.result.iter().flat_map(move |held| {
            held.gates.iter().map(move |result| CheckResult {
                scope: Scope::Run(run),
                gate: Some(result.gate),
                outcome: result.outcome,
                sentence: gate_sentence(result, &held.report.verdict),
            })
        })
    }

    fn of_repeats(report: &'a CheckReport) -> impl Iterator<Item = CheckResult<'a>> {
        report
            .gates()
            .into_iter()
            .map(|(gate, outcome)| CheckResult {
                scope: Scope::Repeats(report),
                gate: Some(gate),
                outcome,
                sentence: vote(report, gate),
            })
    }

    fn of_baseline(baseline: &'a BaselineCheck) -> CheckResult<'a> {
        CheckResult {
            scope: Scope::Baseline(baseline),
            gate: Some(Gate::Baseline),
            outcome: baseline.result.outcome,
            sentence: baseline_sentence(&baseline.comparison, baseline.is_replaced),
        }
    }
}

impl Scope<'_> {
    /// Whether both are the same object; two runs may have the same name.
    pub fn is(&self, other: &Scope) -> bool {
        match (self, other) {
            (Scope::Run(this), Scope::Run(that)) => std::ptr::eq(*this, *that),
            (Scope::Repeats(_), Scope::Repeats(_)) | (Scope::Baseline(_), Scope::Baseline(_)) => {
                true
            }
            _ => false,
        }
    }

    /// The user's name for it.
    pub fn name(&self) -> &str {
        match self {
            Scope::Run(run) => &run.input,
            Scope::Repeats(report) => &report.name,
            Scope::Baseline(baseline) => &baseline.path,
        }
    }
}

/// `2 of 3 repeats fail: LEAK …`: the worst outcome, how many repeats have it, and a sentence of one of them.
fn vote(report: &CheckReport, gate: Gate) -> String {
    let of_gate = |held: &'_ GatedRun| {
        let result = held.gates.iter().find(|result| result.gate == gate)?;
        Some((result.outcome, gate_sentence(result, &held.report.verdict)))
    };
    let results: Vec<(CheckOutcome, String)> = report.held().filter_map(of_gate).collect();
    let Some((worst, sentence)) = results.iter().max_by_key(|(outcome, _)| *outcome) else {
        return String::new();
    };
    let has_worst = |(outcome, _): &&(CheckOutcome, String)| outcome == worst;
    let count = results.iter().filter(has_worst).count();
    let runs = report.held().count();
    let verb = match (worst, count) {
        (CheckOutcome::Failed | CheckOutcome::Broken, 1) => "fails",
        (CheckOutcome::Failed | CheckOutcome::Broken, _) => "fail",
        (CheckOutcome::Open, 1) => "is undecided",
        (CheckOutcome::Open, _) => "are undecided",
        (CheckOutcome::Passed, 1) => "passes",
        (CheckOutcome::Passed, _) => "pass",
    };
    format!("{count} of {runs} repeats {verb}: {sentence}")
}
