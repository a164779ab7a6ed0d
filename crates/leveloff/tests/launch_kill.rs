//! The front is killed by SIGKILL at random moments; the command must finish, with all its output,
//! and the recording must load.
//!
//! `LEVELOFF_KILLS` says how often; `scripts/suites/kill` asks for a hundred, and for a line of figures
//! from each test in the file that `LEVELOFF_KILL_TABLE` names.

#![allow(clippy::unwrap_used)] // Helpers of tests count as tests.

#[path = "launch_support/terminal.rs"]
mod terminal;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
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
    let stated = std::env::var("LEVELOFF_KILLS")
        .ok()
        .and_then(|n| n.parse().ok());
    stated.unwrap_or(10)
}

/// A moment within the command's life; the same in every run of the test.
fn moment(attempt: u64) -> Duration {
    let mixed = (attempt + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    Duration::from_micros(mixed % 600_000)
}

/// What one kill left behind.
struct Left {
    /// The command had been started.
    started: bool,
    /// Samples that can be read; `None` if there is no recording yet.
    samples: Option<usize>,
    /// The last line is not whole, and ignored.
    torn: bool,
}

fn in_batches(name: &str, attempt: fn(u64) -> Left) {
    const BATCH: u64 = 5;
    let mut all = Vec::new();
    for first in (0..kills()).step_by(BATCH as usize) {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (first..(first + BATCH).min(kills()))
                .map(|number| scope.spawn(move || attempt(number)))
                .collect();
            all.extend(threads.into_iter().map(|thread| thread.join().unwrap()));
        });
    }
    add_to_table(name, &all);
}

/// A line of figures: where, kills, commands that ran (all finished, all output there), recordings
/// that loaded, samples in them, recordings with a torn last line.
fn add_to_table(name: &str, all: &[Left]) {
    let Some(table) = std::env::var_os("LEVELOFF_KILL_TABLE") else {
        return;
    };
    let started = all.iter().filter(|left| left.started).count();
    let loaded = all.iter().filter(|left| left.samples.is_some()).count();
    let samples: usize = all.iter().filter_map(|left| left.samples).sum();
    let torn = all.iter().filter(|left| left.torn).count();
    let kills = all.len();
    let line = format!("{name}\t{kills}\t{started}\t{loaded}\t{samples}\t{torn}\n");
    let mut table = std::fs::File::options()
        .append(true)
        .create(true)
        .open(table)
        .unwrap();
    table.write_all(line.as_bytes()).unwrap();
}

/// Loads the recording with `export`. Every sample whose line is whole has to be in the table.
fn look_at_recording(attempt: u64, recording: &Path) -> (Option<usize>, bool) {
    let bytes = std::fs::read(recording).unwrap_or_default();
    if bytes.is_empty() {
        return (None, false);
    }
    let export = Command::new(LEVELOFF)
        .args(["export", "--scope", "tree", "-o", "-"])
        .arg(recording)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&export.stderr);
    assert!(export.status.success(), "attempt {attempt}: {said}");
    assert_eq!(said, "", "attempt {attempt}");
    let rows = export.stdout.iter().filter(|&&b| b == b'\n').count() - 1;
    let is_whole_sample = |line: &&[u8]| line.starts_with(b"{\"s\":") && line.ends_with(b"\n");
    let samples = bytes
        .split_inclusive(|&b| b == b'\n')
        .filter(is_whole_sample);
    assert_eq!(rows, samples.count(), "attempt {attempt}");
    (Some(rows), !bytes.ends_with(b"\n"))
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

/// A place for one attempt: the command's mark, and the recording.
struct Place {
    _directory: tempfile::TempDir,
    mark: PathBuf,
    recording: PathBuf,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        Place {
            mark: directory.path().join("mark"),
            recording: directory.path().join("run.jsonl"),
            _directory: directory,
        }
    }

    /// `leveloff run` of the program, with many samples in its short life.
    fn command(&self) -> Vec<String> {
        let recording = self.recording.to_str().unwrap();
        let ours = [LEVELOFF, "run", "-i", "20ms", "-o", recording, "--"];
        let theirs = ["python3", "-uc", PROGRAM, self.mark.to_str().unwrap()];
        ours.into_iter().chain(theirs).map(str::to_owned).collect()
    }

    fn left(&self, attempt: u64, started: bool) -> Left {
        let (samples, torn) = look_at_recording(attempt, &self.recording);
        assert!(samples.is_some() || !started, "attempt {attempt}");
        Left {
            started,
            samples,
            torn,
        }
    }
}

fn killed_on_pipes(attempt: u64) -> Left {
    let place = Place::new();
    let words = place.command();
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
    assert_finished(attempt, &place.mark);
    place.left(attempt, true)
}

fn killed_on_a_terminal(attempt: u64) -> Left {
    let place = Place::new();
    let words = place.command();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut terminal = Terminal::new(80, 24);
    let modes = terminal.modes();
    let mut front = terminal.start(&words);
    terminal.wait_for("line 0\r\n");
    kill_after(&mut front, moment(attempt));
    terminal.wait_for(&format!("line {}", LINES - 1));
    assert_all_lines(attempt, &terminal.text());
    while !place.mark.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    terminal.wait_for_modes(&modes);
    place.left(attempt, true)
}

/// Killed while everything is being set up: all or nothing.
fn killed_early(attempt: u64) -> Left {
    let place = Place::new();
    let words = place.command();
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
    let started = !seen.is_empty();
    if started {
        assert_eq!(seen.lines().count(), LINES / 2, "attempt {attempt}");
        assert_finished(attempt, &place.mark);
    }
    place.left(attempt, started)
}

#[test]
fn a_command_on_pipes_survives_the_front() {
    in_batches("pipes", killed_on_pipes);
}

#[test]
fn a_command_on_a_terminal_survives_the_front() {
    in_batches("terminal", killed_on_a_terminal);
}

#[test]
fn a_front_that_is_killed_at_once_leaves_all_or_nothing() {
    in_batches("early", killed_early);
}
