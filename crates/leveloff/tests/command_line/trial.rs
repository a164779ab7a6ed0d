//! `leveloff try`: what stops the growth of a job, and what is refused.

mod broken;
mod interrupted;
mod python;
mod versions;

use serde_json::Value;

use crate::check::refused;
use crate::stage::{Ended, Stage, python};

/// Counts steps and keeps 256 KiB at each, unless CURED is set.
const LEAK: &str = "\
import os, sys, time
kept = []
for step in range(1, 2000):
    if not os.environ.get('CURED'):
        kept.append(bytearray(b'x' * (1 << 18)))
    print(f'step {step} loss 0.5', flush=True)
    time.sleep(0.005)
";

fn stage() -> Stage {
    let stage = Stage::new();
    stage.file("leak.py", LEAK);
    stage
}

/// How a change went.
fn arm<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let arms = answer["arms"].as_array().unwrap();
    let arm = arms.iter().find(|arm| arm["name"] == name);
    arm.unwrap_or_else(|| panic!("no change {name} in {answer:#}"))
}

/// Whether a process with this word among its arguments is alive.
fn is_running(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut commands = processes.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
    commands.any(|command| {
        command
            .split(|byte| *byte == 0)
            .any(|it| it == word.as_bytes())
    })
}

/// The answer of a short trial.
fn answer(stage: &Stage, options: &[&str], command: &[&str]) -> (Ended, Value) {
    let fixed = [
        "try",
        "-o",
        "trial",
        "--arms",
        "none",
        "--format",
        "json",
        "--interval",
        "50ms",
    ];
    let arguments = [&fixed, options, &["--"], command].concat();
    let ended = stage.ask(&arguments).never_panicked();
    let answer = serde_json::from_str(&ended.stdout).unwrap_or(Value::Null);
    (ended, answer)
}

#[test]
fn the_change_that_stops_the_growth_is_found_and_the_other_is_not_credited() {
    let stage = stage();
    let changes = ["--env", "CURED=1", "--env", "OTHER=1", "--level-by", "40"];
    let (ended, answer) = answer(&stage, &changes, &[python(), "leak.py"]);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(answer["outcome"], "stopped", "{answer:#}");
    let effect = |name: &str| {
        let arms = answer["arms"].as_array().unwrap();
        let arm = arms.iter().find(|arm| arm["name"] == name).unwrap();
        (arm["effect"].clone(), arm["runs"].clone())
    };
    assert_eq!(effect("CURED=1"), ("stops".into(), 2.into()));
    assert_eq!(effect("OTHER=1").0, "none");
    let recordings = &answer["control"]["recordings"];
    assert_eq!(recordings.as_array().unwrap().len(), 2);
    assert!(stage.path("trial/control-1.log").is_file());
    let kept = |name: &str| std::fs::read_to_string(stage.path("trial").join(name)).unwrap();
    let page = kept("answer.html");
    // What the script of the page needs to draw.
    for id in ["chart", "legend", "controls", "csv", "theme"] {
        assert!(page.contains(&format!("id=\"{id}\"")), "no {id}");
    }
    for run in ["control 2", "CURED=1 2", "OTHER=1"] {
        assert!(
            page.contains(&format!("\"name\":\"{run}\"")),
            "no curve of {run}"
        );
    }
    assert!(
        kept("answer.md").contains("| `CURED=1` | stops |"),
        "{}",
        kept("answer.md")
    );
    assert_eq!(
        serde_json::from_str::<Value>(&kept("answer.json")).unwrap(),
        answer
    );
    let speed = &answer["control"]["steps_per_second"];
    assert!(speed["low"].as_f64() < speed["value"].as_f64(), "{speed}");
}

#[test]
fn side_by_side_the_answer_is_the_same_and_speeds_are_not_compared() {
    let stage = stage();
    let changes = [
        "--env",
        "CURED=1",
        "--env",
        "OTHER=1",
        "--level-by",
        "40",
        "-j",
        "2",
    ];
    let (ended, answer) = answer(&stage, &changes, &[python(), "leak.py"]);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(arm(&answer, "CURED=1")["effect"], "stops");
    assert_eq!(arm(&answer, "OTHER=1")["effect"], "none");
    assert!(arm(&answer, "OTHER=1")["speed"].is_null());
    assert!(answer["notes"].to_string().contains("side by side"));
}

#[test]
fn a_job_that_does_not_leak_has_nothing_to_cure() {
    let stage = stage();
    let mut command = stage.leveloff([
        "try",
        "-o",
        "trial",
        "--arms",
        "none",
        "--env",
        "A=1",
        "--interval",
        "50ms",
        "--",
        python(),
        "leak.py",
    ]);
    let ended = crate::stage::ended(command.env("CURED", "1"));
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert!(!ended.stdout.contains("stops with"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("not tried"), "{}", ended.stdout);
    assert!(!stage.path("trial/A_1-1.jsonl").exists());
}

#[test]
fn a_job_that_fails_says_where_its_output_is() {
    let stage = Stage::new();
    let ended = stage.ask(&["try", "-o", "trial", "--", "sh", "-c", "exit 7"]);
    ended.refused(&["ended with code 7", "trial/control-1.log"]);
}

#[test]
fn what_cannot_be_tried_is_refused_before_anything_runs() {
    let stage = Stage::new();
    let refused = |options: &[&str], words: &[&str]| {
        refused(
            &stage,
            &[&["try"], options, &["--", "true"]].concat(),
            words,
        );
        assert!(
            std::fs::read_dir(stage.directory())
                .unwrap()
                .next()
                .is_none()
        );
    };
    refused(&["--arms", "no-compiler"], &["did you mean 'no-compile'?"]);
    refused(&["--arms", "none"], &["nothing to try"]);
    refused(&["--arms", "all,one-arena"], &["--arms all stands alone"]);
    refused(&["--arms", "one-arena,one-arena"], &["'one-arena' twice"]);
    refused(&["--arm", "nameless"], &["--arm wants a name"]);
    refused(
        &["--env", "A=1", "--env", "A=1"],
        &["two changes are called"],
    );
    refused(&["--python", "no/python"], &["does not exist"]);
    refused(&["--resume", "-o", "nothing"], &["no trial to resume"]);
    refused(&["--bisect", "torch"], &["torch==2.6,2.7,2.8"]);
    refused(
        &["--bisect", "torch==2.6"],
        &["which is no python but true"],
    );
    refused(
        &["--env", "A=1", "--env", "A_1=x", "--arm", "A_1=true"],
        &["two changes"],
    );
}

#[test]
fn a_directory_that_exists_is_not_written_to() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("trial")).unwrap();
    let ended = stage.ask(&["try", "-o", "trial", "--", "true"]);
    ended.refused(&["cannot create the directory trial", "--resume"]);
}

#[test]
fn the_plan_runs_nothing() {
    let stage = Stage::new();
    let ended = stage.ask(&[
        "try",
        "--plan",
        "--arms",
        "no-compile",
        "--",
        "touch",
        "ran",
    ]);
    let plan: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(plan["arms"][0]["variables"]["TORCH_COMPILE_DISABLE"], "1");
    assert_eq!(plan["arms"][0]["family"], "compiler");
    assert_eq!(plan["control"], serde_json::json!(["touch", "ran"]));
    assert!(!stage.path("ran").exists());
}

#[test]
fn every_change_is_explained() {
    let ended = Stage::new().ask(&["try", "--list"]);
    for name in [
        "no-compile",
        "one-arena",
        "collect-garbage",
        "no-workers",
        "jemalloc",
    ] {
        assert!(ended.stdout.contains(&format!("\n{name}\n")) || ended.stdout.starts_with(name));
    }
}
