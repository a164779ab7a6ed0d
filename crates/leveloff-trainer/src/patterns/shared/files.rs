//! Files in /dev/shm that carry the name of the process that left them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use rustix::process::{Pid, geteuid, getpid, test_kill_process};

use super::write_pages;
use crate::pattern::PatternError;
use crate::sizes::Size;

/// What names begin with, followed by the process's number and the file's.
const PREFIX: &str = "leveloff-trainer-";

/// The files that this process left. They are removed when this is dropped.
#[derive(Debug)]
pub(super) struct SharedFiles {
    directory: PathBuf,
    left: Vec<PathBuf>,
}

impl SharedFiles {
    /// No files yet, in this directory.
    pub(super) fn in_directory(directory: impl Into<PathBuf>) -> SharedFiles {
        SharedFiles {
            directory: directory.into(),
            left: Vec::new(),
        }
    }

    /// Leaves a new file of so many bytes, closed and not mapped.
    pub(super) fn leave(&mut self, bytes: u64) -> Result<(), PatternError> {
        let pid = getpid().as_raw_pid();
        let name = format!("{PREFIX}{pid}-{}", self.left.len());
        let path = self.directory.join(name);
        let mut file = create(&path).map_err(|error| self.cannot_leave(bytes, error))?;
        self.left.push(path);
        write_pages(&mut file, bytes).map_err(|error| self.cannot_leave(bytes, error))
    }

    /// Removes files of killed trainers: the name has a pid that no process has now. Files that cannot be
    /// removed stay.
    pub(super) fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(owner_in);
            let is_ours = || {
                entry
                    .metadata()
                    .is_ok_and(|file| file.uid() == geteuid().as_raw())
            };
            if owner.is_some_and(is_gone) && is_ours() {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn cannot_leave(&self, bytes: u64, error: io::Error) -> PatternError {
        let (size, place) = (Size(bytes), self.directory.display());
        let next = match error.kind() {
            io::ErrorKind::StorageFull => {
                "make it larger (mount -o remount,size=1G /dev/shm; docker run --shm-size 1g), lower \
                 --rate, or take fewer steps"
            }
            _ => "the pattern needs a /dev/shm that it can write to",
        };
        PatternError::new(
            format!("cannot write {size} to a file in {place}"),
            error,
            next,
        )
    }
}

impl Drop for SharedFiles {
    fn drop(&mut self) {
        for path in &self.left {
            let _ = fs::remove_file(path);
        }
    }
}

fn create(path: &PathBuf) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// The process in a name such as `leveloff-trainer-4312-7`.
fn owner_in(name: &str) -> Option<Pid> {
    let (pid, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u64>().ok()?;
    Pid::from_raw(pid.parse().ok().filter(|&pid: &i32| pid > 0)?)
}

/// Whether a process is gone. A file with our own number was left by another one that had it.
fn is_gone(owner: Pid) -> bool {
    owner == getpid() || test_kill_process(owner) == Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustix::process::getppid;

    use super::*;

    fn names(directory: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
        entries.map(|entry| name(entry).unwrap()).collect()
    }

    #[test]
    fn files_are_private_and_gone_when_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let mut files = SharedFiles::in_directory(directory.path());
        files.leave(100_000).unwrap();
        files.leave(4096).unwrap();
        let sizes: Vec<u64> = files
            .left
            .iter()
            .map(|path| fs::metadata(path).unwrap().size())
            .collect();
        assert_eq!(sizes, [100_000, 4096]);
        assert_eq!(fs::metadata(&files.left[0]).unwrap().mode() & 0o777, 0o600);
        drop(files);
        assert!(names(&directory).is_empty());
    }

    #[test]
    fn only_what_a_dead_process_of_ours_left_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let mut dead = std::process::Command::new("true").spawn().unwrap();
        let dead_pid = dead.id();
        dead.wait().unwrap();
        let alive = getppid().unwrap().as_raw_pid();
        let kept = [format!("{PREFIX}{alive}-0"), "torch_1_2_3".to_owned()];
        for name in [
            format!("{PREFIX}{dead_pid}-0"),
            format!("{PREFIX}{}-3", getpid().as_raw_pid()),
        ] {
            fs::write(directory.path().join(name), "x").unwrap();
        }
        for name in &kept {
            fs::write(directory.path().join(name), "x").unwrap();
        }
        SharedFiles::in_directory(directory.path()).remove_leftovers();
        let mut left = names(&directory);
        left.sort();
        assert_eq!(left, kept);
    }

    #[test]
    fn a_name_that_is_taken_is_an_error_and_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory
            .path()
            .join(format!("{PREFIX}{}-0", getpid().as_raw_pid()));
        fs::write(&path, "precious").unwrap();
        let mut files = SharedFiles::in_directory(directory.path());
        assert!(files.leave(4096).is_err());
        drop(files);
        assert_eq!(fs::read(&path).unwrap(), b"precious");
    }

    proptest! {
        #[test]
        fn any_name_can_be_read(name in "(leveloff-trainer-)?[-0-9a-z]{0,30}") {
            let _ = owner_in(&name);
        }
    }
}
