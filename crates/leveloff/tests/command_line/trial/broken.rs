//! Changes and jobs that fail in every way: each is said, and nothing is left running.

use super::{LEAK, answer, arm, is_running, stage};
use crate::stage::{Stage, python};

const SHORT: [&str; 4] = ["--level-by", "40", "--max-time", "60s"];

#[test]
fn a_change_that_fails_says_how_and_the_others_are_measured() {
    let stage = stage();
    let lacks = format!("lacks={} -c 'import no_such_package'", python());
    let changes = [
        "--arm",
        "exits=exit 7",
        "--arm",
        "crashes=kill -SEGV $$",
        "--arm",
        &lacks,
        "--env",
        "CURED=1",
    ];
    let options = [&SHORT[..], &changes].concat();
    let (ended, answer) = answer(&stage, &options, &[python(), "leak.py"]);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let why = |name: &str| {
        arm(&answer, name)["why"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(arm(&answer, "exits")["state"], "failed");
    assert!(why("exits").contains("code 7"), "{}", why("exits"));
    assert!(why("crashes").contains("signal 11"), "{}", why("crashes"));
    assert!(
        why("lacks").contains("No module named 'no_such_package'"),
        "{}",
        why("lacks")
    );
    assert_eq!(arm(&answer, "CURED=1")["effect"], "stops");
}

#[test]
fn a_change_that_hangs_is_ended() {
    let stage = stage();
    let changes = ["--arm", "hangs=exec sleep 613.25", "--patience", "1s"];
    let options = [&SHORT[..], &changes].concat();
    let (ended, answer) = answer(&stage, &options, &[python(), "leak.py"]);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    let why = arm(&answer, "hangs")["why"].as_str().unwrap();
    assert!(why.contains("no step of it was counted"), "{why}");
    assert!(!is_running("613.25"));
}

#[test]
fn a_change_that_stops_after_a_step_is_ended() {
    let stage = stage();
    let stuck = "stuck=echo step 1 loss 0.5; echo step 2 loss 0.5; exec sleep 615.25";
    let options = [&SHORT[..], &["--arm", stuck, "--patience", "1s"]].concat();
    let (ended, answer) = answer(&stage, &options, &[python(), "leak.py"]);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    let state = arm(&answer, "stuck");
    assert_eq!(state["state"], "failed", "{answer:#}");
    assert!(!is_running("615.25"));
}

#[test]
fn a_job_that_never_counts_a_step_is_ended_with_advice() {
    let stage = Stage::new();
    let options = ["--env", "A=1", "--max-time", "2s"];
    let (ended, answer) = answer(&stage, &options, &["sleep", "614.25"]);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert_eq!(answer["outcome"], "control_undecided", "{answer:#}");
    assert!(answer["next"].as_str().unwrap().contains("--step-regex"));
    assert!(answer["notes"].to_string().contains("--max-time"));
    assert!(!is_running("614.25"));
}

#[test]
fn a_job_that_is_killed_is_no_answer() {
    let stage = Stage::new();
    let ended = stage.ask(&["try", "-o", "trial", "--", "sh", "-c", "kill -9 $$"]);
    ended.refused(&["ended by signal 9", "trial/control-1.log"]);
}

#[test]
fn a_command_that_does_not_exist_is_no_answer() {
    let stage = Stage::new();
    let ended = stage.ask(&["try", "-o", "trial", "--", "no-such-command"]);
    ended.refused(&["the control run failed", "cannot start 'no-such-command'"]);
}

#[test]
fn a_change_that_ends_at_once_was_not_measured() {
    let stage = stage();
    stage.file("leak.py", LEAK);
    let options = [&SHORT[..], &["--arm", "short=true"]].concat();
    let (ended, answer) = answer(&stage, &options, &[python(), "leak.py"]);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert_eq!(arm(&answer, "short")["state"], "failed");
}
