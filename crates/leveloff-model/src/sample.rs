//! One sample of a run.
//!
//! A [`Tick`] is what flows through the whole program. The sampler makes it from /proc, the recording's reader from a
//! file; the code that takes it does not depend on which.

use crate::allocation::{AllocationReading, AllocationSite, SiteHolder};
use crate::environment::Software;
use crate::process::{ProcessIndex, ProcessInfo, ProcessState};
use crate::progress::{Mark, Progress};
use crate::units::{ByteDelta, Bytes, CpuMillis, Seconds};

/// One sample, with what happened since the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// What happened since the last tick, in order.
    pub events: Vec<Event>,
    /// The state now.
    pub sample: Sample,
}

/// Something that happened between two samples.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A process joined the tree, or was there at the start.
    Appeared(ProcessInfo),
    /// A process's role, name, parent or command line changed.
    Changed(ProcessInfo),
    /// A process exited.
    Exited(ProcessIndex),
    /// The training reported something: a phase began, a checkpoint was written.
    Mark(Mark),
    /// A trainer's software, or more of it, is known.
    Software(Software),
    /// Something could not be measured. Reported once for each cause.
    Gap(Gap),
    /// A line that allocates was seen for the first time.
    Site(AllocationSite),
    /// What such lines hold was read.
    Allocations(AllocationReading),
    /// What keeps the memory of such a line was found.
    Holder(SiteHolder),
}

/// Something that could not be measured, and why. Unreadable is not zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Gap {
    /// What could not be measured.
    pub subject: Subject,
    /// The process concerned, if one is.
    pub process: Option<ProcessIndex>,
    /// What happened and what to do about it.
    pub text: String,
}

/// What a [`Gap`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A process's cheap counters.
    Process,
    /// A process's PSS.
    Pss,
    /// A process's open descriptors.
    Fds,
    /// A process's mappings.
    Mappings,
    /// A process's software: versions and variables.
    Software,
    /// Host memory.
    Machine,
    /// The control group.
    Cgroup,
    /// GPU memory.
    Gpu,
    /// Steps, epochs, phases.
    Progress,
    /// The clock: a suspend, a late tick.
    Clock,
    /// Lines that allocate.
    Allocations,
    /// Damaged lines in a recording.
    Recording,
    /// Something that a later version of leveloff measures.
    Other,
}

/// The state at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// When, on the recording's clock.
    pub t: Seconds,
    /// How far the training has come.
    pub progress: Progress,
    /// Every living process of the tree.
    pub processes: Vec<ProcessReading>,
    /// The biggest process's memory by kind, at a slow pace.
    pub mappings: Option<MappingReading>,
    /// The machine.
    pub machine: MachineReading,
    /// The target's control group, where there is one.
    pub cgroup: Option<CgroupReading>,
    /// The nearest limit.
    pub ceiling: Option<Ceiling>,
    /// What measuring cost.
    pub cost: OwnCost,
}

/// One process's counters.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessReading {
    /// Which process.
    pub process: ProcessIndex,
    /// What it does; one that is gone holds no memory.
    pub state: ProcessState,
    /// Resident anonymous memory, shared pages counted in full.
    pub anon: Bytes,
    /// Resident file pages.
    pub file: Bytes,
    /// Resident shared memory.
    pub shmem: Bytes,
    /// Swapped-out anonymous memory.
    pub swap: Bytes,
    /// Anonymous memory of a fork that still counts with its parent, by estimate, until its PSS is read: what it
    /// had when it was forked, without the pages that it has copied since.
    /// Zero for a process that executed a program of its own.
    pub inherited: Bytes,
    /// Memory that it got since its PSS was read without a change of its counters, by estimate: what exited fork
    /// relatives had shared with it, and pages that it copied. The next reading replaces it.
    pub returned: Bytes,
    /// The part of its PSS that counts with another process: pages that forks share count with the process that
    /// forked them. Negative in a fork, positive in its parent; adds up to zero over the processes of a run.
    pub transferred: ByteDelta,
    /// How far off its memory may be, by estimate; zero if it is negligible.
    pub uncertainty: Bytes,
    /// Address space, in steps of a mebibyte. A buffer that was reserved and is being filled leaves it unchanged.
    pub virtual_size: Option<Bytes>,
    /// Threads.
    pub threads: u32,
    /// Open descriptors; `None` when they may not be counted.
    pub fds: Option<u32>,
    /// Faults served without I/O.
    pub minor_faults: u64,
    /// Faults that read a disk.
    pub major_faults: u64,
    /// CPU time it has used, user and system.
    pub cpu: CpuMillis,
    /// The last PSS reading; `None` until there is one.
    pub pss: Option<PssReading>,
    /// GPU memory; `None` when it cannot be read.
    pub gpu: Option<Bytes>,
}

/// A reading of `smaps_rollup`, the only exact account of shared pages. It is costly, so it is taken seldom and carries
/// its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PssReading {
    /// When it was read.
    pub at: Seconds,
    /// Proportional set size.
    pub pss: Bytes,
    /// Its anonymous part.
    pub anon: Bytes,
    /// Its file part.
    pub file: Bytes,
    /// Its shared-memory part.
    pub shmem: Bytes,
    /// Pages that no other process maps.
    pub private: Bytes,
    /// Proportional swap.
    pub swap: Bytes,
    /// Pages given back with MADV_FREE: still resident, the kernel's to take.
    pub lazy_free: Bytes,
    /// Explicit huge pages (`MAP_HUGETLB`), which neither RSS nor PSS counts.
    pub hugetlb: Bytes,
    /// The fast counters (anon, shmem, swap) at the same moment, from which later deltas carry.
    pub base: FastCounters,
}

/// The counters that carry a PSS reading forward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FastCounters {
    /// Resident anonymous memory.
    pub anon: Bytes,
    /// Resident shared memory.
    pub shmem: Bytes,
    /// Swap.
    pub swap: Bytes,
}

/// The tree's memory, beside the sum of RSS.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TreeMemory {
    /// Memory of the tree: anonymous + shared memory + swap − lazily freed, shared
    /// pages counted once.
    pub total: Bytes,
    /// Sum of RSS, which counts a shared page once for each process.
    pub rss: Bytes,
    /// Sum of PSS as last read, where it was.
    pub pss: Bytes,
    /// Living processes.
    pub processes: u32,
    /// Of those, the ones whose share is an estimate because PSS was never read.
    pub unread: u32,
    /// Age of the oldest PSS reading in the total.
    pub oldest_pss: Option<Seconds>,
    /// How far off the total may be, by estimate.
    pub uncertainty: Bytes,
}

/// One process's memory by kind of mapping; the kinds add up to [`Kinds::total`].
#[derive(Debug, Clone, PartialEq)]
pub struct MappingReading {
    /// Which process.
    pub process: ProcessIndex,
    /// When.
    pub at: Seconds,
    /// By kind.
    pub kinds: Kinds,
    /// The reserved mapping that it fills, if one is seen to fill.
    pub filling: Option<FillingMapping>,
}

/// A private anonymous mapping of which more and more is used while its size stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FillingMapping {
    /// Its number: another mapping, or the same with another size, has another one.
    pub number: u32,
    /// Its size, all of which was reserved at once.
    pub size: Bytes,
    /// How much of it is used.
    pub used: Bytes,
}

/// Proportional memory by kind of mapping.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds {
    /// The main heap (brk).
    pub heap: Bytes,
    /// Other private anonymous mappings: malloc arenas, large blocks, tensors.
    pub anonymous: Bytes,
    /// Thread stacks that the kernel names; other threads' are anonymous.
    pub stacks: Bytes,
    /// Files: libraries, mapped data sets.
    pub file: Bytes,
    /// Files in /dev/shm.
    pub devshm: Bytes,
    /// memfd, System V and anonymous shared memory.
    pub memfd: Bytes,
    /// Device mappings: pinned host memory of a GPU driver.
    pub device: Bytes,
    /// Swapped out.
    pub swap: Bytes,
    /// Kinds that a later version of leveloff recorded.
    pub other: Bytes,
    /// Shared memory by the names of its mappings; `None` in recordings of earlier versions. It is part of `devshm` and
    /// `memfd`.
    pub shared: Option<SharedNames>,
}

/// Shared mappings whose names show what they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedNames {
    /// Of the files in /dev/shm, those of torch.multiprocessing: batches of loader workers, shared tensors.
    pub torch: Bytes,
    /// Of the files in /dev/shm, Ray's object store.
    pub plasma: Bytes,
    /// memfds; the rest of `memfd` is anonymous shared memory and System V's.
    pub memfd: Bytes,
}

/// The whole machine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MachineReading {
    /// RAM.
    pub total: Option<Bytes>,
    /// `MemAvailable`: the kernel's estimate of what can be allocated without swapping.
    pub available: Option<Bytes>,
    /// Shared memory, tmpfs and unmapped segments included.
    pub shmem: Option<Bytes>,
    /// Bytes in files in /dev/shm.
    pub devshm_used: Option<Bytes>,
    /// Of those, in files of the run: its processes have them open, or their names say so.
    pub devshm_own: Option<Bytes>,
    /// And in files that are known to be another program's.
    pub devshm_foreign: Option<Bytes>,
    /// Bytes in memfds that processes of the run hold, mapped or not.
    pub memfd_own: Option<Bytes>,
    /// Its size.
    pub devshm_size: Option<Bytes>,
    /// Swap in use.
    pub swap_used: Option<Bytes>,
    /// Swap there is.
    pub swap_total: Option<Bytes>,
    /// Share of the last 10 s in which some task waited for memory, in percent.
    pub pressure_some: Option<f32>,
    /// Share in which all did.
    pub pressure_full: Option<f32>,
    /// OOM kills since boot.
    pub oom_kills: Option<u64>,
}

/// The memory control group of the target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CgroupReading {
    /// 1 or 2.
    pub version: u8,
    /// Its path below the hierarchy's root.
    pub path: String,
    /// The tightest hard limit of it and its ancestors.
    pub limit: Option<Bytes>,
    /// The level from which the kernel throttles (version 2).
    pub high: Option<Bytes>,
    /// Everything charged to it, cache included.
    pub current: Option<Bytes>,
    /// Anonymous memory.
    pub anon: Option<Bytes>,
    /// Page cache, shared memory included.
    pub file: Option<Bytes>,
    /// Shared memory and tmpfs.
    pub shmem: Option<Bytes>,
    /// Cache that the kernel reclaims before it kills.
    pub reclaimable: Option<Bytes>,
    /// Times the limit was hit.
    pub limit_hits: Option<u64>,
    /// Processes that the kernel killed here.
    pub oom_kills: Option<u64>,
}

/// The nearest limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling {
    /// What limits.
    pub kind: CeilingKind,
    /// At which amount.
    pub limit: Bytes,
    /// How much of it is in use and cannot be reclaimed.
    pub used: Bytes,
}

/// What limits memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CeilingKind {
    /// A control group's hard limit.
    Cgroup,
    /// The trainer's own RLIMIT_AS or RLIMIT_DATA.
    Rlimit,
    /// The host's memory and swap.
    Host,
    /// A limit that the user stated.
    Stated,
    /// A limit of a kind that a later version of leveloff recorded.
    Other,
}

/// What measuring cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct OwnCost {
    /// CPU time of the whole recorder since it started.
    pub cpu: CpuMillis,
    /// Its resident memory.
    pub rss: Bytes,
    /// CPU time of this tick, in microseconds.
    pub tick_us: u32,
}

impl CeilingKind {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            CeilingKind::Cgroup => "cgroup",
            CeilingKind::Rlimit => "rlimit",
            CeilingKind::Host => "host",
            CeilingKind::Stated => "stated",
            CeilingKind::Other => "other",
        }
    }
}

impl Subject {
    /// Its name in a list.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Process => "a process",
            Subject::Pss => "shared memory of a process",
            Subject::Fds => "descriptors",
            Subject::Mappings => "mappings",
            Subject::Software => "software versions",
            Subject::Machine => "the machine",
            Subject::Cgroup => "the control group",
            Subject::Gpu => "GPU memory",
            Subject::Progress => "steps",
            Subject::Clock => "some time",
            Subject::Allocations => "lines that allocate",
            Subject::Recording => "damaged lines",
            Subject::Other => "something that this version does not measure",
        }
    }
}

impl ProcessReading {
    /// A process before its first reading.
    pub fn unread(process: ProcessIndex) -> ProcessReading {
        ProcessReading {
            process,
            state: ProcessState::Sleeping,
            anon: Bytes::ZERO,
            file: Bytes::ZERO,
            shmem: Bytes::ZERO,
            swap: Bytes::ZERO,
            inherited: Bytes::ZERO,
            returned: Bytes::ZERO,
            transferred: ByteDelta(0),
            uncertainty: Bytes::ZERO,
            virtual_size: None,
            threads: 0,
            fds: None,
            minor_faults: 0,
            major_faults: 0,
            cpu: CpuMillis(0),
            pss: None,
            gpu: None,
        }
    }

    /// Resident set size: every page it maps, shared or not.
    pub fn rss(&self) -> Bytes {
        self.anon + self.file + self.shmem
    }

    /// The counters that carry PSS.
    pub fn fast(&self) -> FastCounters {
        FastCounters {
            anon: self.anon,
            shmem: self.shmem,
            swap: self.swap,
        }
    }

    /// This process's share of the tree's memory: the last PSS reading carried forward by what the
    /// fast counters did since, plus `returned` and `transferred`. Before the first reading: what it holds beyond what it
    /// inherited. Never more than it has mapped.
    pub fn memory(&self) -> Bytes {
        let mapped = self.anon + self.shmem + self.swap;
        match &self.pss {
            Some(reading) => {
                let own = reading.carried_to(self.fast()) + self.returned;
                own.moved_by(self.transferred).min(mapped) + reading.hugetlb
            }
            None => mapped.saturating_sub(self.inherited),
        }
    }
}

impl PssReading {
    /// Anonymous + shared memory + swap − lazily freed, at the time of reading.
    pub fn memory(&self) -> Bytes {
        (self.anon + self.shmem + self.swap).saturating_sub(self.lazy_free)
    }

    /// The same, moved by what the fast counters did since.
    pub fn carried_to(&self, now: FastCounters) -> Bytes {
        let moved = now.anon.since(self.base.anon)
            + now.shmem.since(self.base.shmem)
            + now.swap.since(self.base.swap);
        self.memory().moved_by(moved)
    }
}

impl TreeMemory {
    /// The tree's memory at `t`.
    pub fn of(processes: &[ProcessReading], t: Seconds) -> TreeMemory {
        let mut tree = TreeMemory::default();
        for reading in processes {
            tree.total += reading.memory();
            tree.rss += reading.rss();
            tree.uncertainty += reading.uncertainty;
            tree.processes += 1;
            match &reading.pss {
                Some(pss) => {
                    tree.pss += pss.pss;
                    let age = t - pss.at;
                    if tree.oldest_pss.is_none_or(|oldest| age > oldest) {
                        tree.oldest_pss = Some(age);
                    }
                }
                // A process that exited has no memory: its zero is exact.
                None if reading.state.is_gone() => {}
                None => tree.unread += 1,
            }
        }
        tree
    }
}

impl Sample {
    /// The tree's memory.
    pub fn tree(&self) -> TreeMemory {
        TreeMemory::of(&self.processes, self.t)
    }
}

impl Kinds {
    /// All kinds together: PSS plus swap.
    pub fn total(&self) -> Bytes {
        self.named().into_iter().map(|(_, amount)| amount).sum()
    }

    /// Each kind with its name, in the order of reading.
    pub fn named(&self) -> [(&'static str, Bytes); 9] {
        [
            ("heap", self.heap),
            ("anonymous", self.anonymous),
            ("stacks", self.stacks),
            ("file", self.file),
            ("devshm", self.devshm),
            ("memfd", self.memfd),
            ("device", self.device),
            ("swap", self.swap),
            ("other", self.other),
        ]
    }
}

impl Ceiling {
    /// How much is left below the limit.
    pub fn headroom(&self) -> Bytes {
        self.limit.saturating_sub(self.used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(anon: u64, pss: Option<PssReading>) -> ProcessReading {
        ProcessReading {
            process: ProcessIndex(0),
            state: ProcessState::Sleeping,
            anon: Bytes(anon),
            file: Bytes(300),
            shmem: Bytes(0),
            swap: Bytes(0),
            inherited: Bytes(80),
            returned: Bytes(0),
            transferred: ByteDelta(0),
            uncertainty: Bytes(0),
            virtual_size: None,
            threads: 1,
            fds: None,
            minor_faults: 0,
            major_faults: 0,
            cpu: CpuMillis(0),
            pss,
            gpu: None,
        }
    }

    fn pss(anon: u64, base_anon: u64) -> PssReading {
        PssReading {
            at: Seconds(1.0),
            pss: Bytes(anon + 10),
            anon: Bytes(anon),
            file: Bytes(10),
            shmem: Bytes(0),
            private: Bytes(anon),
            swap: Bytes(0),
            lazy_free: Bytes(0),
            hugetlb: Bytes(0),
            base: FastCounters {
                anon: Bytes(base_anon),
                ..FastCounters::default()
            },
        }
    }

    #[test]
    fn a_pss_reading_is_carried_by_fast_deltas() {
        assert_eq!(reading(150, Some(pss(20, 100))).memory(), Bytes(70));
        assert_eq!(reading(70, Some(pss(20, 100))).memory(), Bytes::ZERO);
    }

    #[test]
    fn returned_memory_is_added_up_to_what_is_mapped() {
        let mut parent = reading(100, Some(pss(20, 100)));
        parent.returned = Bytes(30);
        assert_eq!(parent.memory(), Bytes(50));
        parent.returned = Bytes(500);
        assert_eq!(parent.memory(), Bytes(100));
    }

    #[test]
    fn pages_that_forks_share_count_with_their_parent() {
        let mut parent = reading(100, Some(pss(20, 100)));
        let mut fork = reading(100, Some(pss(25, 100)));
        parent.transferred = ByteDelta(15);
        fork.transferred = ByteDelta(-15);
        assert_eq!((parent.memory(), fork.memory()), (Bytes(35), Bytes(10)));
    }

    #[test]
    fn explicit_huge_pages_are_in_no_counter_and_count() {
        let mut huge = pss(20, 100);
        huge.hugetlb = Bytes(400);
        assert_eq!(reading(100, Some(huge)).memory(), Bytes(420));
    }

    #[test]
    fn an_unread_fork_counts_only_what_it_added() {
        assert_eq!(reading(100, None).memory(), Bytes(20));
    }

    #[test]
    fn the_tree_counts_shared_pages_once_and_counts_estimates() {
        let processes = [reading(100, Some(pss(20, 100))), reading(100, None)];
        let tree = TreeMemory::of(&processes, Seconds(4.0));
        assert_eq!(tree.total, Bytes(40));
        assert_eq!(tree.rss, Bytes(800));
        assert_eq!((tree.processes, tree.unread), (2, 1));
        assert_eq!(tree.oldest_pss, Some(Seconds(3.0)));
    }
}
