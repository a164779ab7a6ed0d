//! Reads everything around the processes, each at its own interval.

use std::fs::File;
use std::path::{Path, PathBuf};

use leveloff_model::process::Pid;
use leveloff_model::sample::{Ceiling, CgroupReading, Gap, MachineReading};
use leveloff_model::units::{Bytes, Limit, Seconds};
use rustix::io::pread;

use super::ceiling::{Limits, host, nearest, rlimit};
use super::cgroup::CgroupReader;
use super::machine::MachineReader;
use super::memory_files::MemoryFiles;
use super::shared_files::SharedFiles;
use crate::clock::Moment;
use crate::gpu::{GpuDevice, GpuReader};
use crate::kernel::statm;
use crate::proc_root::ProcRoot;
use crate::processes::handle::{Scratch, page_size};
use crate::processes::watched_process::WatchedProcess;

/// The readers of the machine around a run.
#[derive(Debug)]
pub struct SystemReaders {
    proc_root: ProcRoot,
    machine: MachineReader,
    shared_files: SharedFiles,
    memory_files: MemoryFiles,
    cgroup: Option<CgroupReader>,
    gpu: GpuReader,
    stated: Option<Limit>,
    rlimit: Option<Ceiling>,
    trainer: Option<Pid>,
    own_statm: Option<File>,
    quick_at: Option<Seconds>,
    /// The memory of the run when the host was last read.
    quick_tree: Bytes,
    own_rss: Bytes,
    thorough_at: Option<Seconds>,
    gpu_at: Option<Seconds>,
    cards: Vec<GpuDevice>,
    /// The machine exactly as last read, while `last` changes in coarse steps.
    machine_now: MachineReading,
    last: SystemReading,
}

/// The machine around a run at one tick.
#[derive(Debug, Clone, Default)]
pub struct SystemReading {
    pub machine: MachineReading,
    pub cgroup: Option<CgroupReading>,
    /// The limit with the least headroom.
    pub ceiling: Option<Ceiling>,
}

/// The limits as of the last reading, to the byte. A sample has them in coarse steps, to keep the recording
/// small; a guard needs them exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ceilings {
    /// The nearest limit of the control group and its ancestors.
    pub cgroup: Option<Ceiling>,
    /// The trainer's own.
    pub rlimit: Option<Ceiling>,
    /// The host's memory and swap.
    pub host: Option<Ceiling>,
}

/// By which part of the whole a value must change to be recorded.
#[derive(Debug, Clone, Copy)]
struct Steps {
    ceiling: u64,
    available: u64,
}

/// The shortest interval between two reads of the host's memory. /dev/shm is read at each tick.
const QUICK_EVERY: Seconds = Seconds(0.9);

/// Between two thorough readings the host and the control group are read when the memory of the run has changed by
/// this part of the host's memory.
const MOVED_PART: u64 = 8192;

/// The interval of thorough readings: for pressure, events, limits and `memory.stat` the kernel adds up
/// per-CPU counters.
const THOROUGH_EVERY: Seconds = Seconds(5.0);

/// The interval of GPU readings, which cost a driver call for each card.
const GPU_EVERY: Seconds = Seconds(2.0);

/// Available memory changes all the time. A change is recorded at once when it is this part of the whole.
const COARSE: Steps = Steps {
    ceiling: 256,
    available: 1024,
};

/// The smaller steps of a thorough reading.
const FINE: Steps = Steps {
    ceiling: 1024,
    available: 4096,
};

/// The recording step of the machine's shared memory: programs pass small messages through it all the time.
const SHARED_STEP: Bytes = Bytes(256 << 10);

/// The recording step of a control group's amounts. The kernel charges in batches for each core.
const CGROUP_STEP: Bytes = Bytes(1 << 20);

impl Ceilings {
    /// The limits of a process of this machine, read now.
    pub fn of(proc_root: &ProcRoot, pid: Pid) -> Ceilings {
        let mut readers = SystemReaders::new(proc_root, Some(pid), None);
        readers.follow_trainer(pid);
        readers.read(Seconds(0.0), Bytes::ZERO);
        readers.ceilings()
    }

    /// The limit with the least headroom.
    pub fn nearest(&self) -> Option<Ceiling> {
        let all = [self.cgroup, self.rlimit, self.host];
        all.into_iter().flatten().min_by_key(Ceiling::headroom)
    }
}

impl SystemReaders {
    /// Readers for the machine around `root`, which may be unknown.
    pub fn new(proc_root: &ProcRoot, root: Option<Pid>, stated: Option<Limit>) -> SystemReaders {
        let devshm = devshm_of(proc_root, root);
        let is_hosts = devshm == Path::new(HOST_DEVSHM);
        SystemReaders {
            proc_root: proc_root.clone(),
            machine: MachineReader::new(proc_root, &devshm),
            shared_files: SharedFiles::new(proc_root, devshm, is_hosts),
            memory_files: MemoryFiles::new(proc_root),
            cgroup: root.map(|pid| CgroupReader::new(proc_root, "/", pid)),
            gpu: GpuReader::new(proc_root),
            stated,
            rlimit: None,
            trainer: None,
            own_statm: File::open("/proc/self/statm").ok(),
            quick_at: None,
            quick_tree: Bytes::ZERO,
            own_rss: Bytes::ZERO,
            thorough_at: None,
            gpu_at: None,
            cards: Vec::new(),
            machine_now: MachineReading::default(),
            last: SystemReading::default(),
        }
    }

    /// Reads the limits and the group of this trainer from now on, not those of its launcher. With several
    /// ranks, the first trainer counts.
    pub fn follow_trainer(&mut self, pid: Pid) {
        if self.trainer.is_none() {
            self.trainer = Some(pid);
            self.cgroup = Some(CgroupReader::new(&self.proc_root, "/", pid));
            self.thorough_at = None;
        }
    }

    /// Stops following a trainer; another may take its place.
    pub fn forget_trainer(&mut self, pid: Pid) {
        if self.trainer == Some(pid) {
            self.trainer = None;
            self.rlimit = None;
        }
    }

    /// Reads what is due.
    pub fn read(&mut self, now: Seconds, tree: Bytes) -> SystemReading {
        let is_due =
            |at: Option<Seconds>, every: Seconds| at.is_none_or(|at| (now - at).0 >= every.0);
        let mut steps = COARSE;
        let thorough = is_due(self.thorough_at, THOROUGH_EVERY);
        if is_due(self.quick_at, QUICK_EVERY) && (thorough || self.has_moved(tree)) {
            steps = if thorough { FINE } else { COARSE };
            let machine = self.machine.read(thorough);
            self.machine_now = machine;
            self.last.machine = steady_machine(&self.last.machine, machine, steps);
            let cgroup = self
                .cgroup
                .as_mut()
                .and_then(|cgroup| cgroup.read(thorough));
            self.last.cgroup = cgroup.map(|now| match &self.last.cgroup {
                Some(before) => steady_cgroup(before, now),
                None => now,
            });
            if thorough {
                self.thorough_at = Some(now);
                // A trainer that has just exited has no limits.
                self.rlimit = self
                    .trainer
                    .and_then(|pid| rlimit(&self.proc_root, pid).ok().flatten());
            }
            self.quick_at = Some(now);
            self.quick_tree = tree;
        } else {
            // At every tick, because its growth is attributed to the run by how it follows the steps.
            let used = self.machine.read_devshm_used();
            let machine = &mut self.last.machine;
            machine.devshm_used = steady(machine.devshm_used, used, SHARED_STEP);
        }
        let ceiling = nearest(&Limits {
            stated: self.stated,
            cgroup: self.cgroup.as_ref().and_then(CgroupReader::ceiling),
            rlimit: self.rlimit,
            machine: &self.last.machine,
            tree,
        });
        self.last.ceiling = ceiling.map(|now| steady_ceiling(self.last.ceiling, now, steps));
        self.last.clone()
    }

    /// Whose the files in /dev/shm are, and the memfds of the run, after [`SystemReaders::read`].
    pub fn read_shared_files(
        &mut self,
        t: Seconds,
        now: Moment,
        ticks_per_second: u64,
        watched: &[WatchedProcess],
    ) -> SystemReading {
        let keys = watched.iter().map(|process| process.handle.key());
        self.shared_files.know(keys, now, ticks_per_second);
        let living = || watched.iter().map(WatchedProcess::pid);
        let machine = &mut self.last.machine;
        let elsewhere = machine.shmem.zip(machine.devshm_used);
        let elsewhere = elsewhere.map(|(all, files)| all.saturating_sub(files));
        let descriptors = watched.iter().filter_map(|process| process.reading.fds);
        let descriptors = descriptors.map(u64::from).sum();
        machine.memfd_own = self.memory_files.read(t, elsewhere, descriptors, living());
        let found = self.shared_files.read(t, machine.devshm_used, living());
        machine.devshm_own = found.map(|found| found.own);
        machine.devshm_foreign = found.map(|found| found.foreign);
        self.last.clone()
    }

    fn has_moved(&self, tree: Bytes) -> bool {
        let part = self.machine_now.total.unwrap_or_default().0 / MOVED_PART;
        tree.0.abs_diff(self.quick_tree.0) >= part.max(1)
    }

    /// Reads the values that are cheap to read, between two ticks.
    pub fn quick_read(&mut self) {
        self.machine_now = self.machine.read(false);
        if let Some(cgroup) = &mut self.cgroup {
            cgroup.read(false);
        }
    }

    /// The limits as of the last reading.
    pub fn ceilings(&self) -> Ceilings {
        Ceilings {
            cgroup: self.cgroup.as_ref().and_then(CgroupReader::ceiling),
            rlimit: self.rlimit,
            host: host(&self.machine_now),
        }
    }

    /// The cards as of the last reading.
    pub fn cards(&self) -> &[GpuDevice] {
        &self.cards
    }

    /// GPU memory of the watched processes, when due.
    pub fn read_gpu(&mut self, now: Seconds, watched: &mut [WatchedProcess]) {
        if self.gpu_at.is_some_and(|at| (now - at).0 < GPU_EVERY.0) {
            return;
        }
        self.gpu_at = Some(now);
        if self.gpu.source().is_none() {
            self.gpu.read(&[]);
            return;
        }
        let pids: Vec<Pid> = watched.iter().map(WatchedProcess::pid).collect();
        let reading = self.gpu.read(&pids);
        self.cards = reading.devices;
        for process in watched {
            let mut amounts = reading.per_process.iter();
            let held = amounts.find(|(pid, _)| *pid == process.pid());
            process.reading.gpu = held.map(|(_, amount)| *amount);
        }
    }

    /// The resident memory of leveloff, as of the last thorough reading.
    pub fn own_rss(&mut self, now: Seconds, scratch: &mut Scratch) -> Bytes {
        if self.own_rss == Bytes::ZERO || self.thorough_at == Some(now) {
            self.own_rss = self.read_own_rss(scratch);
        }
        self.own_rss
    }

    fn read_own_rss(&self, scratch: &mut Scratch) -> Bytes {
        let read = self.own_statm.as_ref().and_then(|file| {
            let length = pread(file, &mut scratch[..], 0).ok()?;
            statm::parse(&scratch[..length], page_size().0)
        });
        read.map_or(Bytes::ZERO, |statm| statm.anon + statm.shared)
    }

    /// What could not be read since the last call.
    pub fn take_gaps(&mut self) -> Vec<Gap> {
        let mut gaps = self.machine.take_gaps();
        gaps.extend(self.cgroup.iter_mut().flat_map(CgroupReader::take_gaps));
        gaps.extend(self.gpu.take_gaps());
        gaps
    }
}

/// The value before, unless it changed by at least `step`: an unchanged value costs no bytes in a recording.
fn steady(before: Option<Bytes>, now: Option<Bytes>, step: Bytes) -> Option<Bytes> {
    match (before, now) {
        (Some(before), Some(now)) if before.0.abs_diff(now.0) < step.0 => Some(before),
        _ => now,
    }
}

fn steady_machine(before: &MachineReading, now: MachineReading, steps: Steps) -> MachineReading {
    let step = Bytes(now.total.unwrap_or_default().0 / steps.available);
    MachineReading {
        available: steady(before.available, now.available, step),
        shmem: steady(before.shmem, now.shmem, SHARED_STEP),
        devshm_used: steady(before.devshm_used, now.devshm_used, SHARED_STEP),
        ..now
    }
}

fn steady_cgroup(before: &CgroupReading, now: CgroupReading) -> CgroupReading {
    if before.path != now.path {
        return now;
    }
    CgroupReading {
        current: steady(before.current, now.current, CGROUP_STEP),
        anon: steady(before.anon, now.anon, CGROUP_STEP),
        file: steady(before.file, now.file, CGROUP_STEP),
        shmem: steady(before.shmem, now.shmem, CGROUP_STEP),
        reclaimable: steady(before.reclaimable, now.reclaimable, CGROUP_STEP),
        ..now
    }
}

fn steady_ceiling(before: Option<Ceiling>, now: Ceiling, steps: Steps) -> Ceiling {
    let step = now.limit.0 / steps.ceiling;
    match before {
        Some(before)
            if (before.kind, before.limit) == (now.kind, now.limit)
                && before.used.0.abs_diff(now.used.0) < step =>
        {
            before
        }
        _ => now,
    }
}

const HOST_DEVSHM: &str = "/dev/shm";

/// The /dev/shm of the target, which in a container differs from that of the host.
fn devshm_of(proc_root: &ProcRoot, root: Option<Pid>) -> PathBuf {
    let host = PathBuf::from(HOST_DEVSHM);
    let Some(pid) = root else { return host };
    let inside = proc_root.process(pid).join("root/dev/shm");
    match (rustix::fs::stat(&inside), rustix::fs::stat(&host)) {
        (Ok(theirs), Ok(ours)) if theirs.st_dev != ours.st_dev => inside,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::sample::CeilingKind;

    use super::*;

    #[test]
    fn files_in_dev_shm_are_read_between_two_reads_of_the_machine() {
        // Another program may remove as much at the same moment, but not each time.
        assert!(
            (0..5).any(|_| grows_by_a_file(32 << 20)),
            "a file in /dev/shm was never seen"
        );
    }

    /// Whether the readers see a file of this size that is written between two reads.
    fn grows_by_a_file(size: u64) -> bool {
        let mut readers = SystemReaders::new(&ProcRoot::live(), None, None);
        let first = readers.read(Seconds(0.0), Bytes::ZERO).machine;
        let Some(before) = first.devshm_used else {
            leveloff_testkit::cannot_run_here("/dev/shm is not a tmpfs with a size");
            return true;
        };
        let file = tempfile::Builder::new()
            .prefix("leveloff-test-")
            .tempfile_in("/dev/shm")
            .unwrap();
        std::fs::write(file.path(), vec![1u8; size as usize]).unwrap();
        let second = readers.read(Seconds(0.1), Bytes::ZERO).machine;
        // Others use /dev/shm as well while tests run, so this is a lower bound with slack.
        let grown = second.devshm_used.unwrap().0.saturating_sub(before.0);
        assert_eq!(second.available, first.available, "the rest waits");
        grown >= size / 2
    }

    #[test]
    fn small_changes_are_dropped_and_a_slow_drift_is_recorded() {
        let grain = Bytes(10);
        let mut recorded = Some(Bytes(100));
        let mut changes = 0;
        for now in 101..=130 {
            let next = steady(recorded, Some(Bytes(now)), grain);
            changes += u32::from(next != recorded);
            recorded = next;
        }
        assert_eq!((recorded, changes), (Some(Bytes(130)), 3));
    }

    #[test]
    fn what_is_no_longer_known_does_not_stay() {
        assert_eq!(steady(Some(Bytes(100)), None, Bytes(10)), None);
        assert_eq!(steady(None, Some(Bytes(0)), Bytes(10)), Some(Bytes::ZERO));
    }

    #[test]
    fn another_limit_is_recorded_at_once() {
        let ceiling = |limit, used| Ceiling {
            kind: CeilingKind::Host,
            limit: Bytes(limit),
            used: Bytes(used),
        };
        let used = |now| steady_ceiling(Some(ceiling(1 << 20, 5000)), now, FINE).used;
        assert_eq!(used(ceiling(1 << 20, 5500)), Bytes(5000));
        assert_eq!(used(ceiling(1 << 21, 5001)), Bytes(5001));
        assert_eq!(used(ceiling(1 << 20, 7000)), Bytes(7000));
    }
}
