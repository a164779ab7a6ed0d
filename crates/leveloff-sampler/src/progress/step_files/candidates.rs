//! Files that may hold steps.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use leveloff_model::process::Pid;
use leveloff_model::progress::ProgressSource;
use leveloff_progress::UnixSeconds;
use rustix::fs::FileType;

use super::{descriptors, pipe_readers, usual_places};
use crate::proc_root::ProcRoot;
use crate::progress::marks::target::MarksTarget;
use crate::progress::marks::trust::Owners;
use crate::regular_file::FileId;

/// What a file is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Lines of text, such as a log.
    Text,
    /// TensorBoard events.
    Events,
    /// A table of metrics by step.
    MetricsCsv,
    /// The state that the Hugging Face Trainer saves with a checkpoint.
    TrainerState,
}

/// A file that may hold steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Where it is, in leveloff's mount namespace.
    pub path: PathBuf,
    /// Which file it is.
    pub id: FileId,
    /// What it is.
    pub kind: FileKind,
    modified: UnixSeconds,
}

/// The process whose files are searched for.
#[derive(Debug)]
pub struct SearchTarget<'a> {
    proc_root: &'a ProcRoot,
    pid: Pid,
    /// The users whose files are read.
    pub owners: Owners,
    started: UnixSeconds,
}

/// The descriptors before it are standard input, output and error, which are followed anyway.
const FIRST_OWN_DESCRIPTOR: u32 = 3;

/// Candidates of a search at most, the newest first.
const MOST: usize = 32;

/// A file is as old as the process if it was modified this much before its start: the kernel counts both in
/// ticks, and a shell creates the file before it starts the process.
const CLOCK_SLACK: f64 = 2.0;

/// Logs of tools that write beside a training and count something else.
const OTHER_LOGS: [&str; 5] = [
    "debug.log",
    "debug-internal.log",
    "debug-core.log",
    "pip.log",
    "core.log",
];

impl FileKind {
    /// The kind of source that it is.
    pub fn source(self) -> ProgressSource {
        match self {
            FileKind::Text => ProgressSource::Log,
            FileKind::Events => ProgressSource::TensorBoard,
            FileKind::MetricsCsv | FileKind::TrainerState => ProgressSource::Metrics,
        }
    }

    /// By the name of a file; `None` for what is no log and no table of metrics.
    pub fn of(path: &Path) -> Option<FileKind> {
        let name = path.file_name()?.to_str()?;
        if name.contains("events.out.tfevents.") && !name.ends_with(".profile-empty") {
            return Some(FileKind::Events);
        }
        if name == "trainer_state.json" {
            return Some(FileKind::TrainerState);
        }
        if OTHER_LOGS.contains(&name) {
            return None;
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension {
            Some("log" | "txt" | "out" | "err" | "jsonl" | "json") => Some(FileKind::Text),
            Some("csv") => Some(FileKind::MetricsCsv),
            _ => None,
        }
    }
}

impl<'a> SearchTarget<'a> {
    /// `None` if the process has exited, its start is unknown, or its files are another user's.
    pub fn of(proc_root: &'a ProcRoot, pid: Pid) -> Option<SearchTarget<'a>> {
        let target = MarksTarget::read(proc_root, pid).ok()?;
        let owners = Owners {
            target: target.uid,
            ours: rustix::process::geteuid().as_raw(),
        };
        owners.may_read().then_some(SearchTarget {
            proc_root,
            pid,
            owners,
            started: target.started?,
        })
    }

    /// The files that the process's output goes to through a pipe.
    pub fn files_behind_pipe(&self) -> Vec<PathBuf> {
        pipe_readers::files_behind_pipe(self.proc_root, self.pid)
    }

    /// `behind_pipe`, then the newest of the files that the process has open for writing and of those in the usual places.
    /// Only text is searched for if the user gave a pattern for it.
    pub fn candidates(&self, behind_pipe: &[PathBuf], with_metrics: bool) -> Vec<Candidate> {
        let of_name = |path: PathBuf| {
            let kind = FileKind::of(&path)?;
            self.candidate(path, kind)
        };
        let mut newest: Vec<Candidate> = self.own_files().filter_map(of_name).collect();
        newest.sort_by(|a, b| b.modified.0.total_cmp(&a.modified.0));
        let behind_pipe = behind_pipe
            .iter()
            .filter_map(|path| self.candidate(path.clone(), FileKind::Text));
        let mut known = HashSet::new();
        behind_pipe
            .chain(newest)
            .filter(|candidate| with_metrics || candidate.kind == FileKind::Text)
            .filter(|candidate| known.insert(candidate.path.clone()))
            .take(MOST)
            .collect()
    }

    fn own_files(&self) -> impl Iterator<Item = PathBuf> {
        let is_wanted = |path: &Path| FileKind::of(path).is_some() && !is_leveloffs(path);
        let process = self.proc_root.process(self.pid);
        let written = descriptors::written_files(&process, FIRST_OWN_DESCRIPTOR, is_wanted);
        // Another run may still write to the file that it created before this process started.
        let is_older =
            |path: &Path| created_at(path).is_some_and(|at| at.0 + CLOCK_SLACK < self.started.0);
        let is_ours = |path: &Path| !is_older(path) && self.modified_if_ours(path).is_some();
        let usual = usual_places::files(self.proc_root, self.pid, self.owners, is_ours);
        written.into_iter().chain(usual)
    }

    fn candidate(&self, path: PathBuf, kind: FileKind) -> Option<Candidate> {
        let (id, modified) = self.modified_if_ours(&path)?;
        Some(Candidate {
            path,
            id,
            kind,
            modified,
        })
    }

    /// When a file was modified; `None` if it is no regular file, another user's, or older than the process.
    fn modified_if_ours(&self, path: &Path) -> Option<(FileId, UnixSeconds)> {
        let stat = rustix::fs::lstat(path).ok()?;
        let modified = UnixSeconds(stat.st_mtime as f64 + stat.st_mtime_nsec as f64 * 1e-9);
        let is_ours = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            && self.owners.include(stat.st_uid)
            && modified.0 + CLOCK_SLACK >= self.started.0;
        is_ours.then_some((FileId::of(&stat), modified))
    }
}

/// When a file of TensorBoard events was created: its name says that.
fn created_at(path: &Path) -> Option<UnixSeconds> {
    let name = path.file_name()?.to_str()?;
    let (_, rest) = name.split_once("events.out.tfevents.")?;
    rest.split('.').next()?.parse().ok().map(UnixSeconds)
}

/// The marks of this training, and leveloff's own files, are no logs.
fn is_leveloffs(path: &Path) -> bool {
    let is_ours = |name: &std::ffi::OsStr| {
        let name = name.to_str();
        name.is_some_and(|name| name.starts_with("leveloff"))
    };
    let directory = path.parent().and_then(Path::file_name);
    directory.is_some_and(is_ours) || path.file_name().is_some_and(is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_file_is() {
        let kind = |name: &str| FileKind::of(Path::new(name));
        assert_eq!(kind("/r/train.log"), Some(FileKind::Text));
        assert_eq!(kind("nohup.out"), Some(FileKind::Text));
        assert_eq!(kind("20260101_vis.json"), Some(FileKind::Text));
        assert_eq!(
            kind("events.out.tfevents.1700000000.host.77.0"),
            Some(FileKind::Events)
        );
        assert_eq!(kind("version_0/metrics.csv"), Some(FileKind::MetricsCsv));
        assert_eq!(
            kind("checkpoint-500/trainer_state.json"),
            Some(FileKind::TrainerState)
        );
        let created = created_at(Path::new("runs/x/events.out.tfevents.1700000000.host.77.0"));
        assert_eq!(created, Some(UnixSeconds(1_700_000_000.0)));
        assert_eq!(created_at(Path::new("train.log")), None);
        for other in [
            "model.safetensors",
            "optimizer.pt",
            "run-x.wandb",
            "wandb/debug.log",
            "data.bin",
            "/",
        ] {
            assert_eq!(kind(other), None, "{other}");
        }
    }
}
