//! One moment of a run, as evidence.

use std::collections::BTreeMap;
use std::sync::Arc;

use leveloff_model::process::{Pid, ProcessIndex, Rank, Role};
use leveloff_model::progress::{MarkKind, Phase, RESTART, StepUnit};
use leveloff_model::sample::{Ceiling, FillingMapping, SharedNames};
use leveloff_model::training_counters::{
    GrownObjects, GrownTensors, RecompileReason, TrainingCounters,
};
use leveloff_model::units::{Bytes, CpuMillis, Seconds, Step};

/// What is known of a run at one moment. A recording's tick gives all of it, a pasted log only a
/// step and an amount; what a source does not report is absent, never zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// How far the run had come: its step, or whatever the source counts ([`XUnit`]).
    pub count: Option<f64>,
    /// What the training itself says that it counts; `None` leaves it at the source's [`XUnit`].
    pub count_unit: Option<StepUnit>,
    /// When, on the source's own clock.
    pub t: Option<Seconds>,
    /// Memory that the run really holds, shared pages counted once.
    pub memory: Bytes,
    /// What a sum of RSS would say, where that is known to be something else.
    pub rss_sum: Option<Bytes>,
    /// Who holds it. Empty when the source knows one number only.
    pub processes: Vec<ProcessShare>,
    /// Bytes in files in /dev/shm, which no process needs to map; without those that are known to be another program's.
    pub devshm: Option<Bytes>,
    /// Of those, bytes in files that are known to be the run's.
    pub devshm_own: Option<Bytes>,
    /// Bytes in memfds that processes of the run hold, mapped or not.
    pub memfd_own: Option<Bytes>,
    /// Shared mappings of the largest process by kind, as last read.
    pub shared_mappings: Option<SharedMappings>,
    /// The reserved mapping that the largest process fills, as last read.
    pub filling: Option<FillingReading>,
    /// What the training counted inside.
    pub counters: TrainingCounters,
    /// Tensors whose number grew, most bytes first, if the training reports them.
    pub grown: Vec<GrownTensors>,
    /// Why code was compiled again, most frequent first, if the training reports it.
    pub recompile_reasons: Vec<RecompileReason>,
    /// Python objects whose number grew, if the training reports them.
    pub grown_objects: Vec<GrownObjects>,
    /// GPU memory of all processes, as the driver reports it.
    pub gpu_bytes: Option<Bytes>,
    /// The current epoch; 2.5 is half-way through the third.
    pub epoch: Option<f64>,
    /// What the training does.
    pub phase: Option<Phase>,
    /// How far the run is going to go, as it says itself.
    pub planned: Option<f64>,
    /// The length of an epoch, as it says itself.
    pub epoch_length: Option<f64>,
    /// What the training said since the last observation.
    pub marks: Vec<MarkKind>,
    /// What malloc had in use at each of the marks, where the training counted it.
    pub counts_at_marks: Vec<Option<CountAtMark>>,
    /// The nearest limit.
    pub ceiling: Option<Ceiling>,
    /// Versions of the packages that a trainer uses. Shared, because every observation has it.
    pub packages: Option<Arc<BTreeMap<String, String>>>,
}

/// What the training counted at a mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountAtMark {
    /// When.
    pub t: Seconds,
    /// The step at that time.
    pub step: Option<Step>,
    /// What malloc had in use.
    pub malloc_used: Bytes,
}

/// Shared memory that one process maps, by what the mappings are named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedMappings {
    /// Files in /dev/shm: batches of torch's loader workers, Ray's object store.
    pub files: Bytes,
    /// memfd, System V and anonymous shared mappings.
    pub anonymous: Bytes,
    /// Mappings of a GPU driver.
    pub device: Bytes,
    /// Of these, what names show; `None` in recordings of earlier versions.
    pub names: Option<SharedNames>,
}

/// A reading of a mapping that is being filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FillingReading {
    /// When it was read: a reading stands for the observations until the next.
    pub at: Seconds,
    /// The mapping.
    pub mapping: FillingMapping,
}

/// One process's part of an [`Observation`].
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessShare {
    /// Its number within the run; never reused.
    pub index: ProcessIndex,
    /// Its number on the machine.
    pub pid: Pid,
    /// The part it plays.
    pub role: Role,
    /// The trainer it is or belongs to.
    pub rank: Option<Rank>,
    /// Its share of the run's memory, all kinds together.
    pub memory: Bytes,
    /// Of that, shared memory: /dev/shm and memfd mappings.
    pub shared: Bytes,
    /// Of that, swapped out.
    pub swapped: Bytes,
    /// Its RSS, every shared page counted in full.
    pub rss: Bytes,
    /// Pages that no other process maps, where that was read.
    pub private: Option<Bytes>,
    /// Its GPU memory, where the driver reports it.
    pub gpu: Option<Bytes>,
    /// CPU time that it has used.
    pub cpu: Option<CpuMillis>,
    /// Its open descriptors.
    pub fds: Option<u32>,
    /// Whether its share was ever read. Before, it is an estimate: what it holds beyond what it inherited.
    pub is_read: bool,
    /// Of its memory, what is estimated to have come since its share was read, because no counter shows it: pages that it
    /// copied after a fork. The next reading shows whether they were.
    pub estimated: Bytes,
}

/// A moment of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moment {
    /// When, on the run's own clock.
    pub t: Option<Seconds>,
    /// At which step, or whatever the run counts.
    pub count: Option<f64>,
}

/// What a run's curve is drawn over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum XUnit {
    /// Training steps.
    #[default]
    Step,
    /// Loop iterations of something that is not known to be training.
    Iteration,
    /// Epochs.
    Epoch,
    /// Rows, when nothing better is known.
    Sample,
    /// Seconds.
    Second,
    /// Environment steps of reinforcement learning.
    Timestep,
    /// Episodes of reinforcement learning.
    Episode,
    /// Training samples.
    TrainingSample,
    /// Tokens.
    Token,
}

impl Observation {
    /// Its position on an axis of this unit.
    pub fn x(&self, unit: XUnit) -> Option<f64> {
        match unit {
            XUnit::Second => self.t.map(|t| t.0),
            _ => self.count,
        }
    }

    /// Bytes in shared files that may be the run's: those in /dev/shm, and memfds that its processes hold.
    pub(crate) fn shared_files(&self) -> Option<Bytes> {
        let memfd = self.memfd_own.unwrap_or_default();
        self.devshm.map(|devshm| devshm + memfd).or(self.memfd_own)
    }

    /// Whether another counter of the training gives the count from here on.
    pub fn has_new_clock(&self) -> bool {
        let is_new = |mark: &MarkKind| matches!(mark, MarkKind::Clock(_));
        self.marks.iter().any(is_new)
    }

    /// Whether that counter does not continue the counts up to `before`.
    pub(crate) fn begins_new_clock(&self, before: &Observation) -> bool {
        self.has_new_clock() && (self.count < before.count || self.count_unit != before.count_unit)
    }

    /// Whether the run was started again since the last observation.
    pub fn is_restart(&self) -> bool {
        let is_restart = |mark: &MarkKind| matches!(mark, MarkKind::Event(name) if name == RESTART);
        self.marks.iter().any(is_restart)
    }
}

impl Moment {
    /// When an observation was made.
    pub fn of(observation: &Observation) -> Moment {
        Moment {
            t: observation.t,
            count: observation.count,
        }
    }

    /// Its position on an axis of this unit.
    pub fn x(self, unit: XUnit) -> Option<f64> {
        match unit {
            XUnit::Second => self.t.map(|t| t.0),
            _ => self.count,
        }
    }

    /// Whether it is later than another one, by time where both have one.
    pub fn is_after(self, other: Moment) -> bool {
        match (self.t, other.t) {
            (Some(own), Some(other)) => own > other,
            _ => self.count > other.count,
        }
    }

    /// The share of the way to a later one; at `x` on the axis of `unit`.
    pub(crate) fn towards(self, other: Moment, way: f64, x: f64, unit: XUnit) -> Moment {
        let between = |from: Option<f64>, to: Option<f64>| Some(from? + way * (to? - from?));
        let t = between(self.t.map(|t| t.0), other.t.map(|t| t.0));
        match unit {
            XUnit::Second => Moment {
                t: Some(Seconds(x)),
                count: self.count,
            },
            _ => Moment {
                t: t.map(Seconds),
                count: Some(x),
            },
        }
    }
}

impl Observation {
    /// A run that holds this much memory at a step. All else is unknown.
    ///
    /// ```
    /// use leveloff_classifier::observation::Observation;
    /// use leveloff_model::units::{Bytes, Step};
    ///
    /// let observation = Observation::at_step(Step(10), Bytes(5_552_000_000));
    /// assert_eq!(observation.count, Some(10.0));
    /// assert!(observation.processes.is_empty());
    /// ```
    pub fn at_step(step: Step, memory: Bytes) -> Observation {
        Observation {
            count: Some(step.0 as f64),
            memory,
            ..Observation::default()
        }
    }
}

impl ProcessShare {
    /// A process of which nothing was read yet.
    pub fn unread(index: ProcessIndex, pid: Pid, role: Role) -> ProcessShare {
        ProcessShare {
            index,
            pid,
            role,
            rank: None,
            memory: Bytes::ZERO,
            shared: Bytes::ZERO,
            swapped: Bytes::ZERO,
            rss: Bytes::ZERO,
            private: None,
            gpu: None,
            cpu: None,
            fds: None,
            is_read: false,
            estimated: Bytes::ZERO,
        }
    }

    /// A process of which only its memory is known: RSS is the same, and no page is shared.
    pub fn with_memory(index: ProcessIndex, pid: Pid, role: Role, memory: Bytes) -> ProcessShare {
        ProcessShare {
            memory,
            rss: memory,
            is_read: true,
            ..ProcessShare::unread(index, pid, role)
        }
    }

    /// Anonymous memory: what is neither shared nor swapped out.
    pub fn anonymous(&self) -> Bytes {
        self.memory
            .saturating_sub(self.shared)
            .saturating_sub(self.swapped)
    }
}

impl From<StepUnit> for XUnit {
    fn from(unit: StepUnit) -> XUnit {
        match unit {
            StepUnit::Steps => XUnit::Step,
            StepUnit::Timesteps => XUnit::Timestep,
            StepUnit::Episodes => XUnit::Episode,
            StepUnit::Samples => XUnit::TrainingSample,
            StepUnit::Tokens => XUnit::Token,
            StepUnit::Epochs => XUnit::Epoch,
        }
    }
}

impl XUnit {
    /// One of it, as printed after "per" and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            XUnit::Step => "step",
            XUnit::Iteration => "iteration",
            XUnit::Epoch => "epoch",
            XUnit::Sample => "sample",
            XUnit::Second => "second",
            XUnit::Timestep => "timestep",
            XUnit::Episode => "episode",
            XUnit::TrainingSample => "training sample",
            XUnit::Token => "token",
        }
    }
}
