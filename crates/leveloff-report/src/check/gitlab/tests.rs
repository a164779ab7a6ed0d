use serde_json::Value;

use super::*;
use crate::check::report::Runs;
use crate::check_cases::{self, all, leaky, run};

fn issues(report: &CheckReport) -> Vec<Value> {
    serde_json::from_str(&document(report)).unwrap()
}

#[test]
fn golden() {
    for (name, report) in all() {
        insta::assert_snapshot!(format!("gitlab-{name}"), document(&report));
    }
}

#[test]
fn an_array_that_is_empty_when_it_passed_and_only_then() {
    for (name, report) in all() {
        let passed = report.outcome() == CheckOutcome::Passed;
        assert_eq!(issues(&report).is_empty(), passed, "{name}");
    }
    let mut report = check_cases::undecided();
    assert_eq!(issues(&report)[0]["severity"], "minor");
    report.open_counts_as = CheckOutcome::Failed;
    assert_eq!(issues(&report)[0]["severity"], "major");
    report.open_counts_as = CheckOutcome::Passed;
    assert_eq!(document(&report), "[]\n");
}

#[test]
fn a_fingerprint_lasts_while_the_numbers_change_and_is_of_one_question_only() {
    let leak = |rate: f64, name: &str| {
        let runs = vec![run(name, 900, |step| 900.0 + rate * step)];
        issues(&check_cases::check(Runs::Different, runs))[0]["fingerprint"].clone()
    };
    assert_eq!(leak(2.0, "a.jsonl"), leak(2.3, "a.jsonl"));
    assert_ne!(leak(2.0, "a.jsonl"), leak(2.0, "b.jsonl"));
    let both = vec![run("a", 2000, leaky), run("b", 2000, leaky)];
    let issues = issues(&check_cases::check(Runs::Different, both));
    // Both leak, and both peak above 4 GiB.
    let mut prints: Vec<String> = issues
        .iter()
        .map(|i| i["fingerprint"].to_string())
        .collect();
    assert_eq!(prints.len(), 4);
    prints.sort();
    prints.dedup();
    assert_eq!(prints.len(), 4);
}

#[test]
fn fnv_is_fnv() {
    // The published value of the empty text, then one more byte by hand.
    assert_eq!(fingerprint(&[]), "cbf29ce484222325");
    let expected = (0xcbf2_9ce4_8422_2325_u64 ^ 0xff).wrapping_mul(0x0000_0100_0000_01b3);
    assert_eq!(fingerprint(&[""]), format!("{expected:016x}"));
}

#[test]
fn places_are_as_gitlab_wants_them() {
    let runs = vec![run("./runs/a.jsonl", 900, leaky)];
    let issues = issues(&check_cases::check(Runs::Different, runs));
    assert_eq!(issues[0]["location"]["path"], "runs/a.jsonl");
    assert_eq!(issues[0]["location"]["lines"]["begin"], 1);
}
