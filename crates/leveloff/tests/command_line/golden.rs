//! What checks, comparisons and pages of the four runs look like, as it was accepted once.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::report::{RUNS, rounded, stage};
use crate::stage::{Stage, ended};

/// Without the version that wrote it.
fn of_any_version(text: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let text = text.replace(&format!("leveloff {version}"), "leveloff VERSION");
    text.replace(&format!("value=\"{version}\""), "value=\"VERSION\"")
}

fn read(stage: &Stage, name: &str) -> String {
    of_any_version(&std::fs::read_to_string(stage.path(name)).unwrap())
}

#[test]
fn checks_are_as_they_were_accepted() {
    for run in RUNS {
        let stage = stage();
        let input = format!("{run}.csv");
        let outputs = ["--junit", "x.xml", "--gitlab", "x.json", "--github"];
        let arguments = ["check", &input].into_iter().chain(outputs);
        let mut command = stage.leveloff(arguments);
        command.env("GITHUB_STEP_SUMMARY", stage.path("summary.md"));
        let answer = ended(&mut command).never_panicked();
        let code = answer.status.code().unwrap();
        assert_snapshot!(
            format!("{run}.check"),
            format!("{}exit code {code}\n", answer.stdout)
        );
        assert_snapshot!(format!("{run}.junit"), read(&stage, "x.xml"));
        assert_snapshot!(format!("{run}.gitlab"), read(&stage, "x.json"));
        assert_snapshot!(format!("{run}.summary"), read(&stage, "summary.md"));
        let json = stage.ask(&["check", &input, "--format", "json"]).stdout;
        assert_snapshot!(
            format!("{run}.check.json"),
            rounded(&json.replace(",\"", ",\n\""))
        );
    }
}

#[test]
fn comparisons_are_as_they_were_accepted() {
    let stage = stage();
    for format in ["text", "markdown", "json"] {
        let arguments = ["compare", "overcount.csv", "leak.csv", "--format", format];
        let text = stage.ask(&arguments).never_panicked().stdout;
        assert_snapshot!(
            format!("compared.{format}"),
            rounded(&text.replace(",\"", ",\n\""))
        );
    }
}

#[test]
fn pages_are_as_they_were_accepted() {
    let stage = stage();
    for run in RUNS {
        let seen = seen_of_page(&stage, &format!("{run}.csv"));
        assert_snapshot!(format!("{run}.html"), seen);
    }
}

/// What is seen of a page: without style, script and data, each of which has tests of its own.
fn seen_of_page(stage: &Stage, input: &str) -> String {
    let page = stage.ask(&["report", input, "--format", "html", "-o", "-"]);
    let page = of_any_version(&page.well().stdout);
    let body = page.split_once("<body>").unwrap().1;
    let (seen, _) = body.split_once("<script").unwrap();
    let (before, after) = seen.split_once("<svg").unwrap();
    let (_, after) = after.split_once("</svg>").unwrap();
    format!("{before}…{after}")
}

/// A training that reports its counters, keeps a tensor at every second step, and tried a trim.
#[test]
fn the_counters_of_a_training_are_reported_as_accepted() {
    let stage = Stage::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/recordings");
    stage.file(
        "inside.jsonl",
        std::fs::read(fixtures.join("inside.jsonl")).unwrap(),
    );
    assert_snapshot!("inside.html", seen_of_page(&stage, "inside.jsonl"));
    let arguments = ["report", "inside.jsonl", "--format", "markdown", "-o", "-"];
    let markdown = of_any_version(&stage.ask(&arguments).well().stdout);
    assert_snapshot!("inside.md", markdown);
    let arguments = ["report", "inside.jsonl", "--format", "json", "-o", "-"];
    let json: Value = serde_json::from_str(&stage.ask(&arguments).well().stdout).unwrap();
    assert_eq!(json["trimmed_bytes"], 6 << 20);
    let grown = &json["tensors_grown"];
    assert_eq!(
        grown[0],
        json!({"what": "float32[1024, 1024] cpu", "more": 395, "more_bytes": 395 << 22})
    );
    assert_eq!(grown[1]["what"], "int64[<b>|`@all`] cpu");
}
