//! A check as GitLab's code-quality report: an array of what is wrong, empty when it passed.

use leveloff_classifier::gate::Gate;
use leveloff_classifier::verdict::Grade;
use serde::Serialize;

use crate::check::report::{CheckOutcome, CheckReport};
use crate::check::results::{About, Answer, Asked};

/// The document.
pub fn document(report: &CheckReport) -> String {
    let passes = report.outcome() == CheckOutcome::Passed;
    let wrong = |asked: &Asked| asked.counts_as(report.open_counts_as) != CheckOutcome::Passed;
    let issues: Vec<Issue> = Asked::of(report)
        .iter()
        .filter(|asked| !passes && wrong(asked))
        .map(|asked| Issue::of(asked, report))
        .collect();
    let text = serde_json::to_string_pretty(&issues);
    text.expect("keys are text, and there are no numbers but 1") + "\n"
}

#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

impl Issue {
    fn of(asked: &Asked, report: &CheckReport) -> Issue {
        let name = asked.about.name();
        Issue {
            description: format!("{name}: {}", asked.sentence),
            check_name: format!("leveloff-{}", asked.name()),
            fingerprint: fingerprint(&[&report.name, &asked.lasting_name(report), asked.name()]),
            severity: severity(asked, report),
            location: Location {
                path: path(asked, report),
                lines: Lines { begin: 1 },
            },
        }
    }
}

fn severity(asked: &Asked, report: &CheckReport) -> &'static str {
    match asked.answer {
        Answer::Unreadable => "blocker",
        Answer::Failed if asked.gate == Some(Gate::Leak) && is_confirmed(asked, report) => {
            "critical"
        }
        Answer::Failed => "major",
        Answer::Open if asked.counts_as(report.open_counts_as) == CheckOutcome::Failed => "major",
        Answer::Open => "minor",
        Answer::Passed => "info",
    }
}

fn is_confirmed(asked: &Asked, report: &CheckReport) -> bool {
    let grade = |held: &crate::check::report::Held| held.report.verdict.verdict.grade();
    match asked.about {
        About::Run(run) => run.result.as_ref().ok().and_then(grade) == Some(Grade::Confirmed),
        _ => report
            .held()
            .any(|held| grade(held) == Some(Grade::Confirmed)),
    }
}

/// GitLab shows it as a place in the repository: without a leading `./`. Several repeats have the
/// first one's.
fn path(asked: &Asked, report: &CheckReport) -> String {
    let path = match asked.about {
        About::Repeats(_) => report.runs.first().map_or("", |run| run.input.as_str()),
        _ => asked.about.name(),
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
