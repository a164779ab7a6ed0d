//! One watched process: its descriptors, its last counters, and what is due to be read.

use std::time::Duration;

use leveloff_model::process::{Pid, ProcessIndex, ProcessState};
use leveloff_model::sample::{FastCounters, Kinds, ProcessReading, PssReading};
use leveloff_model::units::{Bytes, CpuMillis, Seconds};

use super::handle::{ProcessHandle, ReadError, Scratch, page_size};
use super::pss_uncertainty::{CopyShare, SinceReading};
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
    /// Whether it used CPU between the last two reads of its `stat`.
    active: bool,
    /// It has exited, and what it shared is counted with its relatives.
    share_was_taken: bool,
    pss: PssState,
}

/// The memory that an exited process shared with its relatives.
#[derive(Debug, Clone, Copy)]
pub struct ExitedShare {
    pub pid: Pid,
    pub parent: Pid,
    pub is_fork_copy: bool,
    /// Its proportional share of the shared anonymous memory.
    pub shared: Bytes,
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
}

/// The values of a PSS reading.
#[derive(Debug)]
pub struct PssValues {
    pub rollup: Rollup,
    /// The fast counters of the same moment.
    pub base: FastCounters,
    /// Memory by kind, if requested.
    pub kinds: Option<Kinds>,
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
    copy_share: CopyShare,
    faults_then: u64,
    /// Faults between the last two readings.
    faults_between: u64,
    cpu_then: CpuMillis,
    relatives_changed: bool,
    kinds_at: Option<Seconds>,
}

/// The `stat` of an idle process is read every this many ticks, its `statm` at each. A process is idle if it
/// used no CPU and its memory did not change.
const IDLE_STAT_EVERY: u64 = 8;

impl WatchedProcess {
    /// The first [`WatchedProcess::read_fast`] fills the counters.
    pub fn new(index: ProcessIndex, handle: ProcessHandle, parent: Pid) -> WatchedProcess {
        WatchedProcess {
            handle,
            reading: ProcessReading::unread(index),
            parent,
            comm: Vec::new(),
            stack_start: None,
            statm: Statm {
                anon: Bytes(u64::MAX),
                shared: Bytes(u64::MAX),
            },
            active: true,
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

    /// Sets whether it is a forked copy that holds its parent's pages.
    pub fn set_fork_copy(&mut self, fork_copy: bool) {
        self.reading.inherited = if fork_copy {
            self.reading.anon
        } else {
            Bytes::ZERO
        };
    }

    /// Whether it is a forked copy of its parent.
    pub fn is_fork_copy(&self) -> bool {
        self.reading.inherited > Bytes::ZERO
    }

    /// Anonymous memory that it shared with others when it was last read.
    fn shared_part(&self) -> Bytes {
        self.reading
            .pss
            .map_or(Bytes::ZERO, |pss| pss.anon.saturating_sub(pss.private))
    }

    /// What it shared, for its relatives; zero when it was taken before.
    pub fn take_exited_share(&mut self) -> ExitedShare {
        let shared = if std::mem::replace(&mut self.share_was_taken, true) {
            Bytes::ZERO
        } else {
            self.shared_part()
        };
        ExitedShare {
            pid: self.pid(),
            parent: self.parent,
            is_fork_copy: self.is_fork_copy(),
            shared,
        }
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
        let due = (context.tick + u64::from(self.index().0)).is_multiple_of(IDLE_STAT_EVERY);
        if moved {
            self.take_statm(statm, context, scratch);
        } else if context.swap_in_use && due {
            self.split_by_status(scratch);
        }
        if moved || self.active || due {
            return self.read_stat(context, scratch);
        }
        Ok(false)
    }

    fn take_statm(&mut self, statm: Statm, context: &FastContext, scratch: &mut Scratch) {
        let shared_moved = statm.shared != self.statm.shared;
        self.statm = statm;
        self.reading.anon = statm.anon;
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
        let renamed = executed || self.comm != stat.comm || self.parent != stat.parent;
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
        self.reading.cpu = cpu;
        self.reading.fds = self.handle.descriptors(context.fd_size_is_count);
        Ok(renamed)
    }

    /// What happened since its PSS was read; `None` when it must not be read now.
    pub fn since_reading(&self, now: Seconds) -> Option<SinceReading> {
        let zombie = self.reading.state.is_gone();
        if self.pss.requested || self.pss.forbidden || zombie {
            return None;
        }
        Some(SinceReading {
            then: self.reading.pss.map(|pss| pss.base),
            now: self.reading.fast(),
            shared: self.pss.shared,
            minor_faults: self
                .reading
                .minor_faults
                .saturating_sub(self.pss.faults_then),
            copy_share: self.pss.copy_share,
            ran: self.reading.cpu != self.pss.cpu_then,
            relatives_changed: self.pss.relatives_changed,
            age: self.reading.pss.map_or(Seconds(0.0), |pss| now - pss.at),
        })
    }

    /// Notes that a process that shares its pages started or exited.
    pub fn set_relatives_changed(&mut self) {
        self.pss.relatives_changed = true;
    }

    /// CPU time of the last PSS reading, and the memory that it walked.
    pub fn last_pss_cost(&self) -> Option<(Duration, Bytes)> {
        self.pss.cost
    }

    /// When its memory was last read by kind.
    pub fn kinds_at(&self) -> Option<Seconds> {
        self.pss.kinds_at
    }

    /// Notes that a reading was requested.
    pub fn pss_requested(&mut self) {
        self.pss.requested = true;
        self.pss.faults_between = self
            .reading
            .minor_faults
            .saturating_sub(self.pss.faults_then);
        // Changes during the reading count as changes after it.
        self.pss.faults_then = self.reading.minor_faults;
        self.pss.cpu_then = self.reading.cpu;
        self.pss.relatives_changed = false;
    }

    /// Stores a reading. Returns how far it is from the estimate.
    pub fn take_pss(&mut self, at: Seconds, cost: Duration, values: &PssValues) -> Bytes {
        let (rollup, base) = (values.rollup, values.base);
        let estimate = self
            .reading
            .pss
            .map(|before| before.carried_to(base) + self.reading.returned);
        self.pss.requested = false;
        self.pss.shared = rollup.shared;
        self.pss.cost = Some((cost, self.reading.rss()));
        if values.kinds.is_some() {
            self.pss.kinds_at = Some(at);
        }
        let reading = PssReading {
            at,
            pss: rollup.pss,
            anon: rollup.anon,
            file: rollup.file,
            shmem: rollup.shmem,
            private: rollup.private,
            swap: rollup.swap,
            lazy_free: rollup.lazy_free,
            base,
        };
        self.reading.pss = Some(reading);
        self.reading.returned = Bytes::ZERO;
        let Some(estimate) = estimate else {
            return Bytes::ZERO;
        };
        let error = Bytes(estimate.0.abs_diff(reading.memory().0));
        let faulted = Bytes(self.pss.faults_between.saturating_mul(page_size().0));
        self.pss.copy_share.learn(error, faulted);
        error
    }

    /// Whether a process that shares its pages started or exited since its reading was requested.
    pub fn relatives_changed(&self) -> bool {
        self.pss.relatives_changed
    }

    /// Notes a failed reading. It is repeated later, unless it is forbidden.
    pub fn pss_failed(&mut self, forbidden: bool) {
        self.pss.requested = false;
        self.pss.forbidden = forbidden;
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
