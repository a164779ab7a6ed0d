//! Every process of a run: its identity, its highest and newest memory, and when it was there.

use std::collections::{BTreeMap, HashMap};

use leveloff_model::process::{ProcessIndex, ProcessInfo, Rank, Role};
use leveloff_model::units::{Bytes, Seconds};

use crate::observation::{Observation, ProcessShare};

/// Processes that are followed at most; then the smaller half of those that exited is dropped.
const MOST_FOLLOWED: usize = 1024;

/// Command lines that are kept at most.
const MOST_NAMED: usize = 4096;

/// The processes so far.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessTable {
    followed: BTreeMap<ProcessIndex, Followed>,
    infos: HashMap<ProcessIndex, ProcessInfo>,
    /// The most that each role ever held, in all and for each rank.
    peaks: BTreeMap<(Option<Rank>, Role), Bytes>,
    dropped: u64,
}

/// One process.
#[derive(Debug, Clone)]
pub(super) struct Followed {
    /// Its newest share.
    pub(super) share: ProcessShare,
    pub(super) first: Bytes,
    pub(super) peak: Bytes,
    /// When it was first and last seen.
    pub(super) seen: Option<(Seconds, Seconds)>,
    /// CPU since the observation before, in percent of one core.
    pub(super) cpu_percent: Option<f64>,
    pub(super) trend: Trend,
    /// The observation that it was last part of.
    last: u64,
}

/// A process's memory over its life, in a handful of points: when there are too many, every two become
/// one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Trend {
    points: Vec<f64>,
    stride: usize,
    waiting: usize,
    newest: f64,
}

impl ProcessTable {
    /// Takes what is known of a process beside its memory.
    pub(super) fn learn(&mut self, info: &ProcessInfo) {
        if self.infos.len() < MOST_NAMED || self.infos.contains_key(&info.index) {
            self.infos.insert(info.index, info.clone());
        }
    }

    /// Takes the next observation and its number within the run.
    pub(super) fn observe(&mut self, observation: &Observation, number: u64) {
        // A process that has given its memory back is exiting.
        let holds = |share: &&ProcessShare| share.memory + share.rss > Bytes::ZERO;
        for share in observation.processes.iter().filter(holds) {
            self.followed
                .entry(share.index)
                .or_insert_with(|| Followed::new(share, observation.t))
                .update(share, observation.t, number);
        }
        if self.followed.len() > MOST_FOLLOWED {
            self.drop_some(number);
        }
    }

    /// Takes the peaks of an observation that is part of the run.
    pub(super) fn raise_peaks(&mut self, observation: &Observation) {
        for share in &observation.processes {
            if let Some(followed) = self.followed.get_mut(&share.index) {
                followed.peak = followed.peak.max(share.memory);
            }
        }
        let mut sums: BTreeMap<(Option<Rank>, Role), Bytes> = BTreeMap::new();
        for share in &observation.processes {
            *sums.entry((None, share.role)).or_default() += share.memory;
            if share.rank.is_some() {
                *sums.entry((share.rank, share.role)).or_default() += share.memory;
            }
        }
        for (group, sum) in sums {
            let peak = self.peaks.entry(group).or_default();
            *peak = sum.max(*peak);
        }
    }

    /// The most that a role ever held; that of one rank, or in all.
    pub(super) fn peak(&self, rank: Option<Rank>, role: Role) -> Bytes {
        self.peaks.get(&(rank, role)).copied().unwrap_or_default()
    }

    pub(super) fn info(&self, index: ProcessIndex) -> Option<&ProcessInfo> {
        self.infos.get(&index)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Followed> {
        self.followed.values()
    }

    /// Processes that exited and are not followed any more.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn drop_some(&mut self, now: u64) {
        let exited = self.followed.iter().filter(|(_, one)| one.last < now);
        let mut smallest: Vec<(Bytes, ProcessIndex)> =
            exited.map(|(index, one)| (one.peak, *index)).collect();
        smallest.sort_unstable();
        smallest.truncate(smallest.len().div_ceil(2));
        self.dropped += smallest.len() as u64;
        for (_, index) in smallest {
            self.followed.remove(&index);
        }
    }
}

impl Followed {
    fn new(share: &ProcessShare, t: Option<Seconds>) -> Followed {
        Followed {
            share: share.clone(),
            first: share.memory,
            peak: share.memory,
            seen: t.map(|t| (t, t)),
            cpu_percent: None,
            trend: Trend::default(),
            last: 0,
        }
    }

    fn update(&mut self, share: &ProcessShare, t: Option<Seconds>, number: u64) {
        self.cpu_percent = self.cpu_since(share, t).or(self.cpu_percent);
        self.trend.push(share.memory.0 as f64);
        self.share.clone_from(share);
        if let (Some((_, last)), Some(t)) = (&mut self.seen, t) {
            *last = t;
        }
        self.last = number;
    }

    fn cpu_since(&self, share: &ProcessShare, t: Option<Seconds>) -> Option<f64> {
        let used = share.cpu?.0.saturating_sub(self.share.cpu?.0) as f64;
        let seconds = (t? - self.seen?.1).0;
        (seconds > 0.0).then(|| used / 10.0 / seconds)
    }
}

impl Trend {
    const MOST_POINTS: usize = 64;

    fn push(&mut self, value: f64) {
        self.newest = value;
        self.waiting += 1;
        if self.waiting < self.stride.max(1) {
            return;
        }
        self.waiting = 0;
        self.points.push(value);
        if self.points.len() == Trend::MOST_POINTS {
            // The later of two stays, so that the last point is always the newest.
            self.points = self.points.iter().skip(1).step_by(2).copied().collect();
            self.stride = self.stride.max(1) * 2;
        }
    }

    /// The points over its whole life, the newest last.
    pub(super) fn points(&self) -> Vec<f64> {
        let newest = Some(self.newest).filter(|_| self.waiting > 0);
        self.points.iter().copied().chain(newest).collect()
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::Pid;
    use leveloff_model::units::CpuMillis;

    use super::*;

    fn moment(t: f64, memory: u64, is_read: bool) -> Observation {
        let share = ProcessShare {
            memory: Bytes(memory),
            rss: Bytes(memory),
            cpu: Some(CpuMillis((500.0 * t) as u64)),
            is_read,
            ..ProcessShare::unread(ProcessIndex(0), Pid(100), Role::Trainer)
        };
        Observation {
            t: Some(Seconds(t)),
            processes: vec![share],
            ..Observation::default()
        }
    }

    #[test]
    fn a_process_keeps_its_extremes_and_its_cpu() {
        let mut table = ProcessTable::default();
        for (number, memory) in [10, 500, 300].into_iter().enumerate() {
            let observation = moment(2.0 * number as f64, memory, number > 0);
            table.observe(&observation, number as u64);
            table.raise_peaks(&observation);
        }
        let one = table.all().next().unwrap();
        assert_eq!((one.first, one.peak), (Bytes(10), Bytes(500)));
        assert_eq!(one.cpu_percent, Some(50.0));
        assert_eq!(one.seen, Some((Seconds(0.0), Seconds(4.0))));
    }

    #[test]
    fn thousands_of_processes_are_bounded_and_counted() {
        let mut table = ProcessTable::default();
        for n in 0..5000 {
            let mut observation = moment(f64::from(n), 10 + u64::from(n), true);
            observation.processes[0].index = ProcessIndex(n);
            table.observe(&observation, u64::from(n));
        }
        let followed = table.all().count();
        assert!(followed <= MOST_FOLLOWED);
        assert_eq!(table.dropped() + followed as u64, 5000);
        assert!(table.all().any(|one| one.share.index == ProcessIndex(4999)));
    }

    #[test]
    fn a_trend_of_any_length_has_few_points_and_ends_with_the_newest() {
        let mut trend = Trend::default();
        for n in 0..1000 {
            trend.push(f64::from(n));
            assert_eq!(trend.points().last(), Some(&f64::from(n)));
        }
        assert!(trend.points().len() <= Trend::MOST_POINTS);
    }
}
