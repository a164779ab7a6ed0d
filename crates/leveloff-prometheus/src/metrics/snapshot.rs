//! The run at one moment, in plain numbers. What is not known is not there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_analysis::{GroupAccount, RunAccount};
use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::process::{Rank, Role};
use leveloff_model::sample::{OwnCost, Sample};
use leveloff_model::training_counters::TrainingCounters;
use leveloff_model::units::{Bytes, Seconds, Step};
use leveloff_text::subject::in_bytes;

use super::identity::Identity;

/// The run at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The name of the run.
    pub identity: Arc<Identity>,
    /// The run's rank, if it is one rank.
    pub rank: Option<Rank>,
    /// `None` before the first sample.
    pub sample: Option<SampleNumbers>,
    /// The verdict, once there is one.
    pub verdict: Option<VerdictNumbers>,
}

/// The numbers of a sample.
#[derive(Debug, Clone, Default)]
pub struct SampleNumbers {
    /// When.
    pub at: Option<SystemTime>,
    /// By the rank that a process belongs to and its role. They add up to the run.
    pub roles: BTreeMap<(Option<Rank>, Role), GroupAccount>,
    /// The newest step of the training.
    pub step: Option<Step>,
    /// How many steps it plans.
    pub planned_steps: Option<Step>,
    /// What the training counted inside.
    pub counters: TrainingCounters,
    /// The amount of the run's memory at which the nearest limit is met.
    pub ceiling: Option<Bytes>,
    /// Share of the last ten seconds in which some task of the machine waited for memory, 0 to 1.
    pub pressure_some: Option<f64>,
    /// Share in which all did.
    pub pressure_full: Option<f64>,
    /// What watching costs.
    pub cost: OwnCost,
}

/// The numbers of a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerdictNumbers {
    /// The verdict.
    pub verdict: Verdict,
    /// Growth now.
    pub growth: Option<Growth>,
    /// The amount of the run's memory at which the nearest limit is met.
    pub ceiling: Option<Bytes>,
    /// If it grows on: the time until then.
    pub to_ceiling: Option<Seconds>,
}

/// Growth of memory, in the bases that it is known in.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Growth {
    /// Bytes for each step.
    pub per_step: Option<f64>,
    /// Bytes for each second.
    pub per_second: Option<f64>,
}

impl Snapshot {
    /// Before the first sample.
    pub fn nothing_yet(identity: &Arc<Identity>) -> Snapshot {
        Snapshot {
            identity: Arc::clone(identity),
            rank: identity.rank_among(&BTreeSet::new()),
            sample: None,
            verdict: None,
        }
    }

    /// Of a sample, and of the account of its run.
    pub fn of(identity: &Arc<Identity>, sample: &Sample, run: Option<&RunAccount>) -> Snapshot {
        let processes = run.into_iter().flat_map(RunAccount::alive);
        let ranks: BTreeSet<Rank> = processes.filter_map(|process| process.rank).collect();
        let rank = identity.rank_among(&ranks);
        // In a run of one rank everything belongs to that rank: its launcher too, and whatever rank the user stated.
        let label = |own: Option<Rank>| match ranks.len() {
            0 | 1 => rank,
            _ => own.or(rank),
        };
        let groups = run.into_iter().flat_map(|run| &run.groups);
        let alive = groups.filter(|group| group.processes > 0);
        let mut roles: BTreeMap<(Option<Rank>, Role), GroupAccount> = BTreeMap::new();
        for group in alive {
            roles
                .entry((label(group.rank), group.role))
                .and_modify(|sum| sum.add(group))
                .or_insert_with(|| group.clone());
        }
        Snapshot {
            identity: Arc::clone(identity),
            rank,
            sample: Some(SampleNumbers::of(sample, roles)),
            verdict: run
                .and_then(|run| run.verdict.as_ref())
                .map(VerdictNumbers::of),
        }
    }
}

impl SampleNumbers {
    fn of(sample: &Sample, roles: BTreeMap<(Option<Rank>, Role), GroupAccount>) -> SampleNumbers {
        let share = |percent: f32| f64::from(percent) / 100.0;
        let total: Bytes = roles.values().map(|role| role.memory.now).sum();
        SampleNumbers {
            at: Some(SystemTime::now()),
            roles,
            step: sample.progress.step,
            planned_steps: sample.progress.planned_steps,
            counters: sample.progress.counters,
            ceiling: sample.ceiling.map(|ceiling| total + ceiling.headroom()),
            pressure_some: sample.machine.pressure_some.map(share),
            pressure_full: sample.machine.pressure_full.map(share),
            cost: sample.cost,
        }
    }
}

impl VerdictNumbers {
    /// The numbers that screens and reports show as well.
    pub fn of(verdict: &RunVerdict) -> VerdictNumbers {
        let rate = in_bytes(verdict).rate.map(|rate| rate.value.0);
        VerdictNumbers {
            verdict: verdict.verdict,
            growth: rate.map(|rate| Growth::of(rate, verdict.x_unit, verdict.pace)),
            ceiling: verdict.limit,
            to_ceiling: verdict.risk.and_then(|risk| risk.in_time),
        }
    }
}

impl Growth {
    /// `rate` in bytes for each unit of x, of which each takes `pace`.
    fn of(rate: f64, unit: XUnit, pace: Option<Seconds>) -> Growth {
        match unit {
            XUnit::Second => Growth {
                per_step: None,
                per_second: Some(rate),
            },
            _ => Growth {
                per_step: Some(rate),
                per_second: pace.filter(|pace| pace.0 > 0.0).map(|pace| rate / pace.0),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_given_in_the_bases_that_are_known() {
        let by_steps = Growth::of(100.0, XUnit::Step, Some(Seconds(0.5)));
        assert_eq!(by_steps.per_step, Some(100.0));
        assert_eq!(by_steps.per_second, Some(200.0));
        let without_time = Growth::of(100.0, XUnit::Step, None);
        assert_eq!(without_time.per_second, None);
        let by_time = Growth::of(100.0, XUnit::Second, None);
        assert_eq!((by_time.per_step, by_time.per_second), (None, Some(100.0)));
    }
}
