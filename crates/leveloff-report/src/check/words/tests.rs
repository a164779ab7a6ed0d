use super::*;
use crate::check_cases::{self, baseline, check, healthy, leaky, run};

fn said(report: &CheckReport) -> String {
    format!("{}: {}", outcome_words(report.outcome()), reason(report))
}

#[test]
fn two_hundred_steps_are_decided_by_the_usual_horizon_as_the_docs_say() {
    let outcome = |memory: &dyn Fn(f64) -> f64| {
        let runs = vec![run("run.jsonl", 200, memory)];
        check(Runs::Different, runs).outcome()
    };
    assert_eq!(outcome(&leaky), CheckOutcome::Failed);
    assert_eq!(outcome(&healthy(2000.0)), CheckOutcome::Passed);
}

#[test]
fn how_big_a_change_must_be_is_what_the_docs_say() {
    let outcome = |before: &[f64], after: &[f64]| {
        let runs = after
            .iter()
            .map(|level| run("run.jsonl", 400, healthy(*level)));
        let mut report = check(Runs::Repeats, runs.collect());
        report.baseline = Some(baseline(before, &report));
        report.outcome()
    };
    // Scope 7 % with one run a side, about 3 % with three that agree, and never below 2 %.
    assert_eq!(outcome(&[2000.0], &[2120.0]), CheckOutcome::Passed);
    assert_eq!(outcome(&[2000.0], &[2180.0]), CheckOutcome::Failed);
    assert_eq!(outcome(&[2000.0; 3], &[2040.0; 3]), CheckOutcome::Passed);
    assert_eq!(outcome(&[2000.0; 3], &[2080.0; 3]), CheckOutcome::Failed);
    assert_eq!(outcome(&[2000.0; 40], &[2035.0; 40]), CheckOutcome::Passed);
}

#[test]
fn several_failures_are_named_once_each_and_not_too_many() {
    let late = |step: f64| 4000.0 + 4.0 * step.min(150.0);
    let runs = || vec![run("a", 900, late), run("b", 900, late)];
    let report = check(Runs::Different, runs());
    let expected = "FAILED: memory levels off too late, peak too high in all 2 runs";
    assert_eq!(said(&report), expected);
    let mut report = check(Runs::Different, runs());
    report.baseline = Some(baseline(&[2000.0], &report));
    assert!(
        said(&report).contains("peak too high and 1 more"),
        "{}",
        said(&report)
    );
}

#[test]
fn a_baseline_that_is_being_written_is_not_called_no_worse() {
    let mut report = check_cases::regression();
    if let Some(baseline) = &mut report.baseline {
        baseline.result.outcome = CheckOutcome::Passed;
    }
    assert_eq!(said(&report), "PASSED: memory levels off in all 3 repeats");
}

#[test]
fn each_failure_has_its_next_step() {
    for (name, report) in check_cases::all() {
        let is_fine = report.outcome() == CheckOutcome::Passed;
        assert_eq!(next_steps(&report).is_empty(), is_fine, "{name}");
    }
    let steps = next_steps(&check_cases::regression());
    assert!(steps[0].contains("--update-baseline"), "{steps:?}");
}
