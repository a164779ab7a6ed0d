//! Files below the working directory that frameworks close between two writes, so that no descriptor shows them.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use leveloff_model::process::Pid;

use crate::kernel::stat;
use crate::proc_root::ProcRoot;
use crate::progress::marks::trust::Owners;
use crate::regular_file::FileId;

/// Where they are. `*` stands for any part of one name.
const PLACES: [&str; 12] = [
    "*.log",
    "log/*.log",
    "logs/*.log",
    "wandb/latest-run/files/output.log",
    "lightning_logs/version_*/metrics.csv",
    "logs/*/version_*/metrics.csv",
    "checkpoint-*/trainer_state.json",
    "*/checkpoint-*/trainer_state.json",
    "lightning_logs/version_*/events.out.tfevents.*",
    "runs/events.out.tfevents.*",
    "runs/*/events.out.tfevents.*",
    "*/runs/*/events.out.tfevents.*",
];

/// The only link that is followed: wandb has it lead to the newest run beside it.
const FOLLOWED_LINK: &str = "latest-run";

/// Entries of one directory that are looked at.
const MOST_ENTRIES: usize = 1024;

/// Matches of one name that are looked into, the newest first.
const NEWEST: usize = 8;

/// Processes that are compared with the target.
const MOST_PROCESSES: usize = 8192;

/// The files in the usual places of a process that `is_wanted`. None if another training runs in the same directory: its
/// files could not be distinguished.
pub fn files(
    proc_root: &ProcRoot,
    pid: Pid,
    owners: Owners,
    is_wanted: impl Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let Some(directory) = working_directory(&proc_root.process(pid)) else {
        return Vec::new();
    };
    let walk = Walk { owners };
    let found = PLACES.iter().flat_map(|place| {
        let parts: Vec<&str> = place.split('/').collect();
        walk.matches(&directory, &parts)
    });
    let found: Vec<PathBuf> = found.filter(|path| is_wanted(path)).collect();
    // The comparison reads every process of the machine, so it comes last and seldom.
    match found.is_empty() || is_shared(proc_root, pid, &directory) {
        true => Vec::new(),
        false => found,
    }
}

/// The working directory in leveloff's mount namespace, or through the process where it has another one.
fn working_directory(process: &Path) -> Option<PathBuf> {
    let link = process.join("cwd");
    let name = std::fs::read_link(&link).ok()?;
    let id = FileId::at(&link).ok()?;
    let is_it = |path: &PathBuf| FileId::at(path).is_ok_and(|found| found == id);
    [name, link].into_iter().find(is_it)
}

/// Expands a place below a directory.
struct Walk {
    owners: Owners,
}

impl Walk {
    fn matches(&self, directory: &Path, parts: &[&str]) -> Vec<PathBuf> {
        let Some((part, rest)) = parts.split_first() else {
            return Vec::new();
        };
        let found = match part.split_once('*') {
            Some(ends) => newest_matches(directory, ends),
            None => self.step(directory, part).into_iter().collect(),
        };
        if rest.is_empty() {
            return found;
        }
        let is_directory = |path: &PathBuf| path.symlink_metadata().is_ok_and(|it| it.is_dir());
        let deeper = found.into_iter().filter(is_directory);
        deeper.flat_map(|path| self.matches(&path, rest)).collect()
    }

    /// The entry of this name; where the link leads if it is one that is followed, within the directory.
    fn step(&self, directory: &Path, name: &str) -> Option<PathBuf> {
        let path = directory.join(name);
        let about = path.symlink_metadata().ok()?;
        if !about.is_symlink() {
            return Some(path);
        }
        let target = path.read_link().ok()?;
        let is_beside = target.file_name() == Some(target.as_os_str());
        let is_followed = name == FOLLOWED_LINK && is_beside && self.owners.include(about.uid());
        is_followed.then(|| directory.join(target))
    }
}

/// Entries whose names begin and end like this, without links and hidden ones.
pub(super) fn newest_matches(directory: &Path, (begin, end): (&str, &str)) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let is_match = |name: &OsStr| {
        name.to_str().is_some_and(|name| {
            name.len() >= begin.len() + end.len()
                && name.starts_with(begin)
                && name.ends_with(end)
                && !name.starts_with('.')
        })
    };
    let mut found: Vec<(SystemTime, PathBuf)> = entries
        .take(MOST_ENTRIES)
        .filter_map(|entry| {
            let entry = entry.ok().filter(|entry| is_match(&entry.file_name()))?;
            let about = entry.metadata().ok().filter(|about| !about.is_symlink())?;
            Some((about.modified().ok()?, entry.path()))
        })
        .collect();
    found.sort();
    found
        .into_iter()
        .rev()
        .take(NEWEST)
        .map(|(_, path)| path)
        .collect()
}

/// Whether the same program runs in this directory outside of the target's family.
fn is_shared(proc_root: &ProcRoot, pid: Pid, directory: &Path) -> bool {
    let process = proc_root.process(pid);
    let (Ok(program), Ok(place)) = (FileId::at(&process.join("exe")), FileId::at(directory)) else {
        return false;
    };
    let family = Family::of(proc_root, pid);
    let pids = proc_root.pids().unwrap_or_default().into_iter();
    let mut others = pids.take(MOST_PROCESSES).filter(|other| {
        let other = proc_root.process(*other);
        FileId::at(&other.join("cwd")).is_ok_and(|id| id == place)
            && FileId::at(&other.join("exe")).is_ok_and(|id| id == program)
    });
    others.any(|other| !family.includes(other))
}

/// A process with its ancestors and descendants.
struct Family<'a> {
    proc_root: &'a ProcRoot,
    pid: Pid,
    ancestors: Vec<Pid>,
    /// Its parent, if that runs the same program.
    launcher: Option<Pid>,
}

impl<'a> Family<'a> {
    fn of(proc_root: &'a ProcRoot, pid: Pid) -> Family<'a> {
        let program = |pid: Pid| FileId::at(&proc_root.process(pid).join("exe")).ok();
        let ancestors = ancestors(proc_root, pid).collect::<Vec<Pid>>();
        let parent = ancestors.get(1).copied();
        Family {
            proc_root,
            pid,
            ancestors,
            launcher: parent.filter(|parent| program(*parent) == program(pid)),
        }
    }

    /// Whether one process descends from the other, or both are children of a launcher that runs the same program. A
    /// script that starts trainings side by side through a shell or another program is no such launcher.
    fn includes(&self, other: Pid) -> bool {
        let is_above = self.ancestors.contains(&other);
        // A child is found by the first `stat` that is read.
        let mut above_other = ancestors(self.proc_root, other).enumerate().skip(1);
        is_above
            || above_other.any(|(generation, above)| {
                above == self.pid || generation == 1 && Some(above) == self.launcher
            })
    }
}

/// The process itself and its ancestors, without init.
fn ancestors(proc_root: &ProcRoot, pid: Pid) -> impl Iterator<Item = Pid> {
    let parent = move |pid: &Pid| {
        let text = std::fs::read(proc_root.process(*pid).join("stat")).ok()?;
        stat::parse(&text).map(|stat| stat.parent)
    };
    std::iter::successors(Some(pid), parent)
        .take_while(|pid| pid.0 > 1)
        .take(64)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn own() -> Owners {
        let uid = rustix::process::geteuid().as_raw();
        Owners {
            target: uid,
            ours: uid,
        }
    }

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        dir
    }

    fn found(dir: &tempfile::TempDir) -> Vec<String> {
        let walk = Walk { owners: own() };
        let mut found: Vec<String> = PLACES
            .iter()
            .flat_map(|place| {
                let parts: Vec<&str> = place.split('/').collect();
                walk.matches(dir.path(), &parts)
            })
            .map(|path| {
                let below = path.strip_prefix(dir.path()).unwrap();
                below.to_str().unwrap().to_owned()
            })
            .collect();
        found.sort();
        found
    }

    #[test]
    fn what_frameworks_write_is_found() {
        let files = [
            "checkpoint-500/trainer_state.json",
            "lightning_logs/version_0/events.out.tfevents.1.h",
            "lightning_logs/version_0/metrics.csv",
            "logs/train.log",
            "out/checkpoint-9/trainer_state.json",
            "out/runs/Nov18/events.out.tfevents.2.h",
            "runs/Nov18/events.out.tfevents.2.h",
            "train.log",
        ];
        let mut all = files.to_vec();
        all.extend(["data/huge.bin", ".hidden.log", "deep/er/still/x.log"]);
        assert_eq!(found(&tree(&all)), files);
    }

    #[test]
    fn wandbs_newest_run_is_found_and_no_other_link_followed() {
        let dir = tree(&["wandb/run-7/files/output.log", "secret/files/output.log"]);
        let link = dir.path().join("wandb/latest-run");
        symlink("run-7", &link).unwrap();
        assert_eq!(found(&dir), ["wandb/run-7/files/output.log"]);
        fs::remove_file(&link).unwrap();
        symlink("../secret", &link).unwrap();
        symlink("secret/files/output.log", dir.path().join("x.log")).unwrap();
        assert!(found(&dir).is_empty());
    }

    #[test]
    fn a_directory_with_many_entries_costs_a_bounded_look() {
        let dir = tree(&[]);
        for n in 0..3000 {
            fs::write(dir.path().join(format!("{n}.log")), "").unwrap();
        }
        assert_eq!(found(&dir).len(), NEWEST);
    }
}
