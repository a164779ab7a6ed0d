//! Everything around the processes, each at the pace that it is worth.

use std::os::fd::OwnedFd;

use leveloff_model::process::Pid;
use leveloff_model::sample::{Ceiling, CgroupReading, Gap, MachineReading};
use leveloff_model::units::{Bytes, Limit, Seconds};
use rustix::fs::{Mode, OFlags};
use rustix::io::pread;

use crate::ceiling::{Limits, host, nearest, rlimit};
use crate::cgroup::CgroupReader;
use crate::gpu::{GpuDevice, GpuReader};
use crate::handle::{Scratch, page_size};
use crate::kernel::statm;
use crate::machine::MachineReader;
use crate::proc_root::ProcRoot;
use crate::watched::Watched;

/// Readers of the machine around a run.
#[derive(Debug)]
pub struct Surroundings {
    proc_root: ProcRoot,
    machine: MachineReader,
    cgroup: Option<CgroupReader>,
    gpu: GpuReader,
    stated: Option<Limit>,
    rlimit: Option<Ceiling>,
    trainer: Option<Pid>,
    own_statm: Option<OwnedFd>,
    quick_at: Option<Seconds>,
    thorough_at: Option<Seconds>,
    gpu_at: Option<Seconds>,
    cards: Vec<GpuDevice>,
    /// The machine exactly as last read; what is told of it is steadied.
    machine_now: MachineReading,
    last: Around,
}

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Around {
    /// The host.
    pub machine: MachineReading,
    /// The control group.
    pub cgroup: Option<CgroupReading>,
    /// The nearest limit.
    pub ceiling: Option<Ceiling>,
}

/// The limits there are, as of the last reading and to the byte. What a sample tells is steadied for the
/// recording's sake; whoever acts on a limit must not be a grain late.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ceilings {
    /// The nearest limit of the control group and its ancestors.
    pub cgroup: Option<Ceiling>,
    /// The trainer's own.
    pub rlimit: Option<Ceiling>,
    /// The host's memory and swap.
    pub host: Option<Ceiling>,
}

/// Which part of a whole is worth telling.
#[derive(Debug, Clone, Copy)]
struct Parts {
    ceiling: u64,
    available: u64,
}

/// The host's memory is read at most this often, however fast the ticks. /dev/shm is read at each.
const QUICK_EVERY: Seconds = Seconds(0.9);

/// Pressure, events, limits and `memory.stat` make the kernel collect per-CPU counters.
const THOROUGH_EVERY: Seconds = Seconds(5.0);

/// A driver call for each card.
const GPU_EVERY: Seconds = Seconds(2.0);

/// What is used of a ceiling or available on the machine moves with every breath of the machine.
/// It is told at once when it moved by this part of the whole.
const COARSE: Parts = Parts {
    ceiling: 256,
    available: 1024,
};

/// At every thorough look by these smaller parts; nobody plans by more than a thousandth.
const FINE: Parts = Parts {
    ceiling: 1024,
    available: 4096,
};

/// Shared memory of the whole machine is told when it moved by this much: other people's programs
/// pass small messages through it all the time.
const SHARED_GRAIN: Bytes = Bytes(256 << 10);

/// Amounts of a control group are told when they moved by this much. The kernel itself charges in
/// batches for each core.
const CGROUP_GRAIN: Bytes = Bytes(1 << 20);

impl Ceilings {
    /// What limits a process of this machine right now.
    pub fn of(proc_root: &ProcRoot, pid: Pid) -> Ceilings {
        let mut around = Surroundings::new(proc_root, Some(pid), None);
        around.follow_trainer(pid);
        around.read(Seconds(0.0), Bytes::ZERO);
        around.ceilings()
    }

    /// The one with the least headroom.
    pub fn nearest(&self) -> Option<Ceiling> {
        let all = [self.cgroup, self.rlimit, self.host];
        all.into_iter().flatten().min_by_key(Ceiling::headroom)
    }
}

impl Surroundings {
    /// Readers for the machine around `root`, which may not be known.
    pub fn new(proc_root: &ProcRoot, root: Option<Pid>, stated: Option<Limit>) -> Surroundings {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        Surroundings {
            proc_root: proc_root.clone(),
            machine: MachineReader::new(proc_root, devshm_of(proc_root, root)),
            cgroup: root.map(|pid| CgroupReader::new(proc_root, "/", pid)),
            gpu: GpuReader::new(proc_root),
            stated,
            rlimit: None,
            trainer: None,
            own_statm: rustix::fs::open("/proc/self/statm", flags, Mode::empty()).ok(),
            quick_at: None,
            thorough_at: None,
            gpu_at: None,
            cards: Vec::new(),
            machine_now: MachineReading::default(),
            last: Around::default(),
        }
    }

    /// The trainer is known by now: its limits and its group count, not its launcher's. With
    /// several ranks, the first one's.
    pub fn follow_trainer(&mut self, pid: Pid) {
        if self.trainer.is_none() {
            self.trainer = Some(pid);
            self.cgroup = Some(CgroupReader::new(&self.proc_root, "/", pid));
            self.thorough_at = None;
        }
    }

    /// The trainer is gone; another may be followed.
    pub fn forget_trainer(&mut self, pid: Pid) {
        if self.trainer == Some(pid) {
            self.trainer = None;
            self.rlimit = None;
        }
    }

    /// The machine now, as far as it is due.
    pub fn read(&mut self, now: Seconds, tree: Bytes) -> Around {
        let is_due =
            |at: Option<Seconds>, every: Seconds| at.is_none_or(|at| (now - at).0 >= every.0);
        let mut parts = COARSE;
        if is_due(self.quick_at, QUICK_EVERY) {
            let thorough = is_due(self.thorough_at, THOROUGH_EVERY);
            parts = if thorough { FINE } else { COARSE };
            let machine = self.machine.read(thorough);
            self.machine_now = machine;
            self.last.machine = steady_machine(&self.last.machine, machine, parts);
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
                // A trainer that is just gone has no limits; its exit is told elsewhere.
                self.rlimit = self
                    .trainer
                    .and_then(|pid| rlimit(&self.proc_root, pid).ok().flatten());
            }
            self.quick_at = Some(now);
        } else {
            // Whether its growth is the run's own is seen by how it follows the steps, tick by tick.
            let used = self.machine.read_devshm_used();
            let machine = &mut self.last.machine;
            machine.devshm_used = steady(machine.devshm_used, used, SHARED_GRAIN);
        }
        let ceiling = nearest(&Limits {
            stated: self.stated,
            cgroup: self.cgroup.as_ref().and_then(CgroupReader::ceiling),
            rlimit: self.rlimit,
            machine: &self.last.machine,
            tree,
        });
        self.last.ceiling = ceiling.map(|now| steady_ceiling(self.last.ceiling, now, parts));
        self.last.clone()
    }

    /// What is cheap to read of what limits, between two ticks.
    pub fn glance(&mut self) {
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
    pub fn read_gpu(&mut self, now: Seconds, watched: &mut [Watched]) {
        if self.gpu_at.is_some_and(|at| (now - at).0 < GPU_EVERY.0) {
            return;
        }
        self.gpu_at = Some(now);
        if self.gpu.source().is_none() {
            self.gpu.read(&[]);
            return;
        }
        let pids: Vec<Pid> = watched
            .iter()
            .map(|process| process.handle().key().pid)
            .collect();
        let reading = self.gpu.read(&pids);
        self.cards = reading.devices;
        for process in watched {
            let pid = process.handle().key().pid;
            let held = reading
                .per_process
                .iter()
                .find(|(holder, _)| *holder == pid);
            process.set_gpu(held.map(|(_, amount)| *amount));
        }
    }

    /// Our own resident memory.
    pub fn own_rss(&self, scratch: &mut Scratch) -> Bytes {
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

/// The value before, unless it moved by at least `grain`: what stands still costs no bytes in a
/// recording.
fn steady(before: Option<Bytes>, now: Option<Bytes>, grain: Bytes) -> Option<Bytes> {
    match (before, now) {
        (Some(before), Some(now)) if before.0.abs_diff(now.0) < grain.0 => Some(before),
        _ => now,
    }
}

fn steady_machine(before: &MachineReading, now: MachineReading, parts: Parts) -> MachineReading {
    let grain = Bytes(now.total.unwrap_or_default().0 / parts.available);
    MachineReading {
        available: steady(before.available, now.available, grain),
        shmem: steady(before.shmem, now.shmem, SHARED_GRAIN),
        devshm_used: steady(before.devshm_used, now.devshm_used, SHARED_GRAIN),
        ..now
    }
}

fn steady_cgroup(before: &CgroupReading, now: CgroupReading) -> CgroupReading {
    if before.path != now.path {
        return now;
    }
    CgroupReading {
        current: steady(before.current, now.current, CGROUP_GRAIN),
        anon: steady(before.anon, now.anon, CGROUP_GRAIN),
        file: steady(before.file, now.file, CGROUP_GRAIN),
        shmem: steady(before.shmem, now.shmem, CGROUP_GRAIN),
        reclaimable: steady(before.reclaimable, now.reclaimable, CGROUP_GRAIN),
        ..now
    }
}

fn steady_ceiling(before: Option<Ceiling>, now: Ceiling, parts: Parts) -> Ceiling {
    let grain = now.limit.0 / parts.ceiling;
    match before {
        Some(before)
            if (before.kind, before.limit) == (now.kind, now.limit)
                && before.used.0.abs_diff(now.used.0) < grain =>
        {
            before
        }
        _ => now,
    }
}

/// The target's own /dev/shm: in a container it is another than ours.
fn devshm_of(proc_root: &ProcRoot, root: Option<Pid>) -> std::path::PathBuf {
    let host = std::path::PathBuf::from("/dev/shm");
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
    fn files_in_dev_shm_are_seen_between_two_looks_at_the_machine() {
        const SIZE: u64 = 32 << 20;
        let mut around = Surroundings::new(&ProcRoot::live(), None, None);
        let first = around.read(Seconds(0.0), Bytes::ZERO).machine;
        let Some(before) = first.devshm_used else {
            leveloff_testkit::cannot_run_here("/dev/shm is not a tmpfs with a size");
            return;
        };
        let file = tempfile::Builder::new()
            .prefix("leveloff-test-")
            .tempfile_in("/dev/shm")
            .unwrap();
        std::fs::write(file.path(), vec![1u8; SIZE as usize]).unwrap();
        let second = around.read(Seconds(0.1), Bytes::ZERO).machine;
        // Others use /dev/shm as well while tests run, so this is a lower bound with slack.
        let grown = second.devshm_used.unwrap().0.saturating_sub(before.0);
        assert!(grown >= SIZE / 2, "grew by {grown} of {SIZE}");
        assert_eq!(second.available, first.available, "the rest waits");
    }

    #[test]
    fn a_breath_of_the_machine_is_no_change_and_a_slow_drift_is_one() {
        let grain = Bytes(10);
        let mut told = Some(Bytes(100));
        let mut changes = 0;
        for now in 101..=130 {
            let next = steady(told, Some(Bytes(now)), grain);
            changes += u32::from(next != told);
            told = next;
        }
        assert_eq!((told, changes), (Some(Bytes(130)), 3));
    }

    #[test]
    fn what_is_no_longer_known_does_not_stay() {
        assert_eq!(steady(Some(Bytes(100)), None, Bytes(10)), None);
        assert_eq!(steady(None, Some(Bytes(0)), Bytes(10)), Some(Bytes::ZERO));
    }

    #[test]
    fn another_limit_is_told_at_once() {
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
