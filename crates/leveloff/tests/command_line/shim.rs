//! What stands before a command: shims that become it, wrappers that wait for it. Whatever comes
//! and goes on the way, the trainer is the program that does the work, and its samples are judged.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::Value;

use crate::recording::Recording;
use crate::stage::{Ended, Stage, python, read_until, wait_until};

/// Grows by a megabyte for each line of input, and confirms it.
const TRAINING: &str = "import sys
held = []
print('step 0 loss 0.5', flush=True)
for line in sys.stdin:
    held.append(b'x' * (1 << 20))
    print('step', len(held), 'loss 0.5', flush=True)";

/// Bigger than any shell; says who it is, and goes when it has been seen.
const HELPER: &str = "import os
held = b'x' * (4 << 20)
print('helper', os.getpid(), flush=True)
os.read(0, 1)";

/// A wrapper as conda is one: bigger than what it starts, through a shell.
const CONDA: &str = "import subprocess, sys
held = b'x' * (40 << 20)
sys.exit(subprocess.call(['sh', '-c', '\"$@\"; exit $?', 'sh'] + sys.argv[2:]))";

const STEPS: u64 = 40;

/// A run whose command is not the program that trains.
struct Wrapped {
    stage: Stage,
    child: Child,
    orders: ChildStdin,
    answers: ChildStdout,
    recording: PathBuf,
}

impl Wrapped {
    /// Runs a command, in which PYTHON is the interpreter itself, beside training.py, helper.py and
    /// conda.
    fn start(command: &[&str], scripts: &[(&str, &str)]) -> Wrapped {
        let stage = Stage::new();
        let programs = [
            ("training.py", TRAINING),
            ("helper.py", HELPER),
            ("conda", CONDA),
        ];
        for (name, text) in programs.iter().chain(scripts) {
            stage.file(name, text.replace("PYTHON", python()));
        }
        let words = command.iter().map(|word| word.replace("PYTHON", python()));
        let common = ["run", "-o", "run.jsonl", "-i", "20ms", "--"];
        let command: Vec<String> = common.map(str::to_owned).into_iter().chain(words).collect();
        let mut child = stage
            .leveloff(&command)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        Wrapped {
            orders: child.stdin.take().unwrap(),
            answers: child.stdout.take().unwrap(),
            recording: stage.path("run.jsonl"),
            child,
            stage,
        }
    }

    /// Lets a helper go once it is in the recording.
    fn let_helper_pass(&mut self) {
        let said = read_until(&mut self.answers, "helper ");
        let pid = said.trim().rsplit(' ').next().unwrap().parse().unwrap();
        wait_until("the helper in the recording", || {
            Recording::so_far(&self.recording).has_process(pid)
        });
        self.orders.write_all(b"\n").unwrap();
    }

    /// Trains for as many steps once the trainer is known, each step in a sample.
    fn train(&mut self, steps: u64) {
        read_until(&mut self.answers, "step 0");
        wait_until("training.py as the trainer", || {
            role_of_training(&Recording::so_far(&self.recording)).as_deref() == Some("trainer")
        });
        for step in 1..=steps {
            self.orders.write_all(b"\n").unwrap();
            wait_until(&format!("step {step}"), || {
                Recording::so_far(&self.recording).step() == Some(step)
            });
        }
    }

    /// Ends it: what stands in the recording, and how it is judged.
    fn end(self) -> (Recording, Value) {
        drop((self.orders, self.answers));
        Ended::of(self.child).well();
        let judged = self.stage.ask(&["judge", "--format", "json", "run.jsonl"]);
        let verdict = serde_json::from_str(&judged.stdout).unwrap();
        (Recording::load(&self.recording), verdict)
    }
}

/// The last recorded role of the process that runs training.py itself.
fn role_of_training(recording: &Recording) -> Option<String> {
    let runs_it = |row: &&Value| row["cmd"][0] == python() && row["cmd"][1] == "training.py";
    let rows = recording.process_rows();
    let row = rows.into_iter().rfind(runs_it)?;
    row["role"].as_str().map(str::to_owned)
}

#[track_caller]
fn check(command: &[&str], scripts: &[(&str, &str)], helpers: u32) {
    let mut run = Wrapped::start(command, scripts);
    for _ in 0..helpers {
        run.let_helper_pass();
    }
    run.train(STEPS);
    let (recording, verdict) = run.end();
    assert_eq!(role_of_training(&recording).as_deref(), Some("trainer"));
    let number = |key: &str| verdict[key].as_u64().unwrap();
    assert_eq!(verdict["x_unit"], "step", "{verdict}");
    // The last step may have come just before the end.
    assert!(number("points") >= STEPS - 1, "{verdict}");
    assert!(number("last_x") >= STEPS - 1, "{verdict}");
    assert!(number("peak_bytes") >= (STEPS - 1) << 20, "{verdict}");
    assert_eq!(verdict["blame"][0]["role"], "trainer", "{verdict}");
}

#[test]
fn a_shim_becomes_the_trainer() {
    let shim = "for word in a b c d e f; do found=$(echo $word | tr a-f A-F); done
        PYTHON helper.py; PYTHON helper.py
        exec PYTHON training.py";
    check(&["sh", "shim"], &[("shim", shim)], 2);
}

#[test]
fn a_shim_of_shims_becomes_the_trainer() {
    let outer = "PYTHON helper.py; exec env bash inner";
    let inner = "where=$(PYTHON helper.py >&2 </dev/null; echo PYTHON)
        exec \"$where\" training.py";
    check(&["bash", "outer"], &[("outer", outer), ("inner", inner)], 1);
}

#[test]
fn the_trainer_below_a_script_that_waits_is_found() {
    let script = "PYTHON helper.py; PYTHON training.py; exit $?";
    check(&["sh", "script"], &[("script", script)], 1);
}

#[test]
fn the_trainer_below_a_command_line_is_found() {
    check(&["bash", "-c", "PYTHON training.py; true"], &[], 0);
}

#[test]
fn the_trainer_below_a_bigger_wrapper_is_found() {
    check(&["PYTHON", "conda", "run", "PYTHON", "training.py"], &[], 0);
}

#[test]
fn the_trainer_is_whatever_python3_is_here() {
    check(&["python3", "training.py"], &[], 0);
}
