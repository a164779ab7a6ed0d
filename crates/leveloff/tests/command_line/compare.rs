//! `leveloff compare`: what is worse, what is not, and what is refused.

use serde_json::Value;

use crate::check::{refused, stage, table};
use crate::stage::{Ended, Stage};

#[track_caller]
fn compare(stage: &Stage, arguments: &[&str], expected: i32) -> Ended {
    let ended = stage.ask(&[&["compare"], arguments].concat());
    assert_eq!(
        ended.status.code(),
        Some(expected),
        "{arguments:?} {ended:?}"
    );
    ended.never_panicked()
}

#[test]
fn runs_are_compared_both_ways() {
    let stage = stage();
    compare(&stage, &["level.csv", "level.csv"], 0);
    compare(&stage, &["level.csv", "more.csv"], 1);
    compare(&stage, &["more.csv", "level.csv"], 0);
    compare(&stage, &["level.csv", "leak.csv", "--level-by", "90"], 1);
    let several = [
        "--before",
        "level.csv",
        "level.csv",
        "--after",
        "more.csv",
        "more.csv",
    ];
    compare(&stage, &several, 1);
}

#[test]
fn runs_of_different_length_are_compared_over_what_both_have() {
    let stage = stage();
    stage.file(
        "long.csv",
        table(900, |step| 1000.0 + 10.0 * step.min(60.0)),
    );
    let answer = compare(&stage, &["long.csv", "level.csv", "--format", "json"], 0);
    let object: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(object["outcome"], "same");
    let notes = object["notes"].to_string();
    assert!(notes.contains("step 300"), "{notes}");
}

#[test]
fn a_comparison_is_written_to_the_output_file() {
    let stage = stage();
    for name in ["c.html", "c.md", "c.json", "c.txt"] {
        compare(&stage, &["level.csv", "more.csv", "-o", name], 1);
        assert!(stage.path(name).metadata().unwrap().len() > 100, "{name}");
        refused(
            &stage,
            &["compare", "level.csv", "more.csv", "-o", name],
            &["exists", "--force"],
        );
    }
    refused(
        &stage,
        &["compare", "level.csv", "more.csv", "-o", "c.pdf"],
        &["c.pdf", ".html"],
    );
    refused(&stage, &["compare", "level.csv"], &["AFTER"]);
    refused(&stage, &["compare", "-", "level.csv"], &["stdin"]);
    refused(&stage, &["compare", "level.csv", "no.csv"], &["no.csv"]);
}
