//! Path of the marks file, by the rules of the protocol.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;

/// Permission bits that let others write to a directory.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// What the path of the marks depends on.
#[derive(Debug, Clone)]
pub struct MarksLocation {
    /// `LEVELOFF_MARKS`.
    pub named: Option<OsString>,
    /// The directory for temporary files of all users: /tmp, whatever TMPDIR says.
    pub temporary: PathBuf,
    /// `XDG_RUNTIME_DIR`.
    pub runtime: Option<PathBuf>,
    /// User of this process.
    pub uid: u32,
    /// Its pid.
    pub pid: u32,
    /// When it started, in the clock ticks of /proc, if that can be read.
    pub start: Option<u64>,
}

/// Why there are no marks.
#[derive(Debug, thiserror::Error)]
pub enum MarksError {
    /// The path that was named is relative, and the watcher does not know to what.
    #[error("LEVELOFF_MARKS must be an absolute path, and is {}", .0.display())]
    NotAbsolute(PathBuf),
    /// Something cannot be made.
    #[error("cannot make {}: {source}", .path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The path exists and must not be trusted or removed.
    #[error("{} {why}", .path.display())]
    NotOurs {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// The first line of the file.
#[derive(Debug, Serialize)]
pub(super) struct Header {
    leveloff_marks: u32,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
}

impl MarksLocation {
    /// As this process was started.
    pub fn of_this_process() -> MarksLocation {
        MarksLocation {
            named: std::env::var_os("LEVELOFF_MARKS").filter(|path| !path.is_empty()),
            temporary: PathBuf::from("/tmp"),
            runtime: std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from),
            uid: rustix::process::getuid().as_raw(),
            pid: std::process::id(),
            start: fs::read("/proc/self/stat")
                .ok()
                .and_then(|stat| start_in(&stat)),
        }
    }

    pub(super) fn header(&self) -> Header {
        Header {
            leveloff_marks: 1,
            pid: self.pid,
            start: self.start,
        }
    }

    /// A new, empty file. What an earlier process with our pid left is removed.
    pub(super) fn create(&self) -> Result<(PathBuf, File), MarksError> {
        let path = self.file()?;
        remove_left(&path, self.uid)?;
        // An old request was for another process. One that cannot be removed is not ours, and not obeyed.
        let _ = fs::remove_file(self.stop_request_beside(&path));
        let file = File::options()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        match file {
            Ok(file) => Ok((path, file)),
            Err(source) => Err(MarksError::Io { path, source }),
        }
    }

    /// Beside the marks, also when they have a name of their own.
    pub(super) fn stop_request_beside(&self, marks: &Path) -> PathBuf {
        marks.with_file_name(format!("{}.stop", self.pid))
    }

    fn file(&self) -> Result<PathBuf, MarksError> {
        let own = format!("{}.jsonl", self.pid);
        let Some(named) = &self.named else {
            return Ok(self.shared_directory()?.join(own));
        };
        let path = PathBuf::from(named);
        if !path.is_absolute() {
            return Err(MarksError::NotAbsolute(path));
        }
        if named.as_encoded_bytes().ends_with(b"/") {
            make_directory(&path)?;
        }
        Ok(if path.is_dir() { path.join(own) } else { path })
    }

    /// In /tmp, else in the runtime directory.
    fn shared_directory(&self) -> Result<PathBuf, MarksError> {
        let first = self.temporary.join(format!("leveloff-{}", self.uid));
        let error = match self.own_directory(&first) {
            Ok(()) => return Ok(first),
            Err(error) => error,
        };
        let second = self
            .runtime
            .as_ref()
            .map(|runtime| runtime.join("leveloff"));
        match second {
            Some(second) if self.own_directory(&second).is_ok() => Ok(second),
            _ => Err(error),
        }
    }

    /// Creates the directory, or checks whether an existing one can be trusted.
    fn own_directory(&self, path: &Path) -> Result<(), MarksError> {
        make_directory(path)?;
        let not_ours = |why| MarksError::NotOurs {
            path: path.to_owned(),
            why,
        };
        let found = look_at(path)?;
        if !found.is_dir() {
            Err(not_ours("is no directory"))
        } else if found.uid() != self.uid {
            Err(not_ours("belongs to another user"))
        } else if found.mode() & WRITABLE_BY_OTHERS != 0 {
            Err(not_ours("can be written to by others; chmod 700 would do"))
        } else {
            Ok(())
        }
    }
}

fn make_directory(path: &Path) -> Result<(), MarksError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(MarksError::Io {
            path: path.to_owned(),
            source: error,
        }),
        _ => Ok(()),
    }
}

/// Removes a file of ours, and nothing else: the name may be that of a device.
fn remove_left(path: &Path, uid: u32) -> Result<(), MarksError> {
    let Ok(found) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !found.is_file() || found.uid() != uid {
        return Err(MarksError::NotOurs {
            path: path.to_owned(),
            why: "already exists and is not a regular file of this user",
        });
    }
    fs::remove_file(path).map_err(|source| MarksError::Io {
        path: path.to_owned(),
        source,
    })
}

fn look_at(path: &Path) -> Result<Metadata, MarksError> {
    fs::symlink_metadata(path).map_err(|source| MarksError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Field 22 of /proc/PID/stat. The second is a name in brackets that may hold brackets and blanks.
fn start_in(stat: &[u8]) -> Option<u64> {
    let after_name = stat.iter().rposition(|&byte| byte == b')')? + 1;
    let rest = std::str::from_utf8(&stat[after_name..]).ok()?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::{TempDir, tempdir};

    use super::*;

    fn place(root: &TempDir) -> MarksLocation {
        MarksLocation {
            named: None,
            temporary: root.path().to_owned(),
            runtime: Some(root.path().join("run")),
            ..MarksLocation::of_this_process()
        }
    }

    #[test]
    fn the_shared_directory_is_taken_first_and_made_for_us_alone() {
        let root = tempdir().expect("a directory");
        let here = place(&root);
        let (path, _) = here.create().expect("a file");
        let shared = root.path().join(format!("leveloff-{}", here.uid));
        assert_eq!(path, shared.join(format!("{}.jsonl", here.pid)));
        assert_eq!(fs::metadata(&shared).expect("there").mode() & 0o777, 0o700);
    }

    #[test]
    fn what_an_earlier_process_left_is_removed() {
        let root = tempdir().expect("a directory");
        let here = place(&root);
        let (path, _) = here.create().expect("a file");
        fs::write(&path, "old").expect("written");
        let request = here.stop_request_beside(&path);
        fs::write(&request, "").expect("written");
        let (again, _) = here.create().expect("a file");
        assert_eq!(fs::read(&again).expect("read"), b"");
        assert!(!request.exists());
    }

    #[test]
    fn a_shared_directory_that_others_could_have_laid_is_passed_over() {
        for lay in [
            (|path| symlink("/tmp", path).expect("a link")) as fn(&Path),
            |path| fs::write(path, "").expect("a file"),
            |path| {
                fs::create_dir(path).expect("a directory");
                fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("mode");
            },
        ] {
            let root = tempdir().expect("a directory");
            let here = place(&root);
            lay(&root.path().join(format!("leveloff-{}", here.uid)));
            assert!(here.create().is_err(), "there is no other place yet");
            fs::create_dir(root.path().join("run")).expect("a directory");
            let (path, _) = here.create().expect("the other place");
            assert!(path.starts_with(root.path().join("run/leveloff")));
        }
    }

    #[test]
    fn a_name_that_is_no_file_of_ours_is_left_alone() {
        let root = tempdir().expect("a directory");
        let named = |name: &str| MarksLocation {
            named: Some(name.into()),
            ..place(&root)
        };
        assert!(matches!(
            named("/dev/null").create(),
            Err(MarksError::NotOurs { .. })
        ));
        assert!(Path::new("/dev/null").exists());
        assert!(matches!(
            named("here").create(),
            Err(MarksError::NotAbsolute(_))
        ));
        let file = root.path().join("own name");
        let (path, _) = named(&file.display().to_string()).create().expect("a file");
        assert_eq!(path, file);
    }

    #[test]
    fn the_start_is_read_behind_any_name() {
        let behind = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20";
        for name in ["a", "a b", ") (", "x) S 1"] {
            assert_eq!(
                start_in(format!("7 ({name}) {behind}").as_bytes()),
                Some(987_654)
            );
        }
        for broken in ["", ")", "7 (a) S 1", "7 (a"] {
            assert_eq!(start_in(broken.as_bytes()), None);
        }
    }
}
