use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use leveloff_model::progress::StepUnit;
use leveloff_model::recording::RunAxis;
use tempfile::TempDir;

use super::*;
use crate::history::{Job, PastRun};

fn place() -> (TempDir, HistoryFile) {
    let directory = tempfile::tempdir().unwrap();
    let user = rustix::process::geteuid().as_raw();
    let file = HistoryFile::at(directory.path().join("state/leveloff"), user);
    (directory, file)
}

fn job() -> Job {
    Job::of(&["trainer".to_owned()], None).unwrap()
}

fn add(file: &HistoryFile) -> Result<(), HistoryError> {
    let run = PastRun {
        ended_unix: 1.7e9,
        verdict: "level".to_owned(),
        axis: RunAxis::Count(StepUnit::Steps),
        level_after: Some(88.0),
        length: 300.0,
    };
    file.update(|history| history.add(&job(), run))
}

fn runs(file: &HistoryFile) -> usize {
    let history = file.read().unwrap();
    history.runs_of(&job().key).map_or(0, <[PastRun]>::len)
}

#[test]
fn it_is_private_and_whole() {
    let (_place, file) = place();
    assert_eq!(runs(&file), 0);
    add(&file).unwrap();
    add(&file).unwrap();
    assert_eq!(runs(&file), 2);
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert_eq!(mode(file.path()), 0o600);
    assert_eq!(mode(&file.directory), 0o700);
    let names = std::fs::read_dir(&file.directory).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [NAME, LOCK]);
    file.remove().unwrap();
    assert_eq!(runs(&file), 0);
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let (_place, file) = place();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| add(&file).unwrap());
        }
    });
    assert_eq!(runs(&file), 8);
}

/// Neither read nor changed, and the error says why.
#[track_caller]
fn is_refused(file: &HistoryFile, why: &str) {
    let before = std::fs::read(file.path()).ok();
    let error = file.read().unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
    let error = add(file).unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
    assert_eq!(std::fs::read(file.path()).ok(), before);
}

#[test]
fn a_link_is_not_followed() {
    let (place, file) = place();
    add(&file).unwrap();
    let elsewhere = place.path().join("elsewhere");
    std::fs::rename(file.path(), &elsewhere).unwrap();
    symlink(&elsewhere, file.path()).unwrap();
    is_refused(&file, "it is a symbolic link");
    file.remove().unwrap();
    assert!(elsewhere.exists());
}

#[test]
fn a_directory_that_is_a_link_is_not_followed() {
    let (place, file) = place();
    add(&file).unwrap();
    let elsewhere = place.path().join("elsewhere");
    std::fs::rename(&file.directory, &elsewhere).unwrap();
    symlink(&elsewhere, &file.directory).unwrap();
    is_refused(&file, "its directory is a symbolic link");
}

#[test]
fn what_belongs_to_another_user_is_not_used() {
    let (_place, file) = place();
    add(&file).unwrap();
    let other = HistoryFile::at(file.directory.clone(), file.user + 1);
    is_refused(&other, "its directory belongs to another user");
}

#[test]
fn what_others_may_write_is_not_used() {
    let (_place, file) = place();
    add(&file).unwrap();
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(file.path(), 0o666);
    is_refused(&file, "it is writable for other users");
    set(file.path(), 0o600);
    set(&file.directory, 0o770);
    is_refused(&file, "its directory is writable for other users");
}

#[test]
fn what_is_no_history_is_left_as_it_is() {
    let (_place, file) = place();
    add(&file).unwrap();
    let whole = std::fs::read(file.path()).unwrap();
    std::fs::write(file.path(), &whole[..whole.len() / 2]).unwrap();
    is_refused(&file, "cut off");
    std::fs::write(file.path(), b"[[[[").unwrap();
    is_refused(&file, "--forget all");
    std::fs::write(file.path(), vec![b' '; LARGEST + 1]).unwrap();
    is_refused(&file, "larger than 1 MB");
    std::fs::remove_file(file.path()).unwrap();
    std::fs::create_dir(file.path()).unwrap();
    is_refused(&file, "neither a file");
}

#[test]
fn a_pipe_does_not_block() {
    let (_place, file) = place();
    add(&file).unwrap();
    std::fs::remove_file(file.path()).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(file.path())
        .status();
    assert!(made.unwrap().success());
    let error = file.read().unwrap_err().to_string();
    assert!(error.contains("neither a file"), "{error}");
}

#[test]
fn a_lock_that_another_holds_is_not_waited_for_without_end() {
    let (_place, file) = place();
    add(&file).unwrap();
    let directory = file.open_directory().unwrap();
    let _lock = file.lock(&directory).unwrap();
    assert!(matches!(add(&file), Err(HistoryError::Busy)));
    assert_eq!(runs(&file), 1);
}

#[test]
fn what_a_killed_writer_left_is_replaced() {
    let (_place, file) = place();
    add(&file).unwrap();
    std::fs::write(file.directory.join(".history.unfinished"), b"half").unwrap();
    add(&file).unwrap();
    assert_eq!(runs(&file), 2);
}
