use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use leveloff_model::process::{Pid, StartTicks};
use leveloff_model::units::Step;

use super::*;
use crate::regular_file;
use leveloff_progress::UnixSeconds;

fn target(started: SystemTime) -> MarksTarget {
    MarksTarget {
        pid: Pid(17),
        own_pid: Pid(17),
        uid: 0,
        own_uid: 0,
        start: StartTicks(500),
        started: Some(UnixSeconds::from(started)),
        stated: None,
        runtime_dir: None,
        root: PathBuf::from("/"),
    }
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_ref()).unwrap();
}

fn begin(path: &Path, started: SystemTime) -> Writer {
    let (file, stat) = regular_file::open(path).unwrap();
    MarksFollower::begin(file, &stat, &target(started)).unwrap()
}

fn followed(path: &Path) -> Box<MarksFollower> {
    match begin(path, SystemTime::now() - Duration::from_secs(60)) {
        Writer::Target(follower) => follower,
        other => panic!("{other:?}"),
    }
}

fn steps(news: &MarksUpdates) -> Vec<Step> {
    news.updates
        .iter()
        .filter_map(|update| update.step)
        .collect()
}

#[test]
fn marks_are_read_as_they_come_and_a_torn_one_waits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("17.jsonl");
    write(
        &path,
        "{\"leveloff_marks\":1,\"pid\":17,\"start\":500}\n{\"step\":1}\n{\"st",
    );
    let mut marks = followed(&path);
    assert_eq!(steps(&marks.poll().unwrap()), [Step(1)]);
    write(&path, "ep\":2}\n\n{\"step\":3}\n");
    assert_eq!(steps(&marks.poll().unwrap()), [Step(2), Step(3)]);
    assert_eq!(steps(&marks.poll().unwrap()), []);
    fs::write(&path, "{\"step\":4}\n").unwrap();
    assert_eq!(
        steps(&marks.poll().unwrap()),
        [Step(4)],
        "truncated and written again"
    );
}

#[test]
fn only_the_first_bad_line_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("17.jsonl");
    write(
        &path,
        "{\"step\":1}\n{\"step\":?}\n{\"step\":\"x\",\"epoch\":2}\n",
    );
    let mut marks = followed(&path);
    let news = marks.poll().unwrap();
    assert_eq!(news.first_bad, Some(BadMark::NotJson));
    assert_eq!(news.updates[1].epoch, Some(2.0));
    write(&path, vec![b'{'; 3 * LONGEST_LINE]);
    write(&path, "\n{\"step\":5}\nnonsense\n");
    let news = marks.poll().unwrap();
    assert_eq!((steps(&news), news.first_bad), (vec![Step(5)], None));
}

#[test]
fn only_the_end_of_a_long_file_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("17.jsonl");
    let marks: String = (0..50_000).map(|n| format!("{{\"step\":{n}}}\n")).collect();
    write(
        &path,
        "{\"leveloff_marks\":1,\"pid\":17}\n".to_owned() + &marks,
    );
    let news = followed(&path).poll().unwrap();
    assert!(steps(&news).len() < 6000);
    assert_eq!(steps(&news).last(), Some(&Step(49_999)));
    assert_eq!(
        news.first_bad, None,
        "the line that was cut is not a bad one"
    );
}

#[test]
fn a_file_of_an_earlier_process_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("17.jsonl");
    let later = SystemTime::now() + Duration::from_secs(60);
    let refused = |text: &str, started| {
        let _ = fs::remove_file(&path);
        write(&path, text);
        match begin(&path, started) {
            Writer::Other(why) => why,
            other => panic!("{text}: {other:?}"),
        }
    };
    let earlier = SystemTime::now() - Duration::from_secs(60);
    let older_start = "{\"leveloff_marks\":1,\"pid\":17,\"start\":499}\n";
    assert!(refused(older_start, earlier).contains("earlier process"));
    assert!(refused("{\"step\":1}\n", later).contains("older than the process"));
    assert!(refused("{\"leveloff_marks\":1,\"pid\":18}\n", earlier).contains("process 18"));
    assert!(refused("{\"leveloff_marks\":2}\n", earlier).contains("version 2"));
}

#[test]
fn a_start_time_in_the_header_outweighs_the_files_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("17.jsonl");
    write(&path, "{\"leveloff_marks\":1,\"pid\":17,\"start\":500}\n");
    let later = SystemTime::now() + Duration::from_secs(60);
    assert!(matches!(begin(&path, later), Writer::Target(_)));
}

#[test]
fn a_first_line_that_is_not_whole_decides_nothing_yet() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("17.jsonl");
    for text in ["", "{\"leveloff_ma"] {
        write(&path, text);
        assert!(matches!(
            begin(&path, SystemTime::UNIX_EPOCH),
            Writer::Unknown
        ));
    }
}

/// The shared fixtures of the protocol: what a reader makes of whole files.
#[test]
fn a_torn_last_line_of_the_fixtures_waits_and_a_rotated_file_is_the_same_processes() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/marks");
    let mut torn = followed(&fixtures.join("torn.jsonl"));
    let found = torn.poll().unwrap();
    assert_eq!(steps(&found), [Step(1), Step(2)]);
    assert_eq!(found.first_bad, None);
    let mut rotated = followed(&fixtures.join("rotated.jsonl"));
    let news = rotated.poll().unwrap();
    assert_eq!(steps(&news), [Step(41), Step(42)]);
    assert_eq!(news.updates[0].obeys_stop, Some(true));
    let mut hostile = followed(&fixtures.join("hostile.jsonl"));
    let last = hostile.poll().unwrap().updates.pop();
    assert_eq!(last.and_then(|update| update.step), Some(Step(39)));
}
