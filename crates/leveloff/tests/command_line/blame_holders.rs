//! `leveloff run --blame=holders`: what keeps the memory that a line allocates.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::stage::{Ended, Stage, cannot_run_here, python, wait_until};

/// Steps until the input ends. The case's own lines make an object `kept` each.
const TRAINING: &str = "import functools, select, sys
sys.path.insert(0, PACKAGE)
import leveloff
outs, index = [], {}
class Trainer:
    def __init__(self):
        self.history = []
class Record:
    __slots__ = ('data',)
    def __init__(self, data):
        self.data = data
trainer = Trainer()
def closure():
    seen = []
    return lambda thing: seen.append(thing)
keep = closure()
@functools.lru_cache(None)
def cached(step):
    return make()
def make():
    return bytearray(100_000)
def main():
    here, step = [], 0
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        step += 1
        CASE
        leveloff.step(step)
main()
sys.exit(leveloff_ended())
";

/// Readings after the holder.
const READINGS: usize = 3;

/// Runs a training that keeps memory in this way until the recording has a holder; returns that.
fn holder(stage: &Stage, python: &Path, case: &str) -> Value {
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python");
    let source = TRAINING
        .replace("PACKAGE", &format!("{package:?}"))
        .replace("CASE", case)
        .replace("leveloff_ended()", "3");
    let program = stage.file("train.py", &source);
    let recording = stage.path("run.jsonl");
    let _ = std::fs::remove_file(&recording);
    let arguments = [
        "run",
        "--blame=holders",
        "-i",
        "100ms",
        "-o",
        "run.jsonl",
        "--",
    ];
    let mut command = stage.leveloff(arguments);
    command
        .arg(python)
        .arg(program)
        .env("LEVELOFF_BLAME_PERIOD", "65536");
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::piped()).spawn().unwrap();
    // Growth is counted between readings, so there have to be some.
    wait_until("a holder, and readings after it", || {
        let text = std::fs::read_to_string(&recording).unwrap_or_default();
        let lines = text.lines();
        let mut after = lines.skip_while(|line| !line.starts_with("{\"holder\""));
        let is_reading = |line: &&str| line.starts_with("{\"held\"");
        after.by_ref().filter(is_reading).count() >= READINGS
    });
    drop(child.stdin.take());
    let ended = Ended::of(child);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    let judged = stage
        .leveloff(["judge", "--format", "json", "run.jsonl"])
        .output();
    let judged: Value = serde_json::from_slice(&judged.unwrap().stdout).unwrap();
    let lines = judged["lines"].as_array().unwrap();
    let held = lines.iter().find(|line| !line["holder"].is_null());
    held.unwrap_or_else(|| panic!("{judged}"))["holder"].clone()
}

#[track_caller]
fn check(case: &str, expected: [&str; 4]) {
    let stage = Stage::new();
    let holder = holder(&stage, Path::new(&python()), case);
    let names = ["class", "kind", "name", "place"].map(|name| holder[name].as_str().unwrap_or("-"));
    assert_eq!(names, expected, "{holder}");
    let [kept, looked_at] = ["blocks_kept", "blocks_looked_at"].map(|it| holder[it].as_u64());
    assert!(kept > Some(4) && kept <= looked_at, "{holder}");
}

#[test]
fn a_global_list() {
    check(
        "outs.append(make())",
        ["list", "global", "outs", "train.py"],
    );
}

#[test]
fn a_global_dictionary() {
    check(
        "index[step] = make()",
        ["dict", "global", "index", "train.py"],
    );
}

#[test]
fn an_attribute() {
    check(
        "trainer.history.append(make())",
        ["list", "attribute", "history", "Trainer"],
    );
}

#[test]
fn a_closure() {
    check(
        "keep(make())",
        ["list", "closure", "seen", "closure.lambda"],
    );
}

#[test]
fn a_cache_of_functools() {
    check("cached(step)", ["dict", "cache", "cached", "train.py"]);
}

#[test]
fn a_variable_of_a_function_that_runs() {
    check(
        "here.append(make())",
        ["list", "local", "here", "main, train.py"],
    );
}

#[test]
fn objects_within_objects() {
    check(
        "outs.append((step, Record(make())))",
        ["list", "global", "outs", "train.py"],
    );
}

#[test]
fn arrays_of_numpy() {
    let stage = Stage::new();
    let has_numpy = std::process::Command::new(python())
        .args(["-c", "import numpy"])
        .stderr(Stdio::null())
        .status();
    if !has_numpy.is_ok_and(|status| status.success()) {
        return cannot_run_here("there is no numpy");
    }
    let case = "import numpy; index[step] = numpy.ones(12_500)";
    let holder = holder(&stage, Path::new(&python()), case);
    assert_eq!(holder["name"], "index", "{holder}");
}
