//! Everything that a check asked, each with one answer.
//!
//! What CI shows must add up to the check's own outcome: of repeats that vote, one that fails alone
//! must not turn a job red. So JUnit, GitHub and GitLab all tell this list, and not the runs' gates.

use leveloff_classifier::gate::{Gate, GateOutcome, GateResult};
use leveloff_text::gate::{baseline_sentence, gate_sentence};

use crate::check::report::{
    BaselineCheck, CheckOutcome, CheckReport, CheckedRun, Held, OpenCountsAs, Runs,
};

/// One thing that was asked.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// Of what.
    pub about: About<'a>,
    /// Which gate; `None` for whether it can be read at all.
    pub gate: Option<Gate>,
    /// The answer.
    pub answer: Answer,
    /// The answer with its numbers.
    pub sentence: String,
}

/// What something was asked of.
#[derive(Debug, Clone, Copy)]
pub enum About<'a> {
    /// One run.
    Run(&'a CheckedRun),
    /// All repeats together.
    Repeats(&'a CheckReport),
    /// All runs, against what was before.
    Baseline(&'a BaselineCheck),
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// Fine.
    Passed,
    /// Cannot be told.
    Open,
    /// Not fine.
    Failed,
    /// Could not be read.
    Unreadable,
}

impl<'a> Asked<'a> {
    /// Everything that was asked, in the order of reading.
    pub fn of(report: &'a CheckReport) -> Vec<Asked<'a>> {
        let mut all: Vec<Asked> = report.runs.iter().filter_map(Asked::unreadable).collect();
        if report.runs_are == Runs::Repeats && report.held().nth(1).is_some() {
            all.extend(Asked::of_repeats(report));
        } else {
            all.extend(report.runs.iter().flat_map(Asked::of_run));
        }
        all.extend(report.baseline.iter().map(Asked::of_baseline));
        all
    }

    /// What the answer counts as.
    pub fn counts_as(&self, open: OpenCountsAs) -> CheckOutcome {
        match (self.answer, open) {
            (Answer::Passed, _) | (Answer::Open, OpenCountsAs::Passed) => CheckOutcome::Passed,
            (Answer::Failed, _) | (Answer::Open, OpenCountsAs::Failed) => CheckOutcome::Failed,
            (Answer::Open, OpenCountsAs::Itself) => CheckOutcome::Open,
            (Answer::Unreadable, _) => CheckOutcome::Broken,
        }
    }

    /// The name of the gate, or `readable`.
    pub fn name(&self) -> &'static str {
        self.gate.map_or("readable", Gate::name)
    }

    /// What it is about, by a name that is the same at the next check. A recording that a check made
    /// itself is named after its moment, so repeats are only numbered.
    pub fn lasting_name(&self, report: &CheckReport) -> String {
        match (self.about, report.runs_are) {
            (About::Baseline(_), _) => "baseline".to_owned(),
            (About::Run(run), Runs::Different) => run.input.clone(),
            (About::Run(run), Runs::Repeats) if report.runs.len() > 1 => {
                let is_it = |other: &CheckedRun| std::ptr::eq(run, other);
                let place = report.runs.iter().position(is_it).unwrap_or(0);
                format!("repeat {}", place + 1)
            }
            (About::Run(_), Runs::Repeats) | (About::Repeats(_), _) => "repeats".to_owned(),
        }
    }

    fn unreadable(run: &'a CheckedRun) -> Option<Asked<'a>> {
        let error = run.result.as_ref().err()?;
        Some(Asked {
            about: About::Run(run),
            gate: None,
            answer: Answer::Unreadable,
            sentence: error.clone(),
        })
    }

    fn of_run(run: &'a CheckedRun) -> Vec<Asked<'a>> {
        let Ok(held) = &run.result else {
            return Vec::new();
        };
        let asked = |result: &GateResult| Asked {
            about: About::Run(run),
            gate: Some(result.gate),
            answer: Answer::of(result.outcome),
            sentence: gate_sentence(result, &held.report.verdict),
        };
        held.gates.iter().map(asked).collect()
    }

    fn of_repeats(report: &'a CheckReport) -> Vec<Asked<'a>> {
        let asked = |(gate, outcome): (Gate, GateOutcome)| Asked {
            about: About::Repeats(report),
            gate: Some(gate),
            answer: Answer::of(outcome),
            sentence: vote(report, gate),
        };
        report.gates().into_iter().map(asked).collect()
    }

    fn of_baseline(baseline: &'a BaselineCheck) -> Asked<'a> {
        Asked {
            about: About::Baseline(baseline),
            gate: Some(Gate::Baseline),
            answer: Answer::of(baseline.result.outcome),
            sentence: baseline_sentence(&baseline.comparison, baseline.is_replaced),
        }
    }
}

impl About<'_> {
    /// Whether it is the very same, and not only called so.
    pub fn is(&self, other: &About) -> bool {
        match (self, other) {
            (About::Run(this), About::Run(that)) => std::ptr::eq(*this, *that),
            (About::Repeats(_), About::Repeats(_)) => true,
            (About::Baseline(_), About::Baseline(_)) => true,
            _ => false,
        }
    }

    /// What the user calls it.
    pub fn name(&self) -> &str {
        match self {
            About::Run(run) => &run.input,
            About::Repeats(report) => &report.name,
            About::Baseline(baseline) => &baseline.path,
        }
    }
}

impl Answer {
    fn of(outcome: GateOutcome) -> Answer {
        match outcome {
            GateOutcome::Passed => Answer::Passed,
            GateOutcome::Open => Answer::Open,
            GateOutcome::Failed => Answer::Failed,
        }
    }
}

/// `2 of 3 repeats fail: LEAK …`: the worst that any of them says, and how many say it.
fn vote(report: &CheckReport, gate: Gate) -> String {
    let with_gate = |held: &'_ Held| {
        let result = held.gates.iter().find(|result| result.gate == gate)?;
        Some((result.outcome, gate_sentence(result, &held.report.verdict)))
    };
    let told: Vec<(GateOutcome, String)> = report.held().filter_map(with_gate).collect();
    let Some((worst, sentence)) = told.iter().max_by_key(|(outcome, _)| *outcome) else {
        return String::new();
    };
    let count = told.iter().filter(|(outcome, _)| outcome == worst).count();
    let runs = report.held().count();
    let verb = match (worst, count) {
        (GateOutcome::Failed, 1) => "fails",
        (GateOutcome::Failed, _) => "fail",
        (GateOutcome::Open, 1) => "is undecided",
        (GateOutcome::Open, _) => "are undecided",
        (GateOutcome::Passed, 1) => "passes",
        (GateOutcome::Passed, _) => "pass",
    };
    format!("{count} of {runs} repeats {verb}: {sentence}")
}
