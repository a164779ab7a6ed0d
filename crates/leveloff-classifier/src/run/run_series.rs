//! Every series of a run, over one axis.

use leveloff_model::units::Seconds;

use super::counter_tracks::CounterTracks;
use super::epoch::EpochLength;
use super::events::Events;
use super::generations::Generations;
use super::processes::ProcessTracks;
use super::roles::RoleTracks;
use super::run_age::RunAge;
use super::track::Track;
use crate::observation::{Observation, XUnit};

/// Counts that make an axis: a judgement needs as many points.
const COUNTS_THAT_MAKE_AN_AXIS: u64 = 6;

/// Fewer are coarse if they are so far apart, and so many samples have the same count: most of what was measured would be
/// behind one median, so the time says more.
const FEW_COUNTS: u64 = 20;
const COARSE_STRIDE: f64 = 10.0;
const SAMPLES_OF_COARSE_COUNT: u64 = 5;

/// The series of a run over steps, or over time.
#[derive(Debug, Clone, Default)]
pub(super) struct RunSeries {
    /// The run's memory, as finely as it can be kept: it is what the verdict is about.
    pub(super) memory: Track,
    /// Of each role and kind.
    pub(super) roles: RoleTracks,
    /// Of single processes.
    pub(super) processes: ProcessTracks,
    /// Files in /dev/shm that may be the run's, and memfds.
    pub(super) devshm: Track,
    /// Of those, files that are known to be the run's.
    pub(super) devshm_own: Track,
    /// memfds that processes of the run hold; they are part of both.
    pub(super) memfd: Track,
    /// Shared mappings of the largest process: files, anonymous ones, those of a driver.
    pub(super) shared_mappings: [Track; 3],
    /// Of these by name: torch's files, Ray's object store, memfds. Without points where names were not read.
    pub(super) shared_names: [Track; 3],
    /// Open descriptors of the tree.
    pub(super) descriptors: Track,
    /// Living processes.
    pub(super) process_count: Track,
    /// What the training counted inside.
    pub(super) counters: CounterTracks,
    /// Growth across evaluations, checkpoints and epochs.
    pub(super) events: Events,
    /// Workers that are replaced again and again.
    pub(super) generations: Generations,
    /// How far the run had come before the first observation.
    age: RunAge,
    /// How long an epoch is on this axis.
    pub(super) epochs: EpochLength,
    /// The newest x.
    pub(super) x: f64,
    /// Observations taken.
    pub(super) points: u64,
    distinct_x: u64,
    first_x: f64,
    times: Option<(Seconds, Seconds)>,
}

impl RunSeries {
    /// Nothing yet.
    pub(super) fn new() -> RunSeries {
        RunSeries {
            memory: Track::fine(),
            ..RunSeries::default()
        }
    }

    /// Takes the next observation.
    pub(super) fn observe(&mut self, x: f64, observation: &Observation) {
        if self.points == 0 {
            self.first_x = x;
        }
        if self.points == 0 || x > self.x {
            self.distinct_x += 1;
            self.x = x;
        }
        self.points += 1;
        if let Some(t) = observation.t {
            self.times = Some((self.times.map_or(t, |times| times.0), t));
        }
        self.memory.push(x, observation.memory.0 as f64);
        self.age.observe(x, observation);
        self.events.observe(x, observation);
        self.epochs.observe(x, observation);
        self.take_processes(x, observation);
        self.take_the_rest(x, observation);
    }

    /// Whether there are enough different x for a judgement.
    pub(super) fn makes_axis(&self) -> bool {
        self.distinct_x >= COUNTS_THAT_MAKE_AN_AXIS && !self.is_coarse()
    }

    /// Whether few x that are far apart stand for many samples.
    pub(super) fn is_coarse(&self) -> bool {
        let counts = self.distinct_x;
        let stride = (self.x - self.first_x) / counts.saturating_sub(1).max(1) as f64;
        counts < FEW_COUNTS
            && stride >= COARSE_STRIDE
            && self.points >= SAMPLES_OF_COARSE_COUNT * counts
    }

    /// How far the run had come on an axis of this unit before the first observation, where that is known.
    pub(super) fn before_first(&self, unit: XUnit) -> Option<f64> {
        self.age.before_first(unit)
    }

    /// Times of the first and the last observation.
    pub(super) fn times(&self) -> Option<(Seconds, Seconds)> {
        self.times
    }

    fn take_processes(&mut self, x: f64, observation: &Observation) {
        // A source that knows one number only does not say that there are no processes.
        if observation.processes.is_empty() {
            return;
        }
        let processes = &observation.processes;
        self.roles.observe(x, processes);
        self.processes.observe(x, processes);
        self.generations.observe(x, processes);
        self.process_count.push(x, processes.len() as f64);
        // A sum in which one number is missing is missing; a zombie has none to miss.
        let descriptors: Option<u64> = processes
            .iter()
            .filter(|process| process.rss.0 > 0)
            .map(|process| process.fds.map(u64::from))
            .sum();
        if let Some(descriptors) = descriptors {
            self.descriptors.push(x, descriptors as f64);
        }
    }

    fn take_the_rest(&mut self, x: f64, observation: &Observation) {
        if let Some(files) = observation.shared_files() {
            self.devshm.push(x, files.0 as f64);
        }
        let own = [observation.devshm_own, observation.memfd_own];
        if let Some(own) = own.into_iter().flatten().reduce(|a, b| a + b) {
            self.devshm_own.push(x, own.0 as f64);
        }
        if let Some(memfd) = observation.memfd_own {
            self.memfd.push(x, memfd.0 as f64);
        }
        if let Some(mapped) = observation.shared_mappings {
            let amounts = [mapped.files, mapped.anonymous, mapped.device];
            for (track, amount) in self.shared_mappings.iter_mut().zip(amounts) {
                track.push(x, amount.0 as f64);
            }
            if let Some(names) = mapped.names {
                let amounts = [names.torch, names.plasma, names.memfd];
                for (track, amount) in self.shared_names.iter_mut().zip(amounts) {
                    track.push(x, amount.0 as f64);
                }
            }
        }
        self.counters.observe(x, observation);
    }
}
