//! Who held how much at earlier moments, in bounded memory.
//!
//! Growth counts from an onset that is known only later, so snapshots of the whole run are kept
//! evenly. Between two of them amounts are interpolated. All growths are differences of the same two
//! moments, so those of processes, roles and kinds add up to that of the run.

use std::collections::{BTreeMap, HashMap};

use leveloff_model::process::{ProcessIndex, Rank, Role};
use leveloff_model::training_counters::TrainingCounters;
use leveloff_model::units::Seconds;

use crate::observation::{Moment, Observation, ProcessShare, XUnit};
use crate::verdict::Kind;

/// Snapshots that are kept at most; then every second one is dropped.
const MOST_KEPT: usize = 256;

/// Processes whose estimates are corrected at most; then those that exited are dropped.
const MOST_ESTIMATES: usize = 4096;

/// Snapshots of a run.
#[derive(Debug, Clone)]
pub(crate) struct ShareHistory {
    kept: Vec<Snapshot>,
    /// Every so many observations one is kept.
    stride: u64,
    observations: u64,
    estimates: HashMap<ProcessIndex, Estimate>,
}

/// Who held how much at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Snapshot {
    /// The observation's number within the run.
    number: u64,
    pub(crate) moment: Moment,
    /// Memory of the run, for a source that knows no processes.
    memory: f64,
    counters: TrainingCounters,
    pub(crate) shares: BTreeMap<ProcessIndex, Share>,
}

/// What one process held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share {
    pub(crate) role: Role,
    pub(crate) rank: Option<Rank>,
    anonymous: f64,
    shared: f64,
    swapped: f64,
    rss: f64,
}

/// One kind of memory of one role, at the base and now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub(crate) role: Role,
    pub(crate) kind: Kind,
    pub(crate) base: f64,
    pub(crate) now: f64,
}

/// How far the estimate of a process's memory was off. It held what the first reading showed all along:
/// the step from an estimate to a reading is no growth.
#[derive(Debug, Clone, Copy)]
enum Estimate {
    /// Not read yet: the newest estimate, and the RSS beside it.
    Open(f64, f64),
    /// Read in this observation, and how much more that was than the estimate before.
    Read(u64, f64),
}

impl Default for ShareHistory {
    fn default() -> ShareHistory {
        ShareHistory {
            kept: Vec::new(),
            stride: 1,
            observations: 0,
            estimates: HashMap::new(),
        }
    }
}

impl ShareHistory {
    /// Takes the next observation.
    pub(crate) fn observe(&mut self, observation: &Observation) {
        for process in &observation.processes {
            self.follow_estimate(process);
        }
        if self.estimates.len() > MOST_ESTIMATES {
            let alive =
                |index: &ProcessIndex| observation.processes.iter().any(|it| it.index == *index);
            self.estimates.retain(|index, _| alive(index));
        }
        if self.observations.is_multiple_of(self.stride) {
            if self.kept.len() >= MOST_KEPT {
                self.thin();
            }
            let snapshot = self.snapshot(observation);
            self.kept.push(snapshot);
        }
        self.observations += 1;
    }

    /// Another counter took over: what came before has no place on its axis.
    pub(crate) fn forget_counts(&mut self) {
        for snapshot in &mut self.kept {
            snapshot.moment.count = None;
        }
    }

    /// Drops every second snapshot. The first one and the first with a step stay: growth may count from there.
    fn thin(&mut self) {
        let first_step = self.kept.iter().position(|one| one.moment.count.is_some());
        let mut index = 0;
        self.kept.retain(|_| {
            let stays = index % 2 == 0 || Some(index) == first_step;
            index += 1;
            stays
        });
        self.stride *= 2;
    }

    /// The newest observation as a snapshot.
    pub(crate) fn snapshot(&self, observation: &Observation) -> Snapshot {
        let processes = observation.processes.iter();
        let shares = processes.map(|process| (process.index, Share::of(process)));
        Snapshot {
            number: self.observations,
            moment: Moment::of(observation),
            memory: observation.memory.0 as f64,
            counters: observation.counters,
            shares: shares.collect(),
        }
    }

    /// The first snapshot; of those with a step if there are any.
    pub(crate) fn first(&self) -> Option<Snapshot> {
        let counted = self.kept.iter().find(|one| one.moment.count.is_some());
        let first = counted.or(self.kept.first())?;
        Some(self.corrected(first.clone()))
    }

    /// When the first snapshot was made.
    pub(crate) fn began(&self) -> Option<Seconds> {
        self.kept.first()?.moment.t
    }

    /// The training's counters at a snapshot. A counter that the training reported only later has its
    /// first value.
    pub(crate) fn counters_at(&self, snapshot: &Snapshot) -> TrainingCounters {
        let later = self.kept.iter().filter(|one| one.number > snapshot.number);
        later.fold(snapshot.counters, |known, one| {
            one.counters.updated_by(&known)
        })
    }

    /// The run at a position; at the nearest one that is kept where the run has not been.
    pub(crate) fn at(&self, x: f64, unit: XUnit) -> Option<Snapshot> {
        let placed = || {
            let with_x = |one: &'_ Snapshot| one.moment.x(unit);
            self.kept
                .iter()
                .filter_map(move |one| Some((with_x(one)?, one)))
        };
        let before = placed().take_while(|(at, _)| *at <= x).last();
        let after = placed().find(|(at, _)| *at > x);
        match (before, after) {
            (Some((from, before)), Some((to, after))) => {
                let (before, after) = (
                    self.corrected(before.clone()),
                    self.corrected(after.clone()),
                );
                Some(before.towards(&after, (x - from) / (to - from), x, unit))
            }
            (one, other) => one.or(other).map(|(_, one)| self.corrected(one.clone())),
        }
    }

    /// A snapshot with its estimates corrected by what readings showed later.
    pub(crate) fn corrected(&self, mut snapshot: Snapshot) -> Snapshot {
        for (index, share) in &mut snapshot.shares {
            if let Some(Estimate::Read(read, difference)) = self.estimates.get(index)
                && snapshot.number < *read
            {
                share.anonymous = (share.anonymous + difference).max(0.0);
            }
        }
        snapshot
    }

    fn follow_estimate(&mut self, process: &ProcessShare) {
        let (memory, rss) = (process.memory.0 as f64, process.rss.0 as f64);
        match (self.estimates.get(&process.index), process.is_read) {
            (Some(Estimate::Read(..)), _) | (None, true) => {}
            (_, false) => {
                self.estimates
                    .insert(process.index, Estimate::Open(memory, rss));
            }
            (Some(&Estimate::Open(before, rss_before)), true) => {
                let change = memory - before;
                // What RSS grew or shrank by meanwhile is no error of the estimate.
                let real = (rss - rss_before).clamp(change.min(0.0), change.max(0.0));
                let read = Estimate::Read(self.observations, change - real);
                self.estimates.insert(process.index, read);
            }
        }
    }
}

impl Snapshot {
    /// Memory of the run: of its processes where they are known.
    pub(crate) fn total(&self) -> f64 {
        match self.shares.is_empty() {
            true => self.memory,
            false => self.shares.values().map(Share::total).sum(),
        }
    }

    /// What a process held; nothing if it was not there.
    pub(crate) fn held_by(&self, index: ProcessIndex) -> f64 {
        self.shares.get(&index).map_or(0.0, Share::total)
    }

    /// Without the processes that are not there any more.
    pub(crate) fn without_exited(&self, now: &Observation) -> Snapshot {
        let mut living = self.clone();
        let lives = |index: &ProcessIndex| now.processes.iter().any(|one| one.index == *index);
        living.shares.retain(|index, _| lives(index));
        living
    }

    /// The share of the way to another one. A process that came meanwhile held nothing, one that
    /// left held what it had.
    fn towards(&self, other: &Snapshot, way: f64, x: f64, unit: XUnit) -> Snapshot {
        let between = |from: f64, to: f64| from + way * (to - from);
        let shares = self.shares.iter().map(|(index, from)| {
            let to = other.shares.get(index).unwrap_or(from);
            let share = Share {
                role: from.role,
                rank: from.rank,
                anonymous: between(from.anonymous, to.anonymous),
                shared: between(from.shared, to.shared),
                swapped: between(from.swapped, to.swapped),
                rss: between(from.rss, to.rss),
            };
            (*index, share)
        });
        Snapshot {
            number: self.number,
            moment: self.moment.towards(other.moment, way, x, unit),
            memory: between(self.memory, other.memory),
            counters: self.counters.towards(&other.counters, way),
            shares: shares.collect(),
        }
    }
}

impl Share {
    fn of(process: &ProcessShare) -> Share {
        Share {
            role: process.role,
            rank: process.rank,
            anonymous: process.anonymous().0 as f64,
            shared: process.shared.0 as f64,
            swapped: process.swapped.0 as f64,
            rss: process.rss.0 as f64,
        }
    }

    pub(crate) fn total(&self) -> f64 {
        self.anonymous + self.shared + self.swapped
    }

    fn kinds(&self) -> [(Kind, f64); 3] {
        [
            (Kind::Anonymous, self.anonymous),
            (Kind::Shared, self.shared),
            (Kind::Swap, self.swapped),
        ]
    }
}

/// Memory by role and kind at the base and now, the largest change first; adds up to the run.
pub(crate) fn parts(base: &Snapshot, now: &Observation) -> Vec<Part> {
    let newest: HashMap<ProcessIndex, Role> = now
        .processes
        .iter()
        .map(|process| (process.index, process.role))
        .collect();
    let mut sums: BTreeMap<(Role, Kind), (f64, f64)> = BTreeMap::new();
    for process in &now.processes {
        for (kind, amount) in Share::of(process).kinds() {
            sums.entry((process.role, kind)).or_default().1 += amount;
        }
    }
    for (index, share) in &base.shares {
        // A role may be recognised late: the newest one counts.
        let role = newest.get(index).copied().unwrap_or(share.role);
        for (kind, amount) in share.kinds() {
            sums.entry((role, kind)).or_default().0 += amount;
        }
    }
    let mut parts: Vec<Part> = sums
        .into_iter()
        .map(|((role, kind), (base, now))| Part {
            role,
            kind,
            base,
            now,
        })
        .filter(|part| part.base > 0.0 || part.now > 0.0)
        .collect();
    let change = |part: &Part| (part.now - part.base).abs();
    parts.sort_by(|a, b| change(b).total_cmp(&change(a)));
    parts
}

/// How much more each role maps than at the base.
pub(crate) fn rss_growth(base: &Snapshot, now: &Observation) -> BTreeMap<Role, f64> {
    let mut growth: BTreeMap<Role, f64> = BTreeMap::new();
    for process in &now.processes {
        *growth.entry(process.role).or_default() += process.rss.0 as f64;
    }
    for (index, share) in &base.shares {
        let newest = now.processes.iter().find(|process| process.index == *index);
        let role = newest.map_or(share.role, |process| process.role);
        *growth.entry(role).or_default() -= share.rss;
    }
    growth
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::Pid;
    use leveloff_model::units::{Bytes, Seconds};

    use super::*;

    fn history(samples: u32) -> ShareHistory {
        let mut history = ShareHistory::default();
        for n in 0..samples {
            let observation = Observation {
                count: Some(f64::from(n)),
                t: Some(Seconds(2.0 * f64::from(n))),
                memory: Bytes(1000 + 10 * u64::from(n)),
                ..Observation::default()
            };
            history.observe(&observation);
        }
        history
    }

    #[test]
    fn any_moment_is_found_again_in_bounded_memory() {
        for samples in [10, 1000, 100_000] {
            let history = history(samples);
            assert!(history.kept.len() <= MOST_KEPT);
            let x = 0.37 * f64::from(samples);
            let at = history.at(x, XUnit::Step).unwrap();
            assert!((at.memory - (1000.0 + 10.0 * x)).abs() < 1e-6, "{at:?}");
            assert_eq!(at.moment.count, Some(x));
        }
    }

    #[test]
    fn the_first_step_stays_however_long_the_run_is() {
        let mut history = ShareHistory::default();
        for n in 0..10_000_u32 {
            history.observe(&Observation {
                count: (n >= 3).then(|| f64::from(n - 3)),
                t: Some(Seconds(f64::from(n))),
                memory: Bytes(u64::from(n)),
                ..Observation::default()
            });
        }
        assert_eq!(history.first().unwrap().moment.count, Some(0.0));
        assert_eq!(history.at(0.0, XUnit::Step).unwrap().memory, 3.0);
        assert!(history.kept.len() <= MOST_KEPT + 1);
    }

    #[test]
    fn outside_of_the_run_the_nearest_moment_counts() {
        let history = history(10);
        assert_eq!(history.at(-5.0, XUnit::Step).unwrap().memory, 1000.0);
        assert_eq!(history.at(50.0, XUnit::Step).unwrap().memory, 1090.0);
        assert_eq!(history.at(5.0, XUnit::Second).unwrap().memory, 1025.0);
        assert_eq!(ShareHistory::default().at(0.0, XUnit::Step), None);
    }

    fn processes(shares: &[(u32, Role, u64, bool)]) -> Observation {
        let share = |&(index, role, memory, is_read): &(u32, Role, u64, bool)| ProcessShare {
            memory: Bytes(memory),
            is_read,
            ..ProcessShare::unread(ProcessIndex(index), Pid(100 + index as i32), role)
        };
        Observation {
            t: Some(Seconds(0.0)),
            processes: shares.iter().map(share).collect(),
            ..Observation::default()
        }
    }

    #[test]
    fn the_step_from_an_estimate_to_a_reading_is_no_growth() {
        let mut history = ShareHistory::default();
        history.observe(&processes(&[(0, Role::Other, 10, false)]));
        history.observe(&processes(&[(0, Role::Other, 300, true)]));
        let first = history.first().unwrap();
        assert_eq!(first.held_by(ProcessIndex(0)), 300.0);
    }

    #[test]
    fn growth_before_the_first_reading_counts() {
        let mut history = ShareHistory::default();
        for (memory, rss, is_read) in [(10, 500, false), (330, 530, true)] {
            let mut observation = processes(&[(0, Role::Other, memory, is_read)]);
            observation.processes[0].rss = Bytes(rss);
            history.observe(&observation);
        }
        let first = history.first().unwrap();
        assert_eq!(first.held_by(ProcessIndex(0)), 300.0);
    }

    #[test]
    fn growth_by_role_and_kind_adds_up_and_follows_the_newest_role() {
        let mut history = ShareHistory::default();
        history.observe(&processes(&[
            (0, Role::Other, 10, true),
            (1, Role::Helper, 5, true),
        ]));
        let now = processes(&[(0, Role::Trainer, 40, true), (2, Role::Compiler, 7, true)]);
        let growth = |part: &Part| (part.role, part.now - part.base);
        let parts = parts(&history.first().unwrap(), &now);
        assert_eq!(
            parts.iter().map(growth).collect::<Vec<_>>(),
            [
                (Role::Trainer, 30.0),
                (Role::Compiler, 7.0),
                (Role::Helper, -5.0)
            ]
        );
    }
}
