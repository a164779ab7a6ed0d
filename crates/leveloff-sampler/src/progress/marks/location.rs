//! Lists where a process's marks may be.

use std::path::{Path, PathBuf};

use leveloff_model::process::Pid;

use super::target::MarksTarget;

/// A file that may hold marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarksLocation {
    /// The root directory of the writer.
    pub root: PathBuf,
    /// The file, as a path of the writer.
    pub file: PathBuf,
    /// The user chose it, so the directory may belong to any user; the file must not.
    pub is_stated: bool,
}

impl MarksLocation {
    /// All locations where `target` may write, in the order in which they are tried.
    ///
    /// `LEVELOFF_MARKS` alone, if it is set: a directory that holds the file, or the file.
    /// Otherwise `/tmp/leveloff-<uid>`, then the user's runtime directory. The latter comes second: it is
    /// removed when the user logs out while the training goes on, and it is known only from the environment,
    /// which setproctitle may have emptied.
    pub fn all_of(target: &MarksTarget) -> Vec<MarksLocation> {
        let name = format!("{}.jsonl", target.own_pid);
        let location = |file: PathBuf, is_stated| MarksLocation {
            root: target.root.clone(),
            file,
            is_stated,
        };
        if let Some(stated) = &target.stated {
            return [stated.join(&name), stated.clone()]
                .into_iter()
                .filter(|file| file.is_absolute())
                .map(|file| location(file, true))
                .collect();
        }
        let own_uid = target.own_uid;
        let mut directories = vec![PathBuf::from(format!("/tmp/leveloff-{own_uid}"))];
        let usual = PathBuf::from(format!("/run/user/{own_uid}"));
        let runtime_dir = target.runtime_dir.clone().unwrap_or(usual);
        if runtime_dir.is_absolute() {
            directories.push(runtime_dir.join("leveloff"));
        }
        directories
            .into_iter()
            .map(|directory| location(directory.join(&name), false))
            .collect()
    }

    /// The file as a path of leveloff.
    pub fn path(&self) -> PathBuf {
        self.root.join(within(&self.file))
    }
}

/// The file that asks a training to save and stop, beside its marks.
pub fn stop_request_path(marks: &MarksLocation, own_pid: Pid) -> PathBuf {
    marks.path().with_file_name(stop_request_name(own_pid))
}

/// The name of that file, which does not depend on that of the marks.
pub fn stop_request_name(own_pid: Pid) -> String {
    format!("{own_pid}.stop")
}

/// An absolute path as one relative to its root.
pub(super) fn within(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::StartTicks;

    use super::*;

    fn target(stated: Option<&str>, runtime_dir: Option<&str>) -> MarksTarget {
        MarksTarget {
            pid: Pid(4312),
            own_pid: Pid(17),
            uid: 101_000,
            own_uid: 1000,
            start: StartTicks(5),
            started: None,
            stated: stated.map(PathBuf::from),
            runtime_dir: runtime_dir.map(PathBuf::from),
            root: PathBuf::from("/proc/4312/root"),
        }
    }

    fn files(target: &MarksTarget) -> Vec<String> {
        MarksLocation::all_of(target)
            .iter()
            .map(|place| place.file.display().to_string())
            .collect()
    }

    #[test]
    fn a_container_is_looked_into_under_its_own_names() {
        let target = target(None, None);
        assert_eq!(
            files(&target),
            [
                "/tmp/leveloff-1000/17.jsonl",
                "/run/user/1000/leveloff/17.jsonl"
            ]
        );
        let place = &MarksLocation::all_of(&target)[0];
        assert_eq!(
            place.path(),
            Path::new("/proc/4312/root/tmp/leveloff-1000/17.jsonl")
        );
        assert_eq!(
            stop_request_path(place, target.own_pid),
            Path::new("/proc/4312/root/tmp/leveloff-1000/17.stop")
        );
    }

    #[test]
    fn the_environment_decides_where_it_says_something() {
        assert_eq!(
            files(&target(Some("/data"), Some("/x"))),
            ["/data/17.jsonl", "/data"]
        );
        assert_eq!(files(&target(None, Some("/x")))[1], "/x/leveloff/17.jsonl");
        assert!(files(&target(Some("relative"), None)).is_empty());
    }
}
