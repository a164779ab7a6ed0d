//! `leveloff blame --pid`: a Python program that runs already. Needs a Python 3.14, which `LEVELOFF_PYTHON_3_14` may name.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::stage::{Stage, cannot_run_here, ended, python, send, wait_until};

/// Keeps more and more, with a library that is loaded later, until a file says to stop. The file `work` restarts the work.
const KEEPS: &str = "import os, sys, time
kept = []
def keep():
    kept.append(bytearray(100_000))
print('ready', flush=True)
while not os.path.exists('stop'):
    keep()
    time.sleep(0.002)
    if len(kept) == 100:
        import sqlite3
        sqlite3.connect(':memory:').execute('create table t(x)')
print(sum(map(len, kept)) == 100_000 * len(kept))
print('library' if 'LEVELOFF' in str(dict(globals())).upper() else 'nothing left')
sys.exit(5)
";

/// Python 3.14, or 77 in its place.
fn python_3_14() -> Option<PathBuf> {
    let named = std::env::var_os("LEVELOFF_PYTHON_3_14").map(PathBuf::from);
    let candidate = named.unwrap_or_else(|| PathBuf::from("python3.14"));
    let check =
        "import sys, ctypes; sys.exit(sys.version_info < (3, 14) or not sys._is_gil_enabled())";
    let tried = Command::new(&candidate).args(["-c", check]).output();
    tried
        .is_ok_and(|it| it.status.success())
        .then_some(candidate)
}

fn started(stage: &Stage, python: &PathBuf) -> Child {
    let script = stage.file("keeps.py", KEEPS);
    let mut command = Command::new(python);
    command.arg(script).current_dir(stage.directory());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::with_capacity(1, child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child.stdout = Some(output.into_inner());
    child
}

/// What is mapped of the library's segments.
fn mapped_segments(child: &Child) -> usize {
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap();
    let is_segment = |line: &&str| line.contains("leveloff-blame-") && !line.contains(".so");
    maps.lines().filter(is_segment).count()
}

#[test]
fn the_line_is_named_and_everything_is_put_back() {
    let Some(python) = python_3_14() else {
        return cannot_run_here("there is no Python 3.14 (LEVELOFF_PYTHON_3_14 may name one)");
    };
    let stage = Stage::new();
    let child = started(&stage, &python);
    let pid = child.id().to_string();
    let arguments = ["blame", "--yes", "--recording", "run.jsonl", "--pid", &pid];
    let mut command = stage.leveloff(arguments);
    command.env("LEVELOFF_BLAME_PERIOD", "65536");
    let leveloff = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("a segment and a reading", || {
        let text = std::fs::read_to_string(stage.path("run.jsonl")).unwrap_or_default();
        text.lines()
            .filter(|line| line.starts_with("{\"alloc\""))
            .count()
            > 2
    });
    assert!(mapped_segments(&child) > 0);
    send(&leveloff, rustix::process::Signal::INT);
    let output = leveloff.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text.contains("keeps.py:4 in keep"), "{output:?}");
    assert_eq!(mapped_segments(&child), 0, "the segment is still mapped");
    stage.file("stop", "");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "True\nnothing left\n"
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn without_a_yes_nothing_is_done() {
    let Some(python) = python_3_14() else {
        return cannot_run_here("there is no Python 3.14 (LEVELOFF_PYTHON_3_14 may name one)");
    };
    let stage = Stage::new();
    let child = started(&stage, &python);
    let mut command = stage.leveloff(["blame", "--pid", &child.id().to_string()]);
    ended(&mut command).refused(&["pass --yes"]);
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap();
    assert!(!maps.contains("leveloff"), "{maps}");
    stage.file("stop", "");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(5));
}

#[test]
fn an_older_python_is_output_what_is_possible() {
    let stage = Stage::new();
    let version = "import sys; sys.exit(sys.version_info >= (3, 14))";
    if !Command::new(python())
        .args(["-c", version])
        .status()
        .unwrap()
        .success()
    {
        return cannot_run_here("python3 is 3.14 or later");
    }
    let child = started(&stage, &PathBuf::from(python()));
    let mut command = stage.leveloff(["blame", "--yes", "--pid", &child.id().to_string()]);
    ended(&mut command).refused(&["memray attach", "leveloff run --blame"]);
    stage.file("stop", "");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(5));
}
