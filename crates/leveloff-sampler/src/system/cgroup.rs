//! The control group that limits the target's memory, version 1 or 2.

use std::path::{Path, PathBuf};

use leveloff_model::process::Pid;
use leveloff_model::sample::{Ceiling, CgroupReading, Gap, Subject};
use leveloff_model::units::Bytes;

use crate::gap_log::GapLog;
use crate::kept_file::{KeptFile, read_once};
use crate::proc_root::ProcRoot;
use level::{Level, event, limit_value};
use location::{locate, mounted};
use membership::memory_mounts;

pub use location::CgroupLocation;

mod level;
mod location;
mod membership;

/// Follows a process's memory control group.
///
/// A fast reading reads how much is charged to the group, and to those ancestors that have a limit, on open
/// descriptors. A thorough one also reads the limits, the events and `memory.stat`, for which the kernel adds
/// up the counters of all CPUs, and detects that the process was moved to another group.
///
/// Limits are of memory, not of memory and swap: a group at its limit that may still swap is not killed, but
/// is too slow for a training.
#[derive(Debug)]
pub struct CgroupReader {
    proc: ProcRoot,
    fs_root: PathBuf,
    pid: Pid,
    membership: Option<KeptFile>,
    /// The content of `/proc/PID/cgroup` when `group` was found.
    seen: Option<Vec<u8>>,
    group: Option<Group>,
    buffer: Vec<u8>,
    gaps: GapLog,
}

impl CgroupReader {
    /// A reader for the group of `pid`. `fs_root` is `/`, or the root of a saved tree.
    pub fn new(proc: &ProcRoot, fs_root: impl Into<PathBuf>, pid: Pid) -> CgroupReader {
        let mut reader = CgroupReader {
            proc: proc.clone(),
            fs_root: fs_root.into(),
            pid,
            membership: None,
            seen: None,
            group: None,
            buffer: Vec::new(),
            gaps: GapLog::about(Subject::Cgroup),
        };
        match KeptFile::open(&proc.process(pid).join("cgroup")) {
            Ok(file) => reader.membership = Some(file),
            Err(error) => reader
                .gaps
                .report(format!("cannot find the control group of {pid}: {error}")),
        }
        reader.follow();
        reader
    }

    /// Reads the group; `None` when there is none that can be read. Values of the last thorough reading stay
    /// in a fast one; the first reading of a group is always thorough.
    pub fn read(&mut self, thorough: bool) -> Option<CgroupReading> {
        if thorough {
            self.follow();
        }
        let group = self.group.as_mut()?;
        Some(group.read(thorough, &mut self.buffer, &mut self.gaps))
    }

    /// The limit of the group and its ancestors with the least headroom, as of the last reading. Each limit is
    /// compared with the use of its own group: a pod may be full because of another container, long before the
    /// container's own limit is reached.
    pub fn ceiling(&self) -> Option<Ceiling> {
        self.group.as_ref()?.ceiling()
    }

    /// What could not be read since the last call, each cause once.
    pub fn take_gaps(&mut self) -> Vec<Gap> {
        self.gaps.take()
    }

    /// Finds the group if the process moved to another. The descriptor belongs to this process: after its exit
    /// it reads nothing, even when the pid is reused.
    fn follow(&mut self) {
        let Some(Ok(now)) = self.membership.as_ref().map(|f| f.whole(&mut self.buffer)) else {
            return;
        };
        if self.seen.as_deref() == Some(now) {
            return;
        }
        let now = now.to_vec();
        self.group = match self.location(&now) {
            Ok(location) => Some(Group::open(location, &mut self.gaps)),
            Err(why) => {
                self.gaps.report(why);
                None
            }
        };
        self.seen = Some(now);
    }

    fn location(&self, membership: &[u8]) -> Result<CgroupLocation, String> {
        let mountinfo = read(&self.proc.path().join("self/mountinfo"))?;
        locate(
            membership,
            &memory_mounts(&mountinfo),
            &self.fs_root,
            self.pid,
        )
    }
}

/// Where the group of `pid` is in the file system, with every ancestor that is mounted, whether or not they
/// account memory. `fs_root` is `/`, or the root of a saved tree.
pub fn location_of(proc: &ProcRoot, fs_root: &Path, pid: Pid) -> Result<CgroupLocation, String> {
    let membership = read(&proc.process(pid).join("cgroup"))?;
    let mountinfo = read(&proc.path().join("self/mountinfo"))?;
    mounted(&membership, &memory_mounts(&mountinfo), fs_root, pid)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// A group with its ancestors, and what was last read of them.
#[derive(Debug)]
struct Group {
    /// The group itself first. Never empty.
    levels: Vec<Level>,
    last: CgroupReading,
    was_read: bool,
}

impl Group {
    fn open(location: CgroupLocation, gaps: &mut GapLog) -> Group {
        if let Some(caveat) = location.caveat {
            gaps.report(caveat);
        }
        Group {
            levels: location
                .directories
                .iter()
                .map(|directory| Level::open(location.version, directory, gaps))
                .collect(),
            last: CgroupReading {
                version: location.version,
                path: location.path,
                ..CgroupReading::default()
            },
            was_read: false,
        }
    }

    fn read(&mut self, thorough: bool, buffer: &mut Vec<u8>, gaps: &mut GapLog) -> CgroupReading {
        let thorough = thorough || !self.was_read;
        for (depth, level) in self.levels.iter_mut().enumerate() {
            if thorough {
                level.read_limit(buffer, gaps);
            }
            if depth == 0 || level.limit.is_some() {
                level.read_usage(buffer, gaps);
                if thorough || level.stat_is_stale() {
                    level.read_stat(buffer, gaps);
                }
            }
        }
        if thorough {
            self.read_slow();
        }
        self.was_read = true;
        self.assemble()
    }

    fn read_slow(&mut self) {
        self.apply_limit_above();
        let version = self.last.version;
        let own = self.levels[0].directory();
        let tightest = self.tightest().map_or(own, Level::directory);
        (self.last.limit_hits, self.last.oom_kills) = match version {
            1 => (
                sole_number(tightest, "memory.failcnt"),
                event(own, "memory.oom_control", b"oom_kill"),
            ),
            _ => (
                event(tightest, "memory.events", b"max"),
                event(own, "memory.events", b"oom_kill"),
            ),
        };
        self.last.high = self
            .levels
            .iter()
            .filter_map(|level| sole_limit(level.directory(), "memory.high"))
            .min();
        self.last.limit = self.tightest().and_then(|level| level.limit);
    }

    /// In a container the groups above its own are not mounted, but version 1 reports the tightest of their
    /// limits. The use of that group is unknown; that of the own group is a lower bound.
    fn apply_limit_above(&mut self) {
        let seen = self.tightest().and_then(|level| level.limit);
        let own = &mut self.levels[0];
        if let Some(above) = own.stat.and_then(|stat| stat.limit_above)
            && seen.is_none_or(|seen| above < seen)
        {
            own.limit = Some(above);
        }
    }

    fn tightest(&self) -> Option<&Level> {
        self.levels
            .iter()
            .filter(|level| level.limit.is_some())
            .min_by_key(|level| level.limit)
    }

    fn assemble(&mut self) -> CgroupReading {
        let own = &self.levels[0];
        let stat = own.stat.unwrap_or_default();
        self.last.current = own.usage;
        self.last.anon = stat.anon;
        self.last.file = stat.file;
        self.last.shmem = stat.shmem;
        self.last.reclaimable = stat.reclaimable;
        self.last.clone()
    }

    fn ceiling(&self) -> Option<Ceiling> {
        self.levels
            .iter()
            .filter_map(Level::ceiling)
            .min_by_key(Ceiling::headroom)
    }
}

fn sole_number(directory: &Path, file: &str) -> Option<u64> {
    let text = read_once(&directory.join(file)).ok()?;
    crate::kernel::keyed::first_number(&text)
}

fn sole_limit(directory: &Path, file: &str) -> Option<Bytes> {
    limit_value(&read_once(&directory.join(file)).ok()?)
}

#[cfg(test)]
mod tests;
