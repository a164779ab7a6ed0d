//! A whole check in words: what it came to, why, and what to do next.

use leveloff_classifier::allocation_history::Certainty;
use leveloff_classifier::gate::{CheckOutcome, Gate};
use leveloff_classifier::verdict::RunVerdict;
use leveloff_text::allocation;
use leveloff_text::finding::finding_words;
use leveloff_text::gate::{failure_step, failure_words, open_words};
use leveloff_text::verdict::{settling, what_to_try};

use crate::check::report::{CheckReport, CheckedRun, GatedRun, Runs};
use crate::check::results::{CheckResult, Scope};

/// Failures that a headline names; more are counted.
const FAILURES_NAMED: usize = 2;

/// What it came to, as printed large.
pub fn outcome_words(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "PASSED",
        CheckOutcome::Open => "UNDECIDED",
        CheckOutcome::Failed => "FAILED",
        CheckOutcome::Broken => "ERROR",
    }
}

/// `✓`, `?`, `✗` or `!`
pub fn mark(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "✓",
        CheckOutcome::Open => "?",
        CheckOutcome::Failed => "✗",
        CheckOutcome::Broken => "!",
    }
}

/// Why, in a headline's few words.
pub fn reason(report: &CheckReport) -> String {
    let results = CheckResult::of(report);
    match report.outcome() {
        CheckOutcome::Broken => unreadable(report),
        CheckOutcome::Failed => failures(report, &results),
        CheckOutcome::Open => open(report, &results),
        CheckOutcome::Passed => passed(report, &results),
    }
}

/// What to do next, the most telling first.
pub fn next_steps(report: &CheckReport) -> Vec<String> {
    let mut steps = Vec::new();
    let results = CheckResult::of(report);
    let with_outcome = |outcome: CheckOutcome| {
        results
            .iter()
            .filter(move |result| result.outcome == outcome)
    };
    if with_outcome(CheckOutcome::Broken).next().is_some() {
        steps.push(
            "fix the unreadable run first: a check cannot pass with a run missing".to_owned(),
        );
    }
    for result in with_outcome(CheckOutcome::Failed) {
        let step = after_failure(result, report);
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    if steps.is_empty() && with_outcome(CheckOutcome::Open).next().is_some() {
        steps.extend(after_open(report));
    }
    steps
}

/// The run that explains the outcome: the first that failed, else the first that is open.
pub fn explaining_run(report: &CheckReport) -> Option<(&CheckedRun, &GatedRun)> {
    let with = |outcome: CheckOutcome| {
        report.runs.iter().find_map(move |run| {
            let held = run.result.as_ref().ok()?;
            (run_outcome(held) == outcome).then_some((run, held))
        })
    };
    with(CheckOutcome::Failed).or_else(|| with(CheckOutcome::Open))
}

/// What one run came to by itself.
pub fn run_outcome(held: &GatedRun) -> CheckOutcome {
    let outcomes = held.gates.iter().map(|result| result.outcome);
    outcomes.max().unwrap_or(CheckOutcome::Passed)
}

fn unreadable(report: &CheckReport) -> String {
    let unreadable = report.runs.iter().filter(|run| run.result.is_err()).count();
    match report.runs.len() {
        1 => "the run could not be checked".to_owned(),
        runs => format!("{unreadable} of {runs} runs could not be checked"),
    }
}

fn failures(report: &CheckReport, results: &[CheckResult]) -> String {
    let failed = |result: &&CheckResult| result.outcome == CheckOutcome::Failed;
    let mut words: Vec<&str> = results
        .iter()
        .filter(failed)
        .filter_map(|result| result.gate.map(failure_words))
        .collect();
    let mut kept = Vec::new();
    words.retain(|word| {
        let is_new = !kept.contains(word);
        kept.push(*word);
        is_new
    });
    if words.is_empty() {
        return "undecided, which --undecided counts as failed".to_owned();
    }
    let more = words.len().saturating_sub(FAILURES_NAMED);
    words.truncate(FAILURES_NAMED);
    let mut text = words.join(", ");
    if more > 0 {
        text += &format!(" and {more} more");
    }
    text + &in_how_many(report, CheckOutcome::Failed)
}

fn open(report: &CheckReport, results: &[CheckResult]) -> String {
    let fails = |held: &&GatedRun| run_outcome(held) == CheckOutcome::Failed;
    let failing = report.held().filter(fails).count();
    if failing > 0 {
        let runs = report.held().count();
        return format!("the repeats disagree: {failing} of {runs} failed, not more than half");
    }
    let open = |result: &&CheckResult| result.outcome == CheckOutcome::Open;
    let gate = results.iter().find(open).and_then(|result| result.gate);
    let gate = gate.unwrap_or(Gate::Leak);
    let runs = match gate {
        Gate::Leak | Gate::LevelBy => in_how_many(report, CheckOutcome::Open),
        _ => String::new(),
    };
    format!("{}{runs}", open_words(gate))
}

fn passed(report: &CheckReport, results: &[CheckResult]) -> String {
    if results
        .iter()
        .any(|result| result.outcome == CheckOutcome::Open)
    {
        return "nothing failed; --undecided counts undecided as passed".to_owned();
    }
    let mut text = "memory levels off".to_owned();
    text += &in_how_many(report, CheckOutcome::Passed);
    let is_no_worse = |comparison: &leveloff_classifier::compare::Comparison| {
        comparison.outcome != leveloff_classifier::compare::Outcome::Worse
    };
    if let Some(baseline) = &report.baseline
        && is_no_worse(&baseline.comparison)
    {
        text += ", no worse than the baseline";
    }
    text
}

/// ` in 2 of 3 runs`; nothing when there is one.
fn in_how_many(report: &CheckReport, outcome: CheckOutcome) -> String {
    let these = report.held().filter(|held| run_outcome(held) == outcome);
    let (these, all) = (these.count(), report.held().count());
    let what = match report.runs_are {
        Runs::Repeats => "repeats",
        Runs::Different => "runs",
    };
    match (these, all) {
        (_, 0 | 1) | (0, _) => String::new(),
        (these, all) if these == all => format!(" in all {all} {what}"),
        (these, all) => format!(" in {these} of {all} {what}"),
    }
}

fn after_failure(result: &CheckResult, report: &CheckReport) -> String {
    let step = result
        .gate
        .map(|gate| failure_step(gate, result.scope.name()));
    step.map_or_else(String::new, |step| {
        step.unwrap_or_else(|| leak_step(result, report))
    })
}

fn leak_step(result: &CheckResult, report: &CheckReport) -> String {
    let held = match result.scope {
        Scope::Run(run) => run.result.as_ref().ok(),
        _ => explaining_run(report).map(|(_, held)| held),
    };
    let line = held.and_then(|held| {
        let culprit = allocation::named(&held.report.lines).next()?;
        (culprit.certainty != Certainty::Unclear)
            .then(|| allocation::line_words(culprit, held.report.verdict.x_unit))
    });
    let step = line.or_else(|| held.and_then(|held| step_of(&held.report.verdict)));
    let usual = "`leveloff report FILE -o leak.md` writes a report with who and what grows";
    step.unwrap_or_else(|| usual.to_owned())
}

/// The next step of the most telling finding, or else the usual one.
fn step_of(verdict: &RunVerdict) -> Option<String> {
    let found = verdict.findings.first();
    let found = found.map(|found| finding_words(found).next.into_owned());
    found.or_else(|| what_to_try(verdict).map(str::to_owned))
}

fn after_open(report: &CheckReport) -> Vec<String> {
    let mut steps = Vec::new();
    if explaining_run(report).is_some_and(|(_, held)| run_outcome(held) == CheckOutcome::Failed) {
        return vec!["repeat it more often: --repeat N; a leak shows in every repeat".to_owned()];
    }
    if let Some((_, held)) = explaining_run(report) {
        let settled = settling(&held.report.verdict, &held.report.stated);
        steps.extend(settled.first().map(|line| format!("decided {line}")));
    }
    steps.push(match report.runs_are {
        Runs::Repeats => "run it longer, or more often: --repeat N".to_owned(),
        Runs::Different => "check a longer run".to_owned(),
    });
    if report.open_counts_as == CheckOutcome::Open {
        steps.push("--undecided=pass or --undecided=fail sets what this counts as".to_owned());
    }
    steps
}

#[cfg(test)]
mod tests;
