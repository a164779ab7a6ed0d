//! One process under watch: its descriptors, its last counters, and what is due to be read.

use std::time::Duration;

use leveloff_model::process::{Pid, ProcessIndex, ProcessState};
use leveloff_model::sample::{FastCounters, Kinds, ProcessReading, PssReading};
use leveloff_model::units::{Bytes, CpuMillis, Seconds};
use rustix::io::Errno;

use crate::doubt::{Copying, SinceReading};
use crate::handle::{ProcessHandle, Reading, Scratch, page_size};
use crate::kernel::rollup::Rollup;
use crate::kernel::stat::Stat;
use crate::kernel::statm::Statm;

/// A process under watch.
#[derive(Debug)]
pub struct Watched {
    handle: ProcessHandle,
    reading: ProcessReading,
    parent: Pid,
    comm: Vec<u8>,
    /// Where its stack began; moves when it executes another program.
    stack_start: Option<u64>,
    statm: Statm,
    /// Whether it used CPU between the last two looks at its `stat`.
    active: bool,
    first_seen: Seconds,
    /// It has ended, and what it shared was given back.
    is_settled: bool,
    pss: PssState,
}

/// What someone who ended leaves behind.
#[derive(Debug, Clone, Copy)]
pub struct Legacy {
    /// The number it had.
    pub pid: Pid,
    /// Its parent.
    pub parent: Pid,
    /// Whether it was a fork's copy.
    pub is_fork_copy: bool,
    /// Anonymous memory that it shared, by its part of it.
    pub shared: Bytes,
}

/// What this machine looks like to every reading of a tick.
#[derive(Debug, Clone, Copy)]
pub struct FastContext {
    /// The kernel's page size.
    pub page_size: Bytes,
    /// Clock ticks in a second of CPU time.
    pub ticks_per_second: u64,
    /// Whether the size of `fd` counts descriptors.
    pub fd_size_is_count: bool,
    /// Whether anything is swapped out on this machine. If nothing is, nobody need be asked.
    pub swap_in_use: bool,
    /// Number of this tick.
    pub tick: u64,
}

/// What a fast look found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// It is there.
    There,
    /// It is there under another name or another parent, or as another program.
    Renamed,
    /// It is gone.
    Gone,
    /// It is there and may not be read.
    Unreadable(Errno),
}

/// Where the PSS of a process stands.
#[derive(Debug, Default)]
struct PssState {
    asked: bool,
    forbidden: bool,
    /// What the last reading cost, and how much memory it walked.
    cost: Option<(Duration, Bytes)>,
    /// Most anonymous memory that it shared at the last reading.
    shared: Bytes,
    copying: Copying,
    faults_then: u64,
    /// Faults between the last two readings.
    faults_between: u64,
    cpu_then: CpuMillis,
    kin_changed: bool,
    kinds_at: Option<Seconds>,
}

/// An idle process's `stat` is read every this many ticks; its `statm` at each. Idle is: no CPU
/// used and no memory moved.
const IDLE_STAT_EVERY: u64 = 8;

impl Watched {
    /// Starts watching. The first [`Watched::look`] fills the counters.
    pub fn new(index: ProcessIndex, handle: ProcessHandle, parent: Pid, now: Seconds) -> Watched {
        Watched {
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
            first_seen: now,
            is_settled: false,
            pss: PssState::default(),
        }
    }

    /// Its number in the recording.
    pub fn index(&self) -> ProcessIndex {
        self.reading.process
    }

    /// Its descriptors.
    pub fn handle(&self) -> &ProcessHandle {
        &self.handle
    }

    /// Its counters as last read.
    pub fn reading(&self) -> &ProcessReading {
        &self.reading
    }

    /// Its parent as last seen.
    pub fn parent(&self) -> Pid {
        self.parent
    }

    /// Its name as last seen.
    pub fn comm(&self) -> &[u8] {
        &self.comm
    }

    /// When it was first seen.
    pub fn first_seen(&self) -> Seconds {
        self.first_seen
    }

    /// It is a fork's copy that holds its parent's pages, or (`false`) a program of its own.
    pub fn set_fork_copy(&mut self, fork_copy: bool) {
        self.reading.inherited = if fork_copy {
            self.reading.anon
        } else {
            Bytes::ZERO
        };
    }

    /// Whether it is a fork's copy.
    pub fn is_fork_copy(&self) -> bool {
        self.reading.inherited > Bytes::ZERO
    }

    /// Anonymous memory that it shared with others when it was last read.
    fn shared_part(&self) -> Bytes {
        self.reading
            .pss
            .map_or(Bytes::ZERO, |pss| pss.anon.saturating_sub(pss.private))
    }

    /// What it leaves behind, if it has ended and this was not asked before.
    pub fn legacy(&mut self) -> Legacy {
        let shared = if std::mem::replace(&mut self.is_settled, true) {
            Bytes::ZERO
        } else {
            self.shared_part()
        };
        Legacy {
            pid: self.handle.key().pid,
            parent: self.parent,
            is_fork_copy: self.is_fork_copy(),
            shared,
        }
    }

    /// Whether it has ended, and what it shared has not been given back yet.
    pub fn has_just_ended(&self) -> bool {
        self.reading.state.is_gone() && !self.is_settled
    }

    /// A relative is gone, and left behind what it shared.
    pub fn take_back(&mut self, shared: Bytes) {
        self.reading.returned += shared;
    }

    /// GPU memory as last told.
    pub fn set_gpu(&mut self, gpu: Option<Bytes>) {
        self.reading.gpu = gpu;
    }

    /// The fast look: `statm` always, the rest when it moved or is due.
    pub fn look(&mut self, context: &FastContext, scratch: &mut Scratch) -> Look {
        let statm = match self.handle.statm(scratch, context.page_size.0) {
            Reading::Value(statm) => statm,
            Reading::Gone => return Look::Gone,
            Reading::Unreadable(errno) => return Look::Unreadable(errno),
        };
        let moved = statm != self.statm;
        let due = (context.tick + u64::from(self.index().0)).is_multiple_of(IDLE_STAT_EVERY);
        if moved {
            self.take_statm(statm, context, scratch);
        } else if context.swap_in_use && due {
            self.split_by_status(scratch);
        }
        if moved || self.active || due {
            return self.look_at_stat(context, scratch);
        }
        Look::There
    }

    fn take_statm(&mut self, statm: Statm, context: &FastContext, scratch: &mut Scratch) {
        let shared_moved = statm.shared != self.statm.shared;
        self.statm = statm;
        self.reading.anon = statm.anon;
        // `statm` gives file and shared memory as one number. Unless it moved, the split holds.
        if (shared_moved || context.swap_in_use) && !self.split_by_status(scratch) {
            self.reading.file = statm.shared.saturating_sub(self.reading.shmem);
        }
    }

    fn split_by_status(&mut self, scratch: &mut Scratch) -> bool {
        match self.handle.status_memory(scratch) {
            Reading::Value(memory) => {
                self.reading.anon = memory.anon;
                self.reading.file = memory.file;
                self.reading.shmem = memory.shmem;
                self.reading.swap = memory.swap;
                true
            }
            // A zombie's `status` has no memory lines, and nothing to split.
            Reading::Unreadable(_) | Reading::Gone => {
                if self.statm == Statm::default() {
                    self.reading.shmem = Bytes::ZERO;
                    self.reading.swap = Bytes::ZERO;
                }
                false
            }
        }
    }

    fn look_at_stat(&mut self, context: &FastContext, scratch: &mut Scratch) -> Look {
        let stat = match self.handle.stat(scratch) {
            Reading::Value(stat) => stat,
            Reading::Gone => return Look::Gone,
            Reading::Unreadable(errno) => return Look::Unreadable(errno),
        };
        // One that is on its way out has no stack any more, which says nothing about its program.
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
        // A process that is on its way out has given its memory back before it is a zombie.
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
        if renamed { Look::Renamed } else { Look::There }
    }

    /// What has happened since its PSS was read; `None` when it must not be read now.
    pub fn since_reading(&self, now: Seconds) -> Option<SinceReading> {
        let zombie = self.reading.state.is_gone();
        if self.pss.asked || self.pss.forbidden || zombie {
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
            copying: self.pss.copying,
            ran: self.reading.cpu != self.pss.cpu_then,
            kin_changed: self.pss.kin_changed,
            age: self.reading.pss.map_or(Seconds(0.0), |pss| now - pss.at),
        })
    }

    /// A relative that shares its pages came or went.
    pub fn kin_changed(&mut self) {
        self.pss.kin_changed = true;
    }

    /// Cost of the last PSS reading and what it walked.
    pub fn last_pss_cost(&self) -> Option<(Duration, Bytes)> {
        self.pss.cost
    }

    /// When its mappings were last told apart.
    pub fn kinds_at(&self) -> Option<Seconds> {
        self.pss.kinds_at
    }

    /// A reading has been asked for.
    pub fn pss_asked(&mut self) {
        self.pss.asked = true;
        self.pss.faults_between = self
            .reading
            .minor_faults
            .saturating_sub(self.pss.faults_then);
        // From here on: what happens while the reading is on its way counts as after it.
        self.pss.faults_then = self.reading.minor_faults;
        self.pss.cpu_then = self.reading.cpu;
        self.pss.kin_changed = false;
    }

    /// A reading has come. Returns how far it is from what was thought.
    pub fn take_pss(
        &mut self,
        at: Seconds,
        cost: Duration,
        rollup: &Rollup,
        base: FastCounters,
        kinds: Option<&Kinds>,
    ) -> Bytes {
        let thought = self
            .reading
            .pss
            .map(|before| before.carried_to(base) + self.reading.returned);
        self.pss.asked = false;
        self.pss.shared = rollup.shared;
        self.pss.cost = Some((cost, self.reading.rss()));
        if kinds.is_some() {
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
        let Some(thought) = thought else {
            return Bytes::ZERO;
        };
        let surprise = Bytes(thought.0.abs_diff(reading.memory().0));
        let faulted = Bytes(self.pss.faults_between.saturating_mul(page_size().0));
        self.pss.copying.learn(surprise, faulted);
        surprise
    }

    /// Whether somebody came or went who shares its pages, since its reading was asked for.
    pub fn was_overtaken(&self) -> bool {
        self.pss.kin_changed
    }

    /// A reading failed: for good when it is forbidden, else it may be tried again.
    pub fn pss_failed(&mut self, forbidden: bool) {
        self.pss.asked = false;
        self.pss.forbidden = forbidden;
    }
}

fn cpu_time(stat: &Stat<'_>, ticks_per_second: u64) -> CpuMillis {
    CpuMillis(stat.cpu_ticks.saturating_mul(1000) / ticks_per_second.max(1))
}

/// Running, sleeping and waiting change many times a second and say nothing about memory; they
/// are all `Sleeping`. Stopped and dead matter.
fn settled_state(state: ProcessState) -> ProcessState {
    match state {
        ProcessState::Stopped | ProcessState::Traced => ProcessState::Stopped,
        ProcessState::Zombie | ProcessState::Dead => ProcessState::Zombie,
        _ => ProcessState::Sleeping,
    }
}
