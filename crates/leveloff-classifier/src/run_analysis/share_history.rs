//! Who held how much at earlier moments, in bounded memory.
//!
//! Growth counts from an onset that is known only later, so snapshots of the whole run are kept
//! evenly. Between two of them amounts are interpolated. All growths are differences of the same two
//! moments, so those of processes, roles and kinds add up to that of the run.

use std::collections::BTreeMap;

use leveloff_model::process::ProcessIndex;
use leveloff_model::training_counters::TrainingCounters;

use super::Moment;
use crate::observation::{Observation, XUnit};

/// Snapshots that are kept at most; then every second one is dropped.
const MOST_KEPT: usize = 256;

/// Snapshots of a run.
#[derive(Debug, Clone)]
pub(super) struct ShareHistory {
    kept: Vec<Snapshot>,
    /// Every so many observations one is kept.
    stride: u64,
    observations: u64,
}

/// Who held how much at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Snapshot {
    /// The observation's number within the run.
    pub(super) number: u64,
    pub(super) moment: Moment,
    /// Memory of the run, for a source that knows no processes.
    pub(super) memory: f64,
    pub(super) counters: TrainingCounters,
    pub(super) shares: BTreeMap<ProcessIndex, Share>,
}

/// What one process held.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Share {
    pub(super) anonymous: f64,
    pub(super) shared: f64,
    pub(super) swapped: f64,
}

impl Default for ShareHistory {
    fn default() -> ShareHistory {
        ShareHistory {
            kept: Vec::new(),
            stride: 1,
            observations: 0,
        }
    }
}

impl ShareHistory {
    /// Takes the next observation and its number within the run.
    pub(super) fn observe(&mut self, observation: &Observation, number: u64) {
        if self.observations.is_multiple_of(self.stride) {
            let snapshot = Snapshot::of(observation, number);
            self.kept.push(snapshot);
            if self.kept.len() > MOST_KEPT {
                let mut is_odd = true;
                // The first one stays: it is where the run began.
                self.kept.retain(|_| {
                    is_odd = !is_odd;
                    !is_odd
                });
                self.stride *= 2;
            }
        }
        self.observations += 1;
    }

    /// The first snapshot; of those with a step if there are any.
    pub(super) fn first(&self) -> Option<&Snapshot> {
        let counted = self.kept.iter().find(|one| one.moment.count.is_some());
        counted.or(self.kept.first())
    }

    /// The training's counters at a snapshot. A counter that the training reported only later has its
    /// first value.
    pub(super) fn counters_at(&self, snapshot: &Snapshot) -> TrainingCounters {
        let later = self.kept.iter().filter(|one| one.number > snapshot.number);
        later.fold(snapshot.counters, |known, one| {
            one.counters.updated_by(&known)
        })
    }

    /// The run at a position; at the nearest one that is kept where the run has not been.
    pub(super) fn at(&self, x: f64, unit: XUnit) -> Option<Snapshot> {
        let placed = || {
            let with_x = |one| Some((Snapshot::x(one, unit)?, one));
            self.kept.iter().filter_map(with_x)
        };
        let before = placed().take_while(|(at, _)| *at <= x).last();
        let after = placed().find(|(at, _)| *at > x);
        match (before, after) {
            (Some((from, before)), Some((to, after))) => {
                Some(before.towards(after, (x - from) / (to - from), x, unit))
            }
            (one, other) => one.or(other).map(|(_, snapshot)| snapshot.clone()),
        }
    }
}

impl Snapshot {
    /// An observation and its number.
    pub(super) fn of(observation: &Observation, number: u64) -> Snapshot {
        let processes = observation.processes.iter();
        let shares = processes.map(|process| (process.index, Share::of(process)));
        Snapshot {
            number,
            moment: Moment::of(observation),
            memory: observation.memory.0 as f64,
            counters: observation.counters,
            shares: shares.collect(),
        }
    }

    fn x(&self, unit: XUnit) -> Option<f64> {
        self.moment.x(unit)
    }

    /// The share of the way to another one. A process that came meanwhile held nothing, one that
    /// left held what it had.
    fn towards(&self, other: &Snapshot, way: f64, x: f64, unit: XUnit) -> Snapshot {
        let between = |from: f64, to: f64| from + way * (to - from);
        let shares = self.shares.iter().map(|(index, from)| {
            let to = other.shares.get(index).unwrap_or(from);
            let share = Share {
                anonymous: between(from.anonymous, to.anonymous),
                shared: between(from.shared, to.shared),
                swapped: between(from.swapped, to.swapped),
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
    pub(super) fn total(&self) -> f64 {
        self.anonymous + self.shared + self.swapped
    }
}

#[cfg(test)]
mod tests {
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
            history.observe(&observation, u64::from(n));
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
    fn outside_of_the_run_the_nearest_moment_counts() {
        let history = history(10);
        assert_eq!(history.at(-5.0, XUnit::Step).unwrap().memory, 1000.0);
        assert_eq!(history.at(50.0, XUnit::Step).unwrap().memory, 1090.0);
        assert_eq!(history.at(5.0, XUnit::Second).unwrap().memory, 1025.0);
        assert_eq!(ShareHistory::default().at(0.0, XUnit::Step), None);
    }
}
