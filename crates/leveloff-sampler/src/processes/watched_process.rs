//! One watched process: its descriptors, its last counters, and what is due to be read.

use std::time::Duration;

use leveloff_model::process::{Pid, ProcessIndex, ProcessState};
use leveloff_model::sample::{FastCounters, Kinds, ProcessReading, PssReading};
use leveloff_model::units::{Bytes, CpuMillis, Seconds};

use super::copied_pages::{CopiedPages, CopyCurve, RecentCopies};
use super::handle::{ProcessHandle, ReadError, Scratch, page_size};
use super::pss_uncertainty::{CopyShare, SinceReading};
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

/// A fault on a mapped file maps the pages around it as well: 64 KiB by default (`fault_around_bytes`).
const FILE_PAGES_PER_FAULT: u64 = 16;

/// How often the memory of the largest process is read by kind, together with its PSS.
const KINDS_EVERY: Seconds = Seconds(60.0);

/// While it grows, it is read at least so far apart,
const KINDS_OF_GROWTH: Seconds = Seconds(5.0);

/// and when it was watched for so much longer: which mapping is filled has to be known before the growth is judged.
const KINDS_PER_AGE: f64 = 0.125;

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
            at_fork: AtFork::default(),
            own_curve: CopyCurve::of_parent(),
            forks_curve: CopyCurve::of_forks(),
            recent_copies: RecentCopies::default(),
            returned: Bytes::ZERO,
            first_seen,
            handle,
            reading: ProcessReading::unread(index),
            parent,
            comm: Vec::new(),
            stack_start: None,
            statm: Statm::UNREAD,
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

    /// Sets whether it is a forked copy that holds its parent's pages.
    pub fn set_fork_copy(&mut self, fork_copy: bool) {
        self.is_fork_copy = fork_copy;
        self.lowest_anon = self.reading.anon;
        if !fork_copy {
            self.reading.inherited = Bytes::ZERO;
        }
    }

    /// Whether it is a forked copy of its parent.
    pub fn is_fork_copy(&self) -> bool {
        self.is_fork_copy
    }

    /// Whether its PSS was read.
    pub fn is_read(&self) -> bool {
        self.reading.pss.is_some()
    }

    /// It shares its pages with new forks from now on: all that it has.
    pub fn shares_from_now(&mut self) {
        self.at_fork = AtFork {
            faults: self.reading.minor_faults,
            file: self.reading.file,
            shmem: self.reading.shmem,
        };
        self.lowest_anon = self.reading.anon;
        self.pss.sample = None;
        self.recent_copies.forked();
    }

    /// Most that it still holds of the pages that were shared at the fork.
    pub fn shared_at_most(&self) -> Bytes {
        self.lowest_anon.min(self.reading.anon)
    }

    /// Memory that it faulted in since the fork and that its counters do not explain: copies of shared pages, and
    /// buffers that it has freed again.
    fn faulted(&self) -> Bytes {
        let then = &self.at_fork;
        let faults = self.reading.minor_faults.saturating_sub(then.faults);
        let mapped_files = self.reading.file.saturating_sub(then.file);
        let explained = self.reading.anon.saturating_sub(self.lowest_anon)
            + self.reading.shmem.saturating_sub(then.shmem)
            + Bytes(mapped_files.0 / FILE_PAGES_PER_FAULT);
        Bytes(faults.saturating_mul(page_size().0)).saturating_sub(explained)
    }

    /// What it copied since its PSS was read with its relatives, or else since the fork.
    pub fn copies_since_reading(&self, curve: &CopyCurve) -> CopiedPages {
        let inherited = self.shared_at_most();
        match self.was_read_with_relatives() {
            true => self.copies_between(self.pss.faulted_then, curve, inherited),
            false => curve.estimate(self.faulted(), inherited),
        }
    }

    /// What it copied of `shared` since it had faulted in `then`: as lately, or as `curve` has it until its own
    /// readings show that.
    fn copies_between(&self, then: Bytes, curve: &CopyCurve, shared: Bytes) -> CopiedPages {
        let faulted = self.faulted();
        let since = faulted.saturating_sub(then);
        if let Some(copied) = self.recent_copies.of(since) {
            return CopiedPages {
                copied: copied.min(shared),
                error: self.pss.copy_share.of(since).min(shared),
            };
        }
        let now = curve.estimate(faulted, shared);
        let before = curve.estimate(then, shared);
        CopiedPages {
            copied: now.copied.saturating_sub(before.copied),
            error: now.error.saturating_sub(before.error),
        }
    }

    /// Learns from a reading after `faulted` of faults.
    pub fn learn_copies(&mut self, faulted: Bytes, copied: Bytes) {
        self.recent_copies.learn(faulted, copied);
    }

    /// Anonymous memory that it shared with others when it was last read.
    pub fn shared_part(&self) -> Bytes {
        self.reading.pss.map_or(Bytes::ZERO, |pss| {
            pss.anon.saturating_sub(self.pss.private_anon)
        })
    }

    /// Shared pages that it has freed since it was read, by estimate. Its relatives hold them still.
    pub fn freed_of_shared(&self) -> Bytes {
        let Some(pss) = self.reading.pss else {
            return Bytes::ZERO;
        };
        let lowest = self.pss.lowest_anon.min(self.reading.anon);
        let freed = pss.base.anon.saturating_sub(lowest);
        freed
            .saturating_sub(self.pss.private_anon)
            .min(self.shared_part())
    }

    /// Of the pages that it shares with its forks, those that it has freed or copied since: only the forks hold
    /// them now. `at_fork` is what the forks have of it.
    pub fn left_to_forks(&mut self, at_fork: Bytes) -> Bytes {
        let read = self.reading.pss.filter(|_| self.was_read_with_relatives());
        let since = self.pss.sample.unwrap_or_else(|| match read {
            Some(pss) => SharedSample {
                shared: pss.base.anon.saturating_sub(self.pss.private_anon),
                anon: pss.base.anon,
                faulted: self.pss.faulted_then,
                lowest: self.pss.lowest_anon,
            },
            None => SharedSample {
                shared: at_fork,
                anon: at_fork,
                faulted: Bytes::ZERO,
                lowest: self.lowest_anon,
            },
        });
        let reference = read.map_or(at_fork, |pss| {
            pss.base.anon.saturating_sub(self.pss.private_anon)
        });
        let known = reference.saturating_sub(since.shared);
        // A training frees the buffers of its steps, which are its own, before what it had at the fork. Of what it freed
        // beyond them, half counts as shared until it is read.
        let freed = since
            .anon
            .saturating_sub(since.lowest.min(self.reading.anon));
        let own = since.anon.saturating_sub(since.shared);
        let shared = Bytes(freed.saturating_sub(own).0 / 2);
        let uncertain = Bytes(freed.0 / 2);
        let copies = self.copies_between(since.faulted, &self.own_curve, reference);
        self.pss.copy_error = uncertain + copies.error;
        (known + shared + copies.copied).min(reference)
    }

    /// Whether its PSS was read while it shared pages with relatives.
    pub fn was_read_with_relatives(&self) -> bool {
        self.is_read() && self.pss.shared_with_relatives
    }

    /// Notes whether it shared pages when it was read.
    pub fn set_read_with_relatives(&mut self, shared: bool) {
        self.pss.shared_with_relatives = shared;
    }

    /// All relatives that shared its pages at the reading have exited: all that it maps is its own.
    pub fn settle(&mut self) {
        if let Some(pss) = self.reading.pss {
            self.returned = pss.base.anon.saturating_sub(pss.anon);
            self.reading.returned = self.returned;
            self.pss.shared_with_relatives = false;
        }
    }

    /// What it had copied when its PSS was read, and the faults until then.
    pub fn copied_by_reading(&self) -> Option<(Bytes, Bytes)> {
        let pss = self.reading.pss?;
        let copied = self.copied(self.pss.private_anon, pss.base.anon);
        Some((self.pss.faulted_then, copied))
    }

    /// What it had copied by a reading that is not counted, because its relatives were not read with it.
    pub fn copied_by_sample(&self, values: &PssValues) -> (Bytes, Bytes) {
        let own = values.rollup.private_anon();
        (
            self.pss.faulted_at_sample,
            self.copied(own, values.base.anon),
        )
    }

    /// Of what it has for itself, what is beyond its growth since the fork.
    fn copied(&self, own: Bytes, anon: Bytes) -> Bytes {
        own.saturating_sub(anon.saturating_sub(self.lowest_anon))
    }

    /// Takes the estimate of a fork that was never read. `kept` are pages of its parent that only its forks hold now.
    pub fn set_unread_estimate(&mut self, estimate: CopiedPages, kept: Bytes) {
        let inherited = self.shared_at_most();
        self.reading.inherited = inherited
            .saturating_sub(estimate.copied)
            .saturating_sub(kept);
        self.pss.copy_error = estimate.error;
    }

    /// Takes the estimate of what it got since its PSS was read without a change of its counters: its copies, and
    /// `kept`, pages that it was counted without.
    pub fn set_copied_since_reading(&mut self, estimate: CopiedPages, kept: Bytes) {
        self.reading.returned = self.returned + estimate.copied + kept;
        self.pss.copy_error = estimate.error;
    }

    /// Counts what an exited relative had shared.
    pub fn take_returned(&mut self, exited: Bytes) {
        self.returned += exited;
        self.reading.returned += exited;
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

    /// What happened since its PSS was read; `None` when it must not be read now.
    pub fn since_reading(&self, now: Seconds, in_family: bool) -> Option<SinceReading> {
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
            estimate_error: in_family.then_some(self.pss.copy_error),
            age: now - self.reading.pss.map_or(self.first_seen, |pss| pss.at),
        })
    }

    /// Notes how far off its memory may be. A value that is recorded changes in powers of two.
    pub fn set_uncertainty(&mut self, uncertainty: Bytes, tolerable: Bytes) {
        self.reading.uncertainty = match uncertainty > tolerable {
            true => Bytes(
                uncertainty
                    .0
                    .checked_next_power_of_two()
                    .unwrap_or(u64::MAX),
            ),
            false => Bytes::ZERO,
        };
    }

    /// Notes that a process that shares its pages started or exited.
    pub fn set_relatives_changed(&mut self) {
        self.pss.relatives_changed = true;
    }

    /// CPU time of the last PSS reading, and the memory that it walked.
    pub fn last_pss_cost(&self) -> Option<(Duration, Bytes)> {
        self.pss.cost
    }

    /// Whether its memory is due to be read by kind: now and then, and more often while it grows notably.
    pub fn kinds_are_due(&self, now: Seconds, notable: Bytes) -> bool {
        let Some(at) = self.pss.kinds_at else {
            return true;
        };
        let grown = self.reading.anon.saturating_sub(self.pss.anon_at_kinds);
        let age = (now - self.first_seen).0;
        let every = match grown > notable {
            true => (KINDS_PER_AGE * age).clamp(KINDS_OF_GROWTH.0, KINDS_EVERY.0),
            false => KINDS_EVERY.0,
        };
        (now - at).0 >= every
    }

    /// Notes that a reading was requested that will not count.
    pub fn sample_requested(&mut self) {
        self.pss.requested = true;
        self.pss.faulted_at_sample = self.faulted();
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
        self.pss.faulted_then = self.faulted();
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
        self.pss.private_anon = rollup.private_anon();
        self.pss.cost = Some((cost, self.reading.rss()));
        if values.kinds.is_some() {
            self.set_kinds_at(at);
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
            hugetlb: rollup.hugetlb,
            base,
        };
        self.reading.pss = Some(reading);
        self.reading.returned = Bytes::ZERO;
        self.returned = Bytes::ZERO;
        self.pss.lowest_anon = base.anon.min(self.reading.anon);
        self.pss.copy_error = Bytes::ZERO;
        self.pss.sample = None;
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

    /// Notes that a reading arrived that does not count.
    pub fn sample_taken(&mut self, at: Seconds, cost: Duration, values: &PssValues) {
        self.pss.requested = false;
        let anon = values.base.anon;
        self.pss.sample = Some(SharedSample {
            shared: anon.saturating_sub(values.rollup.private_anon()),
            anon,
            faulted: self.pss.faulted_at_sample,
            lowest: anon.min(self.reading.anon),
        });
        self.pss.sampled_at = Some(at);
        self.pss.cost = Some((cost, self.reading.rss()));
    }

    /// Notes that its memory was read by kind.
    pub fn set_kinds_at(&mut self, at: Seconds) {
        self.pss.anon_at_kinds = self.reading.anon;
        self.pss.kinds_at = Some(at);
    }

    /// When it was last read without its relatives.
    pub fn sampled_at(&self) -> Option<Seconds> {
        self.pss.sampled_at
    }

    /// Notes a failed reading. It is repeated later, unless it is forbidden.
    pub fn pss_failed(&mut self, forbidden: bool) {
        self.pss.requested = false;
        self.pss.forbidden = forbidden;
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
