use std::fs::{self, FileTimes, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::progress::{MarkKind, ProgressSource, StepSource};
use leveloff_model::units::{Seconds, Step};

use crate::proc_root::ProcRoot;
use crate::progress::{ProgressOptions, ProgressTracker};

const EVENTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/tensorboard/events.out.tfevents.torch"
);

/// A process that stands in for a training whose output goes to /dev/null. It runs in a directory of its own and has
/// one file open for writing, into which it copies what it is sent.
struct Training {
    dir: tempfile::TempDir,
    child: Child,
}

impl Training {
    /// `file` is what it writes.
    fn that_writes(file: &str) -> Training {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(file);
        let child = Command::new("tee")
            .arg(&path)
            .current_dir(dir.path())
            .env("LEVELOFF_MARKS", dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !path.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Training { dir, child }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    fn print(&mut self, text: &str, file: &str) {
        let length = fs::metadata(self.path(file)).unwrap().len() + text.len() as u64;
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        while fs::metadata(self.path(file)).unwrap().len() < length {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn put(&self, file: &str, content: impl AsRef<[u8]>) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn tracker(&self) -> ProgressTracker {
        let mut tracker = ProgressTracker::new(ProgressOptions::default()).unwrap();
        let pid = Pid(self.child.id() as i32);
        tracker.watch_process(&ProcRoot::live(), ProcessIndex(0), pid, None);
        tracker
    }
}

impl Drop for Training {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Polls each second up to `t`, as a recording does; returns the marks.
fn poll_until(tracker: &mut ProgressTracker, from: u32, t: u32) -> Vec<MarkKind> {
    let marks = (from..=t).flat_map(|t| {
        let poll = tracker.poll(Seconds(f64::from(t)), SystemTime::now());
        assert!(poll.gaps.is_empty(), "{:?}", poll.gaps);
        poll.marks
    });
    marks.map(|mark| mark.kind).collect()
}

fn source(tracker: &ProgressTracker) -> (ProgressSource, String) {
    let StepSource { kind, file, .. } = tracker.progress().source.clone().unwrap();
    let path = file.unwrap();
    let name = Path::new(&path).file_name().unwrap();
    (kind, name.to_str().unwrap().to_owned())
}

fn lines(range: std::ops::Range<u64>) -> String {
    range.map(|n| format!("step {n}: loss 2.5\n")).collect()
}

#[test]
fn a_log_that_the_training_has_open_is_followed() {
    let mut training = Training::that_writes("events_of_today.log");
    training.print("hello\n", "events_of_today.log");
    let mut tracker = training.tracker();
    poll_until(&mut tracker, 0, 4);
    assert_eq!(tracker.progress().step, None, "no step, no source");
    training.print(&lines(1..9), "events_of_today.log");
    poll_until(&mut tracker, 5, 12);
    assert_eq!(tracker.progress().step, Some(Step(8)));
    let expected = (ProgressSource::Log, "events_of_today.log".to_owned());
    assert_eq!(source(&tracker), expected);
    training.print(&lines(9..30), "events_of_today.log");
    poll_until(&mut tracker, 13, 13);
    assert_eq!(tracker.progress().step, Some(Step(29)));
}

#[test]
fn lightnings_table_is_found_below_the_working_directory() {
    let training = Training::that_writes("notes.md");
    let table = "lightning_logs/version_3/metrics.csv";
    training.put(table, "epoch,step,train_loss\n0,49,2.5\n");
    let mut tracker = training.tracker();
    poll_until(&mut tracker, 0, 3);
    assert_eq!(tracker.progress().step, Some(Step(49)));
    let expected = (ProgressSource::Metrics, "metrics.csv".to_owned());
    assert_eq!(source(&tracker), expected);
    // Lightning writes the whole table again when there is another column.
    let rewritten = "epoch,lr,step,train_loss\n0,,49,2.5\n0,0.1,99,2.0\n";
    training.put(table, rewritten);
    poll_until(&mut tracker, 4, 5);
    assert_eq!(tracker.progress().step, Some(Step(99)));
    assert_eq!(tracker.progress().epoch, Some(0.0));
}

#[test]
fn the_state_of_a_checkpoint_has_the_plan() {
    let training = Training::that_writes("notes.md");
    let state = "{\n  \"epoch\": 1.0,\n  \"global_step\": 500,\n  \"max_steps\": 1500\n}\n";
    training.put("out/checkpoint-500/trainer_state.json", state);
    let mut tracker = training.tracker();
    poll_until(&mut tracker, 0, 3);
    assert_eq!(tracker.progress().step, Some(Step(500)));
    assert_eq!(tracker.progress().planned_steps, Some(Step(1500)));
    let later = state.replace("500,", "1000,");
    training.put("out/checkpoint-1000/trainer_state.json", later);
    poll_until(&mut tracker, 4, 4);
    assert_eq!(tracker.progress().step, Some(Step(1000)));
}

#[test]
fn a_livelier_kind_of_file_is_preferred_and_a_better_one_takes_over() {
    let mut training = Training::that_writes("train.log");
    let events = fs::read(EVENTS).unwrap();
    training.put("runs/today/events.out.tfevents.4102444800.host", &events);
    let mut tracker = training.tracker();
    poll_until(&mut tracker, 0, 3);
    assert_eq!(tracker.progress().step, Some(Step(590)));
    assert_eq!(source(&tracker).0, ProgressSource::TensorBoard);
    training.print(&lines(595..600), "train.log");
    poll_until(&mut tracker, 4, 12);
    assert_eq!(tracker.progress().step, Some(Step(599)));
    assert_eq!(source(&tracker).0, ProgressSource::Log);
}

#[test]
fn events_of_a_run_that_began_before_are_not_followed() {
    let training = Training::that_writes("train.log");
    let events = fs::read(EVENTS).unwrap();
    // It was modified just now: the other run goes on.
    training.put("runs/other/events.out.tfevents.1700000000.host", &events);
    let mut tracker = training.tracker();
    poll_until(&mut tracker, 0, 3);
    assert_eq!(tracker.progress().step, None);
}

#[test]
fn a_file_that_stands_still_is_given_up_for_one_that_moves() {
    let mut training = Training::that_writes("train.log");
    training.put("old.log", lines(1..900));
    let mut tracker = training.tracker();
    poll_until(&mut tracker, 0, 3);
    assert_eq!(tracker.progress().step, Some(Step(899)));
    let mut marks = Vec::new();
    for t in 4..80 {
        training.print(&lines(t..t + 1), "train.log");
        marks.extend(poll_until(&mut tracker, t as u32, t as u32));
    }
    assert_eq!(tracker.progress().step, Some(Step(79)));
    let clocks = marks.iter().filter(|it| matches!(it, MarkKind::Clock(_)));
    assert_eq!(clocks.count(), 1, "{marks:?}");
    let restart = MarkKind::Event("restart".to_owned());
    assert!(!marks.contains(&restart), "{marks:?}");
}

#[test]
fn files_from_before_the_training_and_of_others_are_left_alone() {
    let training = Training::that_writes("notes.md");
    training.put("old.log", lines(1..9));
    let old = OpenOptions::new()
        .write(true)
        .open(training.path("old.log"))
        .unwrap();
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    old.set_times(FileTimes::new().set_modified(hour_ago))
        .unwrap();
    std::os::unix::fs::symlink("/proc/kmsg", training.path("link.log")).unwrap();
    if rustix::process::geteuid().is_root() {
        training.put("theirs.log", lines(1..9));
        std::os::unix::fs::chown(training.path("theirs.log"), Some(54_321), None).unwrap();
    }
    let mut tracker = training.tracker();
    poll_until(&mut tracker, 0, 8);
    assert_eq!(tracker.progress().step, None);
}

#[test]
fn two_trainings_in_one_directory_are_not_confused() {
    let training = Training::that_writes("notes.md");
    training.put("train.log", lines(1..9));
    let mut other = Command::new("tee")
        .current_dir(training.dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut tracker = training.tracker();
    poll_until(&mut tracker, 0, 8);
    assert_eq!(tracker.progress().step, None);
    drop(other.stdin.take());
    other.wait().unwrap();
    poll_until(&mut tracker, 9, 40);
    assert_eq!(tracker.progress().step, Some(Step(8)));
}

#[test]
fn a_log_behind_a_pipe_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("out");
    let mut training = Command::new("cat")
        .current_dir(dir.path())
        .env("LEVELOFF_MARKS", dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Of this test program it may be a log with steps.
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut tee = Command::new("tee")
        .arg(&log)
        .stdin(training.stdout.take().unwrap())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = training.stdin.take().unwrap();
    input.write_all(lines(1..9).as_bytes()).unwrap();
    while fs::metadata(&log).map_or(0, |it| it.len()) < lines(1..9).len() as u64 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut tracker = ProgressTracker::new(ProgressOptions::default()).unwrap();
    let pid = Pid(training.id() as i32);
    tracker.watch_process(&ProcRoot::live(), ProcessIndex(0), pid, None);
    poll_until(&mut tracker, 0, 3);
    assert_eq!(tracker.progress().step, Some(Step(8)));
    assert_eq!(source(&tracker), (ProgressSource::Log, "out".to_owned()));
    drop(input);
    training.wait().unwrap();
    tee.wait().unwrap();
}
