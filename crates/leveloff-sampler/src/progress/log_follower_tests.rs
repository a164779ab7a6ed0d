use std::fs::{self, OpenOptions};
use std::io::Write;

use rustix::fs::{CWD, FileType, Mode};

use super::*;

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn steps(news: &LogUpdates) -> Vec<u64> {
    news.updates
        .iter()
        .filter_map(|update| Some(update.step?.0))
        .collect()
}

fn lines(range: std::ops::RangeInclusive<u64>) -> String {
    range.map(|n| format!("step {n}: loss 2.5\n")).collect()
}

/// A log with something in it, opened and read once.
fn followed(text: &str) -> (tempfile::TempDir, PathBuf, LogFollower) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("train.log");
    append(&path, text);
    let mut log = LogFollower::open(&path).unwrap();
    let _ = log.poll();
    (dir, path, log)
}

#[test]
fn the_current_step_is_learned_from_the_end_of_a_long_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("train.log");
    append(&path, &lines(1..=100_000));
    let mut log = LogFollower::open(&path).unwrap();
    let news = log.poll();
    assert!(news.is_history);
    assert_eq!(steps(&news).last(), Some(&100_000));
    assert!(steps(&news).len() < 4000, "only the end is read");
    append(&path, "step 100001: lo");
    assert_eq!(steps(&log.poll()), [0; 0], "a torn line waits");
    append(&path, "ss 2.5\n");
    let news = log.poll();
    assert_eq!(steps(&news), [100_001]);
    assert!(!news.is_history);
}

#[test]
fn a_log_that_is_cut_short_is_read_from_its_start() {
    let (_dir, path, mut log) = followed(&lines(1..=50));
    fs::write(&path, "step 51: loss 1\n").unwrap();
    assert_eq!(steps(&log.poll()), [51]);
}

#[test]
fn rotation_is_followed_and_no_line_is_lost() {
    let (dir, path, mut log) = followed(&lines(1..=3));
    append(&path, "step 4: loss 2\n");
    fs::rename(&path, dir.path().join("train.log.1")).unwrap();
    append(&dir.path().join("train.log.1"), "step 5: loss 2");
    append(&path, "step 6: loss 2\n");
    assert_eq!(steps(&log.poll()), [4]);
    assert_eq!(steps(&log.poll()), [5, 6]);
}

#[test]
fn a_removed_log_is_read_to_its_end() {
    let (_dir, path, mut log) = followed(&lines(1..=3));
    let mut writer = OpenOptions::new().append(true).open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(log.poll().trouble.unwrap().contains("was removed"));
    writer.write_all(b"step 4: loss 2\n").unwrap();
    assert_eq!(steps(&log.poll()), [4]);
    append(&path, "step 5: loss 2\n");
    assert_eq!(steps(&log.poll()), [5]);
}

#[test]
fn a_name_that_becomes_a_pipe_is_not_followed_into_it() {
    let (_dir, path, mut log) = followed(&lines(1..=3));
    fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert!(log.poll().trouble.unwrap().contains("a pipe"));
}

#[test]
fn pipes_devices_directories_and_nothing_are_refused_with_the_next_step() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let missing = dir.path().join("missing.log");
    for (path, word) in [
        (pipe.as_path(), "a pipe"),
        (Path::new("/dev/null"), "device"),
        (dir.path(), "a directory"),
        (missing.as_path(), "does not exist"),
    ] {
        let error = LogFollower::open(path).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        assert!(error.contains(&*path.to_string_lossy()), "{error}");
    }
}

#[test]
fn a_flood_is_bounded_and_the_newest_step_still_found() {
    let (_dir, path, mut log) = followed("");
    append(&path, &"x".repeat(30 << 20));
    append(&path, "\nstep 7: loss 2\n");
    let polls = (0..40)
        .take_while(|_| steps(&log.poll()).is_empty())
        .count();
    assert!(
        polls < 4,
        "the middle is left out, not read through: {polls} polls"
    );
    append(&path, "step 8: loss 2\n");
    assert_eq!(steps(&log.poll()), [8]);
}
