//! A check as GitLab's code-quality report: an array of what is wrong, empty when it passed.

use leveloff_classifier::gate::{CheckOutcome, Gate};
use leveloff_classifier::verdict::Grade;
use serde_json::Value;

use crate::check::report::CheckReport;
use crate::check::results::{CheckResult, Scope};
use crate::json::{list, object};

/// The document.
pub fn document(report: &CheckReport) -> String {
    let passes = report.outcome() == CheckOutcome::Passed;
    let is_issue = |result: &CheckResult| {
        !passes && result.outcome.counted(report.open_counts_as) != CheckOutcome::Passed
    };
    let results = CheckResult::of(report).into_iter().filter(is_issue);
    format!("{:#}\n", list(results, |result| issue(&result, report)))
}

fn issue(result: &CheckResult, report: &CheckReport) -> Value {
    let scope = result.lasting_name(report);
    object! {
        description: format!("{}: {}", result.scope.name(), result.sentence),
        check_name: format!("leveloff-{}", result.name()),
        fingerprint: fingerprint(&[&report.name, &scope, result.name()]),
        severity: severity(result, report),
        location: object! {
            path: path(result, report),
            lines: object! { begin: 1 },
        },
    }
}

fn severity(result: &CheckResult, report: &CheckReport) -> &'static str {
    match result.outcome {
        CheckOutcome::Broken => "blocker",
        CheckOutcome::Failed if result.gate == Some(Gate::Leak) && is_confirmed(result, report) => {
            "critical"
        }
        CheckOutcome::Failed => "major",
        CheckOutcome::Open
            if result.outcome.counted(report.open_counts_as) == CheckOutcome::Failed =>
        {
            "major"
        }
        CheckOutcome::Open => "minor",
        CheckOutcome::Passed => "info",
    }
}

fn is_confirmed(result: &CheckResult, report: &CheckReport) -> bool {
    let grade = |held: &crate::check::report::GatedRun| held.report.verdict.verdict.grade();
    match result.scope {
        Scope::Run(run) => run.result.as_ref().ok().and_then(grade) == Some(Grade::Confirmed),
        _ => report
            .held()
            .any(|held| grade(held) == Some(Grade::Confirmed)),
    }
}

/// GitLab shows it as a place in the repository: without a leading `./`. Several repeats have the
/// first one's.
fn path(result: &CheckResult, report: &CheckReport) -> String {
    let path = match result.scope {
        Scope::Repeats(_) => report.runs.first().map_or("", |run| run.input.as_str()),
        _ => result.scope.name(),
    };
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// The same for the same question at every run of the pipeline, whatever the numbers are: so GitLab
/// can tell what is new. FNV-1a of 64 bits, whose definition will not change.
fn fingerprint(parts: &[&str]) -> String {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut hash = BASIS;
    for part in parts {
        // A byte that is in no text keeps "ab", "c" apart from "a", "bc".
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests;
