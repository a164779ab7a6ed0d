//! One watched process: its descriptors, its last counters, and what is due to be read.

mod forked_pages;
mod pss_readings;

use std::time::Duration;

use leveloff_model::process::{Pid, ProcessIndex, ProcessState};
use leveloff_model::sample::{FastCounters, Kinds, ProcessReading};
use leveloff_model::units::{Bytes, CpuMillis, Seconds};

use super::copied_pages::{CopyCurve, RecentCopies};
use super::handle::{ProcessHandle, ReadError, Scratch};
use super::pss_uncertainty::CopyShare;
use crate::facts::ray;
use crate::kernel::large_mappings::LargeMappings;
use crate::kernel::rollup::Rollup;
use crate::kernel::stat::Stat;
use crate::kernel::statm::Statm;

/// A watched process.
#[derive(Debug)]
pub struct WatchedProcess {
    pub handle: ProcessHandle,
    /// Its counters as last read.
    pub reading: ProcessReading,
    /// Its parent as last read.
    pub parent: Pid,
    comm: Vec<u8>,
    /// Where its stack began; moves when it executes another program.
    stack_start: Option<u64>,
    statm: Statm,
    /// Its anonymous memory at the read before the last change.
    anon_before: Bytes,
    /// Whether it used CPU between the last two reads of its `stat`.
    active: bool,
    /// Whether it used CPU since its descriptors were counted.
    may_have_opened: bool,
    /// It has exited, and what it shared is counted with its relatives.
    share_was_taken: bool,
    is_fork_copy: bool,
    /// Its lowest anonymous memory since it shares pages with forks or with the process that forked it: it holds at
    /// most this much of the pages that were shared at the fork.
    lowest_anon: Bytes,
    /// Its lowest anonymous memory since it was forked: it holds at most this much of its parent's pages.
    lowest_as_fork: Bytes,
    /// Its counters when it began to share pages with forks of its own; those of a fork began at zero.
    at_fork: AtFork,
    /// What it copies itself while it has forks.
    pub own_curve: CopyCurve,
    /// What its forks copy.
    pub forks_curve: CopyCurve,
    /// What it copied lately.
    recent_copies: RecentCopies,
    /// What exited relatives had shared with it; the estimate of copied pages comes on top in the reading.
    returned: Bytes,
    /// Of that, what several forks share.
    left_to_forks: Bytes,
    /// Of what it shares, what its parent holds as well and counts.
    with_parent: Bytes,
    first_seen: Seconds,
    pss: PssState,
}

/// A reading of a process without its relatives: it shows how much of it is shared, and not with how many.
#[derive(Debug, Clone, Copy)]
struct SharedSample {
    /// Anonymous memory that it shared.
    shared: Bytes,
    /// All its anonymous memory.
    anon: Bytes,
    /// What it had faulted in.
    faulted: Bytes,
    /// Its lowest anonymous memory since.
    lowest: Bytes,
}

#[derive(Debug, Clone, Copy, Default)]
struct AtFork {
    faults: u64,
    file: Bytes,
    shmem: Bytes,
}

/// The memory that an exited process shared with its relatives.
#[derive(Debug, Clone, Copy)]
pub struct ExitedShare {
    pub pid: Pid,
    pub parent: Pid,
    pub is_fork_copy: bool,
    /// Its proportional share of the shared anonymous memory.
    pub shared: Bytes,
    /// Of it, what its parent holds as well and counted.
    pub with_parent: Bytes,
}

/// What is the same for all reads of a tick.
#[derive(Debug, Clone, Copy)]
pub struct FastContext {
    /// The kernel's page size.
    pub page_size: Bytes,
    /// Clock ticks in a second of CPU time.
    pub ticks_per_second: u64,
    /// Whether the size of `fd` counts descriptors.
    pub fd_size_is_count: bool,
    /// Whether anything is swapped out on this machine. If not, the swap of the processes is not read.
    pub swap_in_use: bool,
    /// Number of this tick.
    pub tick: u64,
    /// When this tick began.
    pub now: Seconds,
    /// The same since the machine was booted, as start times count.
    pub uptime: Seconds,
}

/// The values of a PSS reading.
#[derive(Debug)]
pub struct PssValues {
    pub rollup: Rollup,
    /// The fast counters of the same moment.
    pub base: FastCounters,
    /// Memory by kind, if requested.
    pub kinds: Option<Kinds>,
    /// Large anonymous mappings of the same reading; none if memory by kind was not requested.
    pub large: LargeMappings,
}

/// The state of a process's PSS readings.
#[derive(Debug, Default)]
struct PssState {
    requested: bool,
    forbidden: bool,
    /// What the last reading cost, and how much memory it walked.
    cost: Option<(Duration, Bytes)>,
    /// Upper bound of the anonymous memory that it shared at the last reading.
    shared: Bytes,
    /// Anonymous memory of its own at the last reading.
    private_anon: Bytes,
    copy_share: CopyShare,
    faults_then: u64,
    /// Faults between the last two readings.
    faults_between: u64,
    cpu_then: CpuMillis,
    relatives_changed: bool,
    kinds_at: Option<Seconds>,
    /// Its anonymous memory then.
    anon_at_kinds: Bytes,
    /// Its lowest anonymous memory since the reading.
    lowest_anon: Bytes,
    /// Memory that it had faulted in before the reading, beyond what its counters explain.
    faulted_then: Bytes,
    /// Whether it shared pages with forks or with its parent at the reading.
    shared_with_relatives: bool,
    /// How far off the estimate of what it copied may be.
    copy_error: Bytes,
    sampled_at: Option<Seconds>,
    faulted_at_sample: Bytes,
    /// The last reading without relatives since it was read with them, or since the last fork.
    sample: Option<SharedSample>,
}

/// The `stat` of an idle process is read every this many ticks, its `statm` at each. A process is idle if it
/// used no CPU and its memory did not change.
const IDLE_STAT_EVERY: u64 = 8;

/// The descriptors of a process that uses CPU are counted every this many ticks: they pile up slowly.
const DESCRIPTORS_EVERY: u64 = 4;

/// The faults of a fork are read at each tick until it is this old.
const YOUNG: Seconds = Seconds(10.0);

/// The step in which the size of the address space is recorded.
const SIZE_STEP: u64 = 1 << 20;

impl WatchedProcess {
    /// The first [`WatchedProcess::read_fast`] fills the counters.
    pub fn new(
        index: ProcessIndex,
        handle: ProcessHandle,
        parent: Pid,
        first_seen: Seconds,
    ) -> WatchedProcess {
        WatchedProcess {
            is_fork_copy: false,
            lowest_anon: Bytes(u64::MAX),
            lowest_as_fork: Bytes(u64::MAX),
            at_fork: AtFork::default(),
            own_curve: CopyCurve::of_parent(),
            forks_curve: CopyCurve::of_forks(),
            recent_copies: RecentCopies::default(),
            returned: Bytes::ZERO,
            left_to_forks: Bytes::ZERO,
            with_parent: Bytes::ZERO,
            first_seen,
            handle,
            reading: ProcessReading::unread(index),
            parent,
            comm: Vec::new(),
            stack_start: None,
            statm: Statm::UNREAD,
            anon_before: Bytes::ZERO,
            active: true,
            may_have_opened: true,
            share_was_taken: false,
            pss: PssState::default(),
        }
    }

    pub fn index(&self) -> ProcessIndex {
        self.reading.process
    }

    pub fn pid(&self) -> Pid {
        self.handle.key().pid
    }

    /// Whether its PSS was read.
    pub fn is_read(&self) -> bool {
        self.reading.pss.is_some()
    }

    /// Whether it is a zombie, and its relatives do not have its share yet.
    pub fn has_just_ended(&self) -> bool {
        self.reading.state.is_gone() && !self.share_was_taken
    }

    /// Reads `statm`, and the rest when memory changed or it is due. Returns whether the process has another
    /// name or parent, or executed another program.
    pub fn read_fast(
        &mut self,
        context: &FastContext,
        scratch: &mut Scratch,
    ) -> Result<bool, ReadError> {
        let statm = self.handle.statm(scratch, context.page_size.0)?;
        let moved = statm != self.statm;
        let turn = context.tick + u64::from(self.index().0);
        let due = turn.is_multiple_of(IDLE_STAT_EVERY);
        if moved {
            self.take_statm(statm, context, scratch);
        } else if context.swap_in_use && due {
            self.split_by_status(scratch);
        }
        self.follow_lowest();
        let mut renamed = false;
        if moved || self.active || due || self.is_young_fork(context) {
            renamed = self.read_stat(context, scratch)?;
        }
        let is_uncounted = self.reading.fds.is_none();
        if self.may_have_opened && (is_uncounted || turn.is_multiple_of(DESCRIPTORS_EVERY)) {
            self.reading.fds = self.handle.descriptors(context.fd_size_is_count);
            self.may_have_opened = false;
        }
        Ok(renamed)
    }

    fn follow_lowest(&mut self) {
        let anon = self.reading.anon;
        self.lowest_anon = self.lowest_anon.min(anon);
        self.lowest_as_fork = self.lowest_as_fork.min(anon);
        self.pss.lowest_anon = self.pss.lowest_anon.min(anon);
        if let Some(sample) = &mut self.pss.sample {
            sample.lowest = sample.lowest.min(anon);
        }
    }

    /// Copied pages show in the faults only, and a fork copies most when it is young.
    fn is_young_fork(&self, context: &FastContext) -> bool {
        // One that leveloff attached to late is as old as it is.
        let started = self.handle.key().start.0 as f64 / context.ticks_per_second as f64;
        self.is_fork_copy
            && (context.now - self.first_seen).0 < YOUNG.0
            && context.uptime.0 - started < YOUNG.0
    }

    fn take_statm(&mut self, statm: Statm, context: &FastContext, scratch: &mut Scratch) {
        let shared_moved = statm.shared != self.statm.shared;
        self.statm = statm;
        self.anon_before = self.reading.anon;
        self.reading.anon = statm.anon;
        self.reading.virtual_size = steady_size(self.reading.virtual_size, statm.virtual_size);
        // `statm` has file and shared memory as one number. Unless that changed, the split holds.
        if (shared_moved || context.swap_in_use) && !self.split_by_status(scratch) {
            self.reading.file = statm.shared.saturating_sub(self.reading.shmem);
        }
    }

    fn split_by_status(&mut self, scratch: &mut Scratch) -> bool {
        match self.handle.status_memory(scratch) {
            Ok(memory) => {
                self.reading.anon = memory.anon;
                self.reading.file = memory.file;
                self.reading.shmem = memory.shmem;
                self.reading.swap = memory.swap;
                true
            }
            // The `status` of a zombie has no memory lines.
            Err(_) => {
                if self.statm == Statm::default() {
                    self.reading.shmem = Bytes::ZERO;
                    self.reading.swap = Bytes::ZERO;
                }
                false
            }
        }
    }

    fn read_stat(
        &mut self,
        context: &FastContext,
        scratch: &mut Scratch,
    ) -> Result<bool, ReadError> {
        let stat = self.handle.stat(scratch)?;
        // An exiting process has no stack any more, which says nothing about its program.
        let executed = stat.stack_start.is_some() && stat.stack_start != self.stack_start;
        let is_renamed = self.comm != stat.comm && !ray::is_passing_title(&self.comm, stat.comm);
        let renamed = executed || is_renamed || self.parent != stat.parent;
        if executed {
            self.stack_start = stat.stack_start;
        }
        if renamed {
            self.comm.clear();
            self.comm.extend_from_slice(stat.comm);
            self.parent = stat.parent;
        }
        let cpu = cpu_time(&stat, context.ticks_per_second);
        self.active = cpu != self.reading.cpu;
        // An exiting process has freed its memory before it is a zombie.
        let has_memory = self.statm != Statm::default() || self.reading.swap > Bytes::ZERO;
        self.reading.state = if has_memory {
            settled_state(stat.state)
        } else {
            ProcessState::Zombie
        };
        self.reading.threads = stat.threads;
        self.reading.minor_faults = stat.minor_faults;
        self.reading.major_faults = stat.major_faults;
        // A process that used no CPU has opened nothing.
        self.may_have_opened |= self.active;
        self.reading.cpu = cpu;
        Ok(renamed)
    }
}

/// The size before, unless it changed by a step: an unchanged value costs no bytes in a recording.
fn steady_size(before: Option<Bytes>, now: Bytes) -> Option<Bytes> {
    match before {
        Some(before) if before.0.abs_diff(now.0) < SIZE_STEP => Some(before),
        _ => Some(Bytes(now.0 / SIZE_STEP * SIZE_STEP)),
    }
}

fn cpu_time(stat: &Stat<'_>, ticks_per_second: u64) -> CpuMillis {
    CpuMillis(stat.cpu_ticks.saturating_mul(1000) / ticks_per_second.max(1))
}

/// Running, sleeping and waiting alternate many times a second and say nothing about memory; they are all
/// recorded as sleeping.
fn settled_state(state: ProcessState) -> ProcessState {
    match state {
        ProcessState::Stopped | ProcessState::Traced => ProcessState::Stopped,
        ProcessState::Zombie | ProcessState::Dead => ProcessState::Zombie,
        _ => ProcessState::Sleeping,
    }
}
