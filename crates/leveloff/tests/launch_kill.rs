//! The front is killed by SIGKILL at random moments; the command must finish, with all its output.
//!
//! `LEVELOFF_KILLS` says how often; `scripts/test-kill` asks for a hundred.

#![allow(clippy::unwrap_used)] // Helpers of tests count as tests.

#[path = "launch_support/terminal.rs"]
mod terminal;

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use terminal::{LEVELOFF, Terminal};

const LINES: usize = 60;

/// Prints a line every 10 ms, and says in a file that it reached its end.
const PROGRAM: &str = "import sys, time
for i in range(60):
    print('line', i, file=(sys.stdout, sys.stderr)[i % 2])
    time.sleep(0.01)
open(sys.argv[1], 'w').write('finished')";

fn kills() -> u64 {
    let asked = std::env::var("LEVELOFF_KILLS")
        .ok()
        .and_then(|n| n.parse().ok());
    asked.unwrap_or(10)
}

/// A moment within the command's life; the same in every run of the test.
fn moment(attempt: u64) -> Duration {
    let mixed = (attempt + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    Duration::from_micros(mixed % 600_000)
}

fn in_batches(attempt: fn(u64)) {
    const BATCH: u64 = 5;
    for first in (0..kills()).step_by(BATCH as usize) {
        std::thread::scope(|scope| {
            for number in first..(first + BATCH).min(kills()) {
                scope.spawn(move || attempt(number));
            }
        });
    }
}

fn kill_after(front: &mut Child, moment: Duration) {
    std::thread::sleep(moment);
    front.kill().unwrap();
    front.wait().unwrap();
}

fn assert_finished(attempt: u64, mark: &Path) {
    // The mark is written right after the last line; output ends when the command does.
    let finished = std::fs::read_to_string(mark).unwrap_or_default();
    assert_eq!(finished, "finished", "attempt {attempt}");
}

fn assert_all_lines(attempt: u64, seen: &str) {
    let numbers: Vec<usize> = seen
        .lines()
        .filter_map(|line| line.trim_end().strip_prefix("line ")?.parse().ok())
        .collect();
    assert_eq!(numbers, (0..LINES).collect::<Vec<_>>(), "attempt {attempt}");
}

fn command(mark: &Path) -> Vec<String> {
    let words = [LEVELOFF, "run", "--", "python3", "-uc", PROGRAM];
    words
        .into_iter()
        .map(str::to_owned)
        .chain([mark.to_str().unwrap().to_owned()])
        .collect()
}

fn killed_on_pipes(attempt: u64) {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("mark");
    let words = command(&mark);
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let mut front = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::from(writer.try_clone().unwrap()))
        .stderr(Stdio::from(writer))
        .spawn()
        .unwrap();
    let mut output = std::fs::File::from(reader);
    let mut seen = vec![0; "line 0\n".len()];
    output.read_exact(&mut seen).unwrap();
    kill_after(&mut front, moment(attempt));
    output.read_to_end(&mut seen).unwrap();
    assert_all_lines(attempt, &String::from_utf8_lossy(&seen));
    assert_finished(attempt, &mark);
}

fn killed_on_a_terminal(attempt: u64) {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("mark");
    let words = command(&mark);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut terminal = Terminal::new(80, 24);
    let modes = terminal.modes();
    let mut front = terminal.start(&words);
    terminal.wait_for("line 0\r\n");
    kill_after(&mut front, moment(attempt));
    terminal.wait_for(&format!("line {}", LINES - 1));
    assert_all_lines(attempt, &terminal.text());
    while !mark.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    terminal.wait_for_modes(&modes);
}

/// Killed while everything is being set up: all or nothing.
fn killed_early(attempt: u64) {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("mark");
    let words = command(&mark);
    let mut front = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = front.stdout.take().unwrap();
    kill_after(&mut front, moment(attempt) / 50);
    let mut seen = String::new();
    stdout.read_to_string(&mut seen).unwrap();
    if !seen.is_empty() {
        assert_eq!(seen.lines().count(), LINES / 2, "attempt {attempt}");
        assert_finished(attempt, &mark);
    }
}

#[test]
fn a_command_on_pipes_survives_the_front() {
    in_batches(killed_on_pipes);
}

#[test]
fn a_command_on_a_terminal_survives_the_front() {
    in_batches(killed_on_a_terminal);
}

#[test]
fn a_front_that_is_killed_at_once_leaves_all_or_nothing() {
    in_batches(killed_early);
}
