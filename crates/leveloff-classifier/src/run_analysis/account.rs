//! A run at one moment, in the numbers that every output prints.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, Rank, Role};
use leveloff_model::training_counters::TrainingCounters;
use leveloff_model::units::{ByteDelta, Bytes, Seconds};

use super::RunAnalysis;
use super::process_table::Followed;
use crate::observation::{Moment, Observation, ProcessShare, XUnit};
use crate::share_history::{self, Snapshot};
use crate::speed::Speed;
use crate::units::{Amount, AmountPerX, X};
use crate::verdict::{Kind, RunVerdict};

/// What is known of a run at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct RunAccount {
    /// What is said of it; `None` for a whole machine.
    pub verdict: Option<RunVerdict>,
    /// Whether it has ended. Then the moment is the last whole sample before processes left.
    pub is_over: bool,
    /// The moment.
    pub now: Moment,
    /// Where all growth counts from.
    pub since: GrowthBase,
    /// Memory of the run.
    pub memory: Amounts,
    /// When memory was highest.
    pub peak_at: Moment,
    /// What a sum of RSS says.
    pub rss: Option<Bytes>,
    /// By role; by rank and role where the run has several ranks. They add up to the run.
    pub groups: Vec<GroupAccount>,
    /// By role and kind of memory, the largest growth first. They add up to the run.
    pub parts: Vec<PartAccount>,
    /// Every process that was seen, those that exited included.
    pub processes: Vec<ProcessAccount>,
    /// Processes that exited and are not listed.
    pub processes_left_out: u64,
    /// The training's own counters where growth counts from; of a counter that was reported only
    /// later, the first value.
    pub counters_base: TrainingCounters,
    /// The training's own counters now.
    pub counters: TrainingCounters,
    /// Observations of the run, since it was last started.
    pub samples: u64,
    /// How fast it goes; `None` where nothing but time is counted.
    pub speed: Option<Speed>,
}

/// Where growth counts from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthBase {
    /// What it is.
    pub origin: GrowthOrigin,
    /// When it is.
    pub moment: Moment,
}

/// What growth counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrowthOrigin {
    /// The onset of the growth that is judged; the first judged sample where nothing grows.
    Onset,
    /// A marker that the user set.
    Marker,
    /// The first sample: nothing is judged yet, or ever.
    FirstSample,
}

/// An amount of memory then and now.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Amounts {
    /// Where growth counts from.
    pub base: Bytes,
    /// Now.
    pub now: Bytes,
    /// The highest of any sample.
    pub peak: Bytes,
    /// Growth over the newest quarter since the base.
    pub rate: Option<AmountPerX>,
}

/// Processes of one role, of one rank where there are several.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupAccount {
    /// The role.
    pub role: Role,
    /// The rank; `None` where the run has one rank only.
    pub rank: Option<Rank>,
    /// Processes that are alive.
    pub processes: u32,
    /// Their memory; that of processes that exited counts at the base.
    pub memory: Amounts,
    /// Of what they hold now, shared memory.
    pub shared: Bytes,
    /// Of what they hold now, swapped out.
    pub swapped: Bytes,
    /// What a sum of their RSS says.
    pub rss: Bytes,
    /// Their GPU memory, where the driver reports it.
    pub gpu: Option<Bytes>,
}

/// All processes of one rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankAccount {
    /// The rank.
    pub rank: Rank,
    /// Processes that are alive.
    pub processes: u32,
    /// Their memory. The peak is the sum of the peaks of its roles.
    pub memory: Amounts,
}

/// One kind of memory of one role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartAccount {
    /// The role.
    pub role: Role,
    /// The kind.
    pub kind: Kind,
    /// Where growth counts from.
    pub base: Bytes,
    /// Now.
    pub now: Bytes,
}

/// One process.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessAccount {
    /// Its number within the run.
    pub index: ProcessIndex,
    /// Its number on the machine.
    pub pid: Pid,
    /// Its role.
    pub role: Role,
    /// The rank that it is or belongs to.
    pub rank: Option<Rank>,
    /// Whether it is alive at the moment of the account.
    pub is_alive: bool,
    /// Its memory; of one that exited, `now` is what it held when it was last seen.
    pub memory: Amounts,
    /// Its memory when it was first seen.
    pub first: Bytes,
    /// What RSS says.
    pub rss: Bytes,
    /// Pages that no other process maps, where that was read.
    pub private: Option<Bytes>,
    /// Its GPU memory, where the driver reports it.
    pub gpu: Option<Bytes>,
    /// CPU between the two newest samples, in percent of one core.
    pub cpu_percent: Option<f64>,
    /// When it was first and last seen.
    pub seen: Option<(Seconds, Seconds)>,
    /// Its memory over its life, in at most 64 points.
    pub trend: Vec<f64>,
    /// Whether its memory is an estimate because its PSS was never read.
    pub is_estimate: bool,
    /// Its command line and role's reason, where a recording or the sampler knows them.
    pub info: Option<ProcessInfo>,
}

/// Rates are taken over the newest part of the growth.
const NEWEST_PART: f64 = 0.25;

/// The account of an analysis; `None` before the first observation.
pub(super) fn account(run: &RunAnalysis, verdict: Option<RunVerdict>) -> Option<RunAccount> {
    let observation = run.observation()?;
    let unit = verdict
        .as_ref()
        .map_or(XUnit::Second, |verdict| verdict.x_unit);
    let (origin, base) = base(run, verdict.as_ref())?;
    let counters_base = run.shares().counters_at(&base);
    let ledger = Ledger::new(run, observation, base, unit);
    let peak = run.peak.map_or(0.0, |peak| peak.memory);
    let processes = ledger.processes();
    Some(RunAccount {
        now: Moment::of(observation),
        since: GrowthBase {
            origin,
            moment: ledger.base.moment,
        },
        memory: ledger.whole(peak),
        peak_at: run.peak.map_or_else(Moment::default, |peak| peak.moment),
        rss: observation.rss_sum,
        groups: ledger.groups(),
        parts: ledger.parts(),
        processes,
        processes_left_out: run.processes.dropped(),
        counters_base,
        counters: observation.counters,
        samples: verdict
            .as_ref()
            .map_or(run.observations, |verdict| verdict.points),
        is_over: run.is_over,
        speed: Speed::of(run.curves(), unit),
        verdict,
    })
}

/// What growth counts from: the marker, else the judged onset, else the first sample.
fn base(run: &RunAnalysis, verdict: Option<&RunVerdict>) -> Option<(GrowthOrigin, Snapshot)> {
    if let Some(marker) = &run.marker {
        let marker = run.shares().corrected(marker.clone());
        return Some((GrowthOrigin::Marker, marker));
    }
    let onset = verdict.and_then(|verdict| {
        let x = verdict.growth_since_x()?;
        run.shares().at(x.0, verdict.x_unit)
    });
    match onset {
        Some(onset) => Some((GrowthOrigin::Onset, onset)),
        None => Some((GrowthOrigin::FirstSample, run.shares().first()?)),
    }
}

/// The two moments that growth lies between, and what makes rows of them.
struct Ledger<'a> {
    run: &'a RunAnalysis,
    now: &'a Observation,
    base: Snapshot,
    /// Where the newest part of the growth began, and how far that is from now.
    recent: Option<(Snapshot, X)>,
}

impl<'a> Ledger<'a> {
    fn new(run: &'a RunAnalysis, now: &'a Observation, base: Snapshot, unit: XUnit) -> Ledger<'a> {
        let recent = || {
            let (from, to) = (base.moment.x(unit)?, now.x(unit)?);
            let at = run.shares().at(to - NEWEST_PART * (to - from), unit)?;
            let length = to - at.moment.x(unit)?;
            (length > 0.0).then_some((at, X(length)))
        };
        let recent = recent();
        Ledger {
            run,
            now,
            base,
            recent,
        }
    }

    fn whole(&self, peak: f64) -> Amounts {
        let recent = self.recent.as_ref();
        Amounts {
            base: bytes(self.base.total()),
            now: self.now.memory,
            peak: bytes(peak),
            rate: recent
                .map(|(at, length)| (Amount::from(self.now.memory) - Amount(at.total())) / *length),
        }
    }

    fn processes(&self) -> Vec<ProcessAccount> {
        let followed = self.run.processes.all();
        let mut rows: Vec<ProcessAccount> = followed.map(|one| self.process(one)).collect();
        rows.sort_by_key(|row| (Reverse(row.memory.peak), row.index));
        rows
    }

    fn process(&self, followed: &Followed) -> ProcessAccount {
        let alive = self.alive(followed.share.index);
        let share = alive.unwrap_or(&followed.share);
        ProcessAccount {
            index: share.index,
            pid: share.pid,
            role: share.role,
            rank: share.rank,
            is_alive: alive.is_some(),
            memory: self.amounts(share, followed.peak),
            first: followed.first,
            rss: share.rss,
            private: share.private,
            gpu: share.gpu,
            cpu_percent: followed.cpu_percent,
            seen: followed.seen,
            trend: followed.trend.points(),
            is_estimate: !share.is_read,
            info: self.run.processes.info(share.index).cloned(),
        }
    }

    fn alive(&self, index: ProcessIndex) -> Option<&'a ProcessShare> {
        let share = self.now.processes.iter().find(|share| share.index == index);
        share.filter(|share| share.memory + share.rss > Bytes::ZERO)
    }

    fn amounts(&self, share: &ProcessShare, peak: Bytes) -> Amounts {
        let then = |snapshot: &Snapshot| snapshot.held_by(share.index);
        let rate = |(at, length): &(Snapshot, X)| {
            (Amount::from(share.memory) - Amount(then(at))) / *length
        };
        Amounts {
            base: bytes(then(&self.base)),
            now: share.memory,
            peak,
            rate: self.recent.as_ref().map(rate),
        }
    }

    fn groups(&self) -> Vec<GroupAccount> {
        let mut ranks: Vec<Rank> = self.now.processes.iter().filter_map(|it| it.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let several = ranks.len() > 1;
        let mut groups: BTreeMap<(Option<Rank>, Role), GroupSums> = BTreeMap::new();
        let mut group = |rank: Option<Rank>, role: Role, add: &dyn Fn(&mut GroupSums)| {
            let rank = rank.filter(|_| several);
            add(groups.entry((rank, role)).or_default());
        };
        for share in &self.now.processes {
            group(share.rank, share.role, &|sums| sums.add(share));
        }
        for (snapshot, is_base) in self.snapshots() {
            for (index, share) in &snapshot.shares {
                // A role may be recognised late: the newest one counts.
                let newest = self.now.processes.iter().find(|it| it.index == *index);
                let (rank, role) = newest.map_or((share.rank, share.role), |it| (it.rank, it.role));
                group(rank, role, &|sums| sums.add_before(share.total(), is_base));
            }
        }
        let length = self.recent.as_ref().map(|(_, length)| *length);
        groups
            .into_iter()
            .map(|((rank, role), sums)| {
                let peak = self.run.processes.peak(rank, role);
                sums.account(rank, role, peak, length)
            })
            .collect()
    }

    fn snapshots(&self) -> impl Iterator<Item = (&Snapshot, bool)> {
        let recent = self.recent.iter().map(|(snapshot, _)| (snapshot, false));
        recent.chain([(&self.base, true)])
    }

    fn parts(&self) -> Vec<PartAccount> {
        let parts = share_history::parts(&self.base, self.now).into_iter();
        let account = |part: share_history::Part| PartAccount {
            role: part.role,
            kind: part.kind,
            base: bytes(part.base),
            now: bytes(part.now),
        };
        parts.map(account).collect()
    }
}

#[derive(Debug, Default)]
struct GroupSums {
    processes: u32,
    memory: Bytes,
    shared: Bytes,
    swapped: Bytes,
    rss: Bytes,
    gpu: Option<Bytes>,
    base: f64,
    recent: f64,
}

impl GroupSums {
    fn add(&mut self, share: &ProcessShare) {
        self.processes += u32::from(share.memory + share.rss > Bytes::ZERO);
        self.memory += share.memory;
        self.shared += share.shared;
        self.swapped += share.swapped;
        self.rss += share.rss;
        if let Some(gpu) = share.gpu {
            *self.gpu.get_or_insert_default() += gpu;
        }
    }

    fn add_before(&mut self, amount: f64, is_base: bool) {
        match is_base {
            true => self.base += amount,
            false => self.recent += amount,
        }
    }

    fn account(
        self,
        rank: Option<Rank>,
        role: Role,
        peak: Bytes,
        length: Option<X>,
    ) -> GroupAccount {
        GroupAccount {
            role,
            rank,
            processes: self.processes,
            memory: Amounts {
                base: bytes(self.base),
                now: self.memory,
                peak,
                rate: length
                    .map(|length| (Amount::from(self.memory) - Amount(self.recent)) / length),
            },
            shared: self.shared,
            swapped: self.swapped,
            rss: self.rss,
            gpu: self.gpu,
        }
    }
}

impl RunAccount {
    /// The group of a role, of all ranks.
    pub fn role(&self, role: Role) -> impl Iterator<Item = &GroupAccount> {
        self.groups.iter().filter(move |group| group.role == role)
    }

    /// Every rank of a run that has several.
    pub fn ranks(&self) -> Vec<RankAccount> {
        let mut ranks: Vec<RankAccount> = Vec::new();
        for group in &self.groups {
            let Some(rank) = group.rank else { continue };
            match ranks.iter_mut().find(|one| one.rank == rank) {
                Some(one) => {
                    one.processes += group.processes;
                    one.memory = one.memory.plus(&group.memory);
                }
                None => ranks.push(RankAccount {
                    rank,
                    processes: group.processes,
                    memory: group.memory,
                }),
            }
        }
        ranks
    }

    /// Processes that are alive.
    pub fn alive(&self) -> impl Iterator<Item = &ProcessAccount> {
        self.processes.iter().filter(|process| process.is_alive)
    }

    /// Processes whose memory is an estimate.
    pub fn estimated(&self) -> usize {
        self.alive().filter(|process| process.is_estimate).count()
    }

    /// What the growth of memory counts.
    pub fn unit(&self) -> XUnit {
        self.verdict
            .as_ref()
            .map_or(XUnit::Second, |verdict| verdict.x_unit)
    }
}

impl GroupAccount {
    /// Of what they hold now, what is neither shared nor swapped out.
    pub fn anonymous(&self) -> Bytes {
        self.memory
            .now
            .saturating_sub(self.shared)
            .saturating_sub(self.swapped)
    }

    /// Adds another group, which goes under the same name.
    pub fn add(&mut self, other: &GroupAccount) {
        self.processes += other.processes;
        self.memory.base += other.memory.base;
        self.memory.now += other.memory.now;
        self.memory.peak = self.memory.peak.max(other.memory.peak);
        self.memory.rate = self.memory.rate.zip(other.memory.rate).map(|(a, b)| a + b);
        self.shared += other.shared;
        self.swapped += other.swapped;
        self.rss += other.rss;
        self.gpu = match (self.gpu, other.gpu) {
            (Some(own), Some(other)) => Some(own + other),
            (own, other) => own.or(other),
        };
    }
}

impl Amounts {
    fn plus(&self, other: &Amounts) -> Amounts {
        Amounts {
            base: self.base + other.base,
            now: self.now + other.now,
            peak: self.peak + other.peak,
            rate: self.rate.zip(other.rate).map(|(a, b)| a + b),
        }
    }

    /// From the base to now; negative for what shrank.
    pub fn growth(&self) -> ByteDelta {
        self.now.since(self.base)
    }
}

impl PartAccount {
    /// From the base to now; negative for what shrank.
    pub fn growth(&self) -> ByteDelta {
        self.now.since(self.base)
    }
}

impl ProcessAccount {
    /// Growth since the base. A process that exited has none.
    pub fn growth(&self) -> ByteDelta {
        match self.is_alive {
            true => self.memory.growth(),
            false => ByteDelta(0),
        }
    }
}

fn bytes(amount: f64) -> Bytes {
    Bytes(amount.max(0.0).round() as u64)
}
