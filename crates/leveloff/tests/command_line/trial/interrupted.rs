//! Ctrl-C keeps what there is, `--resume` goes on with it, and nothing outlives the trial.

use std::process::Child;

use rustix::process::Signal;
use serde_json::Value;

use super::{arm, is_running, stage};
use crate::stage::{Ended, Stage, python, read_until, send, wait_until};

/// Starts a trial whose second change leaks for ever, and waits until that runs.
fn started(stage: &Stage, word: &str) -> Child {
    let own = format!("slow={} leak.py {word}", python());
    let mut child = stage
        .leveloff([
            "try",
            "-o",
            "trial",
            "--arms",
            "none",
            "--interval",
            "50ms",
            "--level-by",
            "40",
            "--env",
            "CURED=1",
            "--arm",
            &own,
            "--",
            python(),
            "leak.py",
        ])
        .spawn()
        .unwrap();
    read_until(child.stderr.as_mut().unwrap(), "slow: running");
    wait_until("the job of the change", || is_running(word));
    child
}

#[test]
fn an_interrupted_trial_says_what_it_knows_and_can_be_resumed() {
    let stage = stage();
    let child = started(&stage, "word-of-interrupted");
    send(&child, Signal::INT);
    let ended = Ended::of(child).never_panicked();
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert!(ended.stdout.contains("--resume"), "{}", ended.stdout);
    assert!(!is_running("word-of-interrupted"));
    let recording = stage.path("trial/control-1.jsonl");
    let before = std::fs::metadata(&recording).unwrap().modified().unwrap();

    let resumed = stage.ask(&[
        "try",
        "--resume",
        "-o",
        "trial",
        "--arms",
        "none",
        "--interval",
        "50ms",
        "--level-by",
        "40",
        "--env",
        "CURED=1",
        "--format",
        "json",
        "--",
        python(),
        "leak.py",
    ]);
    assert_eq!(resumed.status.code(), Some(0), "{resumed:?}");
    let answer: Value = serde_json::from_str(&resumed.stdout).unwrap();
    assert_eq!(arm(&answer, "CURED=1")["effect"], "stops");
    let after = std::fs::metadata(&recording).unwrap().modified().unwrap();
    assert_eq!(before, after, "the control run was repeated");
}

#[test]
fn a_trial_that_is_killed_leaves_nothing_running() {
    let stage = stage();
    let mut child = started(&stage, "word-of-killed");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the end of the job", || !is_running("word-of-killed"));
}

#[test]
fn a_trial_of_another_command_is_not_resumed() {
    let stage = stage();
    let child = started(&stage, "word-of-other");
    send(&child, Signal::INT);
    Ended::of(child).never_panicked();
    let ended = stage.ask(&["try", "--resume", "-o", "trial", "--", "true"]);
    ended.refused(&["a trial of another command", "leak.py"]);
}
