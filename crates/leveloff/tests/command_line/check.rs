//! `leveloff check`: gates, baselines, exit codes, and what is refused.

use serde_json::Value;

use rustix::process::Signal;

use crate::stage::{Ended, Stage, ended, python, send, wait_until};

/// A table of one number at each step.
pub fn table(steps: u32, memory: impl Fn(f64) -> f64) -> String {
    let noise = |step: u32| f64::from(step.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 * 4.0;
    let row = |step: u32| format!("{step},{:.3}\n", memory(f64::from(step)) + noise(step));
    (1..=steps).fold("step,rss_mb\n".to_owned(), |table, step| table + &row(step))
}

pub fn stage() -> Stage {
    let stage = Stage::new();
    stage.file(
        "level.csv",
        table(300, |step| 1000.0 + 10.0 * step.min(60.0)),
    );
    stage.file(
        "more.csv",
        table(300, |step| 1200.0 + 10.0 * step.min(60.0)),
    );
    stage.file(
        "late.csv",
        table(600, |step| 1000.0 + 10.0 * step.min(200.0)),
    );
    stage.file("leak.csv", table(300, |step| 1000.0 + 3.0 * step));
    stage.file("young.csv", table(30, |step| 1000.0 + 3.0 * step));
    stage
}

#[track_caller]
fn check(stage: &Stage, arguments: &[&str], expected: i32) -> Ended {
    let ended = stage.ask(&[&["check"], arguments].concat());
    assert_eq!(
        ended.status.code(),
        Some(expected),
        "{arguments:?} {ended:?}"
    );
    ended.never_panicked()
}

#[track_caller]
pub fn refused(stage: &Stage, arguments: &[&str], words: &[&str]) {
    stage.ask(arguments).refused(words);
}

#[test]
fn gates_pass_fail_or_stay_open() {
    let stage = stage();
    check(&stage, &["level.csv"], 0);
    check(&stage, &["leak.csv"], 1);
    check(&stage, &["late.csv"], 1);
    check(&stage, &["late.csv", "--level-by", "220"], 0);
    check(&stage, &["young.csv"], 3);
    check(&stage, &["young.csv", "--undecided", "pass"], 0);
    check(&stage, &["young.csv", "--undecided", "fail"], 1);
    check(&stage, &["level.csv", "leak.csv"], 1);
    check(&stage, &["level.csv", "young.csv"], 3);
    check(&stage, &["level.csv", "no.csv"], 2);
}

#[test]
fn bounds_are_held() {
    let stage = stage();
    check(&stage, &["level.csv", "--max-level", "1.7GB"], 0);
    check(&stage, &["level.csv", "--max-level", "1.5GB"], 1);
    check(&stage, &["level.csv", "--max-peak", "1.5GB"], 1);
    check(&stage, &["level.csv", "--max-growth", "1MB/step"], 0);
    check(&stage, &["leak.csv", "--max-growth", "1MB/step"], 1);
}

#[test]
fn a_bound_without_its_unit_is_refused() {
    let stage = stage();
    refused(
        &stage,
        &["check", "level.csv", "--max-level", "28"],
        &["28GiB", "28GB"],
    );
    refused(&stage, &["check", "level.csv", "--max-peak", "x"], &["'x'"]);
    refused(
        &stage,
        &["check", "level.csv", "--max-growth", "1MiB"],
        &["per what?"],
    );
    refused(
        &stage,
        &["check", "level.csv", "--max-growth", "1/step"],
        &["1GiB"],
    );
}

#[test]
fn a_baseline_is_written_once_and_then_held() {
    let stage = stage();
    let with = |file: &'static str| [file, "--baseline", "b.json"];
    refused(
        &stage,
        &[&["check"][..], &with("level.csv")].concat(),
        &["b.json", "--update-baseline"],
    );
    check(
        &stage,
        &[&with("level.csv")[..], &["--update-baseline"]].concat(),
        0,
    );
    let written = std::fs::read_to_string(stage.path("b.json")).unwrap();
    check(&stage, &with("level.csv"), 0);
    let worse = check(&stage, &with("more.csv"), 1);
    assert!(worse.stdout.contains("baseline"), "{worse:?}");
    assert_eq!(
        std::fs::read_to_string(stage.path("b.json")).unwrap(),
        written
    );
    check(
        &stage,
        &[&with("more.csv")[..], &["--update-baseline"]].concat(),
        0,
    );
    check(&stage, &with("more.csv"), 0);
    assert_ne!(
        std::fs::read_to_string(stage.path("b.json")).unwrap(),
        written
    );
}

#[test]
fn entries_of_a_baseline_have_names() {
    let stage = stage();
    for (name, file) in [("small", "level.csv"), ("large", "more.csv")] {
        check(&stage, &[file, "--update-baseline", "--name", name], 0);
    }
    let with = ["--baseline", "leveloff-baseline.json", "--name"];
    check(&stage, &[&["level.csv"], &with[..], &["small"]].concat(), 0);
    check(&stage, &[&["more.csv"], &with[..], &["small"]].concat(), 1);
    let unknown = [&["check", "more.csv"], &with[..], &["none"]].concat();
    refused(&stage, &unknown, &["'none'", "large, small"]);
}

#[test]
fn what_is_no_baseline_is_neither_used_nor_replaced() {
    let stage = stage();
    for content in ["", "{}", "step,rss_mb\n1,2\n", "<<<<<<< HEAD\n{"] {
        stage.file("b.json", content);
        let read = ["check", "level.csv", "--baseline", "b.json"];
        refused(&stage, &read, &["b.json"]);
        refused(
            &stage,
            &[&read[..], &["--update-baseline", "--force"]].concat(),
            &["b.json"],
        );
        assert_eq!(
            std::fs::read_to_string(stage.path("b.json")).unwrap(),
            content
        );
    }
    stage.file(
        "b.json",
        r#"{"format":"leveloff-baseline","version":9,"runs":{}}"#,
    );
    refused(
        &stage,
        &["check", "level.csv", "--baseline", "b.json"],
        &["version 9", "upgrade"],
    );
}

#[test]
fn a_leak_does_not_become_the_baseline_by_accident() {
    let stage = stage();
    let failed = check(&stage, &["leak.csv", "--update-baseline"], 1);
    assert!(failed.stderr.contains("not updated"), "{failed:?}");
    assert!(failed.stderr.contains("--force"), "{failed:?}");
    assert!(!stage.path("leveloff-baseline.json").exists());
    check(&stage, &["leak.csv", "--update-baseline", "--force"], 1);
    assert!(stage.path("leveloff-baseline.json").exists());
}

#[test]
fn outputs_are_written_and_kept() {
    let stage = stage();
    let arguments = [
        "leak.csv", "--junit", "x.xml", "--gitlab", "x.json", "--report", "x.md",
    ];
    check(&stage, &arguments, 1);
    for (name, word) in [
        ("x.xml", "<failure"),
        ("x.json", "fingerprint"),
        ("x.md", "leak"),
    ] {
        let text = std::fs::read_to_string(stage.path(name))
            .unwrap()
            .to_lowercase();
        assert!(text.contains(word), "{name}: {text}");
    }
    let again = [&["check"], &arguments[..]].concat();
    refused(&stage, &again, &["x.xml exists", "--force"]);
    check(&stage, &[&arguments[..], &["--force"]].concat(), 1);
    refused(
        &stage,
        &["check", "leak.csv", "--junit", "no/x.xml"],
        &["no directory"],
    );
    refused(
        &stage,
        &["check", "leak.csv", "--report", "x.txt"],
        &["x.txt", ".html"],
    );
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let stage = stage();
    let mut command = stage.leveloff(["check", "leak.csv", "--github"]);
    command.env("GITHUB_STEP_SUMMARY", stage.path("summary.md"));
    let answer = ended(&mut command);
    assert_eq!(answer.status.code(), Some(1));
    assert!(
        answer
            .stdout
            .lines()
            .any(|line| line.starts_with("::error")),
        "{answer:?}"
    );
    let summary = std::fs::read_to_string(stage.path("summary.md")).unwrap();
    assert!(summary.contains("leak.csv"), "{summary}");
}

#[test]
fn programs_get_one_object() {
    let stage = stage();
    let answer = check(&stage, &["level.csv", "leak.csv", "--format", "json"], 1);
    let object: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(object["outcome"], "failed");
    assert_eq!(object["runs"][0]["outcome"], "passed");
    assert_eq!(object["runs"][1]["verdict"], "leak");
    assert!(object["runs"][1]["rate_bytes"].as_f64().unwrap() > 2.9e6);
}

/// Allocates a MiB at each step, or nothing, and prints its steps.
fn training(leaks: bool) -> String {
    let keep = if leaks {
        "kept.append(bytearray(os.urandom(1 << 20)))"
    } else {
        "pass"
    };
    format!(
        "import os, time\nkept = []\nfor step in range(1, 161):\n    {keep}\n    \
         print('step', step, flush=True)\n    time.sleep(0.01)\n"
    )
}

#[test]
fn a_command_is_run_recorded_and_checked() {
    let stage = stage();
    stage.file("healthy.py", training(false));
    stage.file("leak.py", training(true));
    let run = [
        "--interval",
        "20ms",
        "--repeat",
        "2",
        "-o",
        "r.jsonl",
        "--format",
        "json",
        "--",
    ];
    let healthy = [&run[..], &[python(), "healthy.py"]].concat();
    let answer = check(&stage, &healthy, 0);
    let object: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(object["runs"].as_array().unwrap().len(), 2);
    assert!(
        answer.stderr.contains("step 160"),
        "the command's own output is lost"
    );
    assert!(stage.path("r-1.jsonl").exists() && stage.path("r-2.jsonl").exists());
    check(
        &stage,
        &[
            "--interval",
            "20ms",
            "-o",
            "l.jsonl",
            "--",
            python(),
            "leak.py",
        ],
        1,
    );
}

#[test]
fn a_command_that_fails_is_no_passed_check() {
    let stage = stage();
    let failing = [
        "-o", "r.jsonl", "--junit", "r.xml", "--repeat", "3", "--", "sh", "-c", "exit 7",
    ];
    let answer = check(&stage, &failing, 2);
    assert!(answer.stdout.contains("code 7"), "{answer:?}");
    let junit = std::fs::read_to_string(stage.path("r.xml")).unwrap();
    assert!(
        junit.contains("<error") && junit.contains("code 7"),
        "{junit}"
    );
    assert!(
        !stage.path("r-2.jsonl").exists(),
        "it would only fail again"
    );
    let missing = ["check", "-o", "m.jsonl", "--", "./no-such-command"];
    refused(&stage, &missing, &["no-such-command"]);
}

#[test]
fn a_stop_signal_to_the_check_reaches_the_command() {
    let stage = stage();
    let script = "trap 'echo stopped > stopped; exit 0' TERM; echo started > started; \
                  while :; do sleep 0.05; done";
    let mut command = stage.leveloff(["check", "-o", "r.jsonl", "--", "sh", "-c", script]);
    let child = command.spawn().unwrap();
    wait_until("the command started", || stage.path("started").exists());
    send(&child, Signal::TERM);
    let answer = Ended::of(child);
    assert!(stage.path("stopped").exists(), "{answer:?}");
    assert!(
        answer.stderr.contains("nothing will be checked"),
        "{answer:?}"
    );
}

#[test]
fn two_outputs_have_two_names() {
    let stage = stage();
    let same = ["check", "leak.csv", "--junit", "x.xml", "--gitlab", "x.xml"];
    refused(&stage, &same, &["x.xml", "two outputs"]);
    refused(
        &stage,
        &[
            "report", "leak.csv", "-o", "leak.csv", "--format", "html", "--force",
        ],
        &["leak.csv", "which is read"],
    );
    assert!(
        std::fs::read_to_string(stage.path("leak.csv"))
            .unwrap()
            .starts_with("step,")
    );
}

#[test]
fn a_recording_is_replaced_only_by_force_and_only_if_it_is_one() {
    let stage = stage();
    let run = ["-o", "r.jsonl", "--undecided", "pass", "--", "sleep", "0.5"];
    check(&stage, &run, 0);
    refused(
        &stage,
        &[&["check"], &run[..]].concat(),
        &["r.jsonl exists", "--force"],
    );
    check(&stage, &[&["--force"], &run[..]].concat(), 0);
    stage.file("r.jsonl", "my notes");
    refused(
        &stage,
        &[&["check", "--force"], &run[..]].concat(),
        &["not a recording"],
    );
    assert_eq!(std::fs::read(stage.path("r.jsonl")).unwrap(), b"my notes");
}

#[test]
fn files_and_a_command_exclude_each_other() {
    let stage = stage();
    refused(&stage, &["check"], &["run.jsonl", "-- python"]);
    for arguments in [
        &["check", "level.csv", "--", "true"][..],
        &["check", "level.csv", "--repeat", "3"],
        &["check", "level.csv", "-o", "x.jsonl"],
        &["check", "level.csv", "--self-test"],
    ] {
        refused(&stage, arguments, &[]);
    }
}

#[test]
fn the_gate_tests_itself() {
    let stage = Stage::new();
    let answer = check(&stage, &["--self-test"], 0);
    assert!(answer.stdout.contains("the gate works"), "{answer:?}");
    assert!(
        answer.stdout.contains("a leak of 2 MiB per step: failed"),
        "{answer:?}"
    );
}
