//! leveloff is killed at moments of no one's choosing. `scripts/suites/kill` does it more often.

use std::io::Read;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use crate::recording::Recording;
use crate::sheet::Sheet;
use crate::stage::{Stage, python, wait_until};
use crate::watched_process::WatchedProcess;

const KILLS: u64 = 20;

const LINES: usize = 40;

/// Prints a line every 5 ms, and says in a file that it reached its end.
const PROGRAM: &str = "import sys, time
for i in range(40):
    print('line', i, flush=True)
    time.sleep(0.005)
open('mark', 'w').write('finished')";

/// A moment, the same in every run of the test.
fn moment(attempt: u64) -> Duration {
    let mixed = (attempt + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    Duration::from_micros(mixed % 200_000)
}

/// Kills when the recording has begun and `moment` has passed.
fn kill(child: &mut Child, recording: &Path, moment: Duration) {
    wait_until("the header", || {
        recording.metadata().is_ok_and(|file| file.len() > 0)
    });
    std::thread::sleep(moment);
    let before = Recording::so_far(recording).samples();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(Recording::so_far(recording).samples() >= before);
}

/// Each line that ends is whole, and the reader gets all of them.
fn assert_loads(stage: &Stage, path: &Path) {
    let samples = Recording::load(path).samples();
    let sheet = Sheet::of(stage, path, "tree");
    assert_eq!(sheet.rows.len(), samples);
    Sheet::of(stage, path, "process");
}

fn in_batches(attempt: fn(u64)) {
    const BATCH: u64 = 4;
    for first in (0..KILLS).step_by(BATCH as usize) {
        std::thread::scope(|scope| {
            for number in first..first + BATCH {
                scope.spawn(move || attempt(number));
            }
        });
    }
}

#[test]
fn a_killed_recorder_leaves_a_recording_that_loads() {
    in_batches(|attempt| {
        let (stage, mut process) = (Stage::new(), WatchedProcess::new());
        let pid = process.pid().to_string();
        let arguments = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "10ms"];
        let mut recorder = stage.leveloff(arguments).spawn().unwrap();
        let path = stage.path("run.jsonl");
        kill(&mut recorder, &path, moment(attempt));
        process.is_unharmed();
        assert_loads(&stage, &path);
    });
}

#[test]
fn a_killed_run_leaves_a_recording_that_loads_and_its_command_alone() {
    in_batches(|attempt| {
        let stage = Stage::new();
        let arguments = ["run", "-o", "run.jsonl", "-i", "10ms", "--", python(), "-c"];
        let command = arguments.iter().chain(&[PROGRAM]);
        let mut front = stage.leveloff(command).spawn().unwrap();
        let mut stdout = front.stdout.take().unwrap();
        let mut seen = vec![0; "line 0\n".len()];
        stdout.read_exact(&mut seen).unwrap();
        let path = stage.path("run.jsonl");
        kill(&mut front, &path, moment(attempt));
        stdout.read_to_end(&mut seen).unwrap();
        let wanted: String = (0..LINES).map(|i| format!("line {i}\n")).collect();
        assert_eq!(String::from_utf8_lossy(&seen), wanted, "attempt {attempt}");
        wait_until("the end of the command", || {
            std::fs::read(stage.path("mark")).is_ok_and(|mark| mark == b"finished")
        });
        assert_loads(&stage, &path);
    });
}
