//! The run at one moment, in plain numbers. What is not known is not there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::SystemTime;

use leveloff_classifier::observation::{ProcessShare, XUnit};
use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, Rank, Role};
use leveloff_model::sample::{OwnCost, ProcessReading, Sample};
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
    pub roles: BTreeMap<(Option<Rank>, Role), RoleNumbers>,
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

/// Processes of one rank and role.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RoleNumbers {
    /// How many.
    pub processes: u32,
    /// What they hold, shared pages counted once.
    pub memory: Bytes,
    /// Of that, shared memory.
    pub shared: Bytes,
    /// Of that, swapped out.
    pub swapped: Bytes,
    /// What a sum of their RSS says.
    pub rss: Bytes,
    /// Their memory on GPUs, where it is known.
    pub gpu: Option<Bytes>,
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

/// What the labels of a process are made of.
#[derive(Debug, Clone, Copy)]
pub struct ProcessLabels {
    pid: Pid,
    role: Role,
    rank: Option<Rank>,
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

    /// Of a sample of these processes.
    pub fn of(
        identity: &Arc<Identity>,
        sample: &Sample,
        processes: &HashMap<ProcessIndex, ProcessLabels>,
        verdict: Option<VerdictNumbers>,
    ) -> Snapshot {
        let ranks: BTreeSet<Rank> = processes
            .values()
            .filter_map(|process| process.rank)
            .collect();
        let rank = identity.rank_among(&ranks);
        // Of one rank's run, all is that rank's: its launcher as well, and whatever it is said to be.
        let label = |own: Option<Rank>| match ranks.len() {
            0 | 1 => rank,
            _ => own.or(rank),
        };
        Snapshot {
            identity: Arc::clone(identity),
            rank,
            sample: Some(SampleNumbers::of(sample, processes, label)),
            verdict,
        }
    }
}

impl SampleNumbers {
    fn of(
        sample: &Sample,
        processes: &HashMap<ProcessIndex, ProcessLabels>,
        label: impl Fn(Option<Rank>) -> Option<Rank>,
    ) -> SampleNumbers {
        let mut roles: BTreeMap<(Option<Rank>, Role), RoleNumbers> = BTreeMap::new();
        // A zombie has given its memory back, and is there only until its parent looks.
        for reading in sample.processes.iter().filter(|r| !r.state.is_gone()) {
            if let Some(process) = processes.get(&reading.process) {
                let key = (label(process.rank), process.role);
                roles.entry(key).or_default().add(process, reading);
            }
        }
        let share = |percent: f32| f64::from(percent) / 100.0;
        let total = sample.tree().total;
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

impl RoleNumbers {
    fn add(&mut self, process: &ProcessLabels, reading: &ProcessReading) {
        let share = ProcessShare::of(reading, process.pid, process.role, process.rank);
        self.processes += 1;
        self.memory += share.memory;
        self.shared += share.shared;
        self.swapped += share.swapped;
        self.rss += share.rss;
        if let Some(gpu) = reading.gpu {
            *self.gpu.get_or_insert_default() += gpu;
        }
    }

    /// What is neither shared nor swapped out.
    pub fn anonymous(&self) -> Bytes {
        self.memory
            .saturating_sub(self.shared)
            .saturating_sub(self.swapped)
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

impl ProcessLabels {
    /// The labels of a process.
    pub fn of(info: &ProcessInfo) -> ProcessLabels {
        ProcessLabels {
            pid: info.key.pid,
            role: info.role,
            rank: info.rank,
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
