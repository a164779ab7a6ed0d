//! From a tick, live or recorded, to an observation.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, Rank, Role};
use leveloff_model::progress::Mark;
use leveloff_model::sample::{Event, ProcessReading, Sample, Tick, TreeMemory};
use leveloff_model::units::{ByteDelta, Bytes, Seconds};

use crate::observation::{CountAtMark, FillingReading, Observation, ProcessShare, SharedMappings};
use crate::teardown::{Present, TrainerPresence};

/// Makes observations of ticks. Keeps the identity of processes, and one observation that it fills again.
#[derive(Debug, Clone)]
pub struct Observer {
    living: HashMap<ProcessIndex, Person>,
    /// `None` for a whole machine, which does not end.
    trainers: Option<TrainerPresence>,
    observation: Observation,
    /// The marks in the observation were handed out with it.
    marks_are_delivered: bool,
    joining: Joining,
}

/// The first moments of a run that was joined.
///
/// A worker that forked long ago has memory of its own and memory that it shares, and until its PSS
/// is read, the two cannot be separated. Its memory would seem to appear at that reading.
#[derive(Debug, Clone, Default)]
struct Joining {
    began: Option<Seconds>,
    /// Those of the first moment whose share is not known yet.
    unread: HashSet<ProcessIndex>,
}

/// Longer than this, the shares of some cannot be read at all, and are estimated.
const JOINING_TAKES: Seconds = Seconds(10.0);

impl Joining {
    /// Whether the shares of all who were there at first are known.
    fn is_over(&mut self, sample: &Sample) -> bool {
        if self.began.is_some() && self.unread.is_empty() {
            return true;
        }
        let is_unread =
            |reading: &&ProcessReading| reading.pss.is_none() && reading.inherited > Bytes::ZERO;
        let unread = sample.processes.iter().filter(is_unread);
        let began = match self.began {
            None => {
                self.unread = unread.map(|reading| reading.process).collect();
                *self.began.insert(sample.t)
            }
            Some(began) => {
                let unread: HashSet<ProcessIndex> = unread.map(|reading| reading.process).collect();
                self.unread.retain(|index| unread.contains(index));
                began
            }
        };
        self.unread.is_empty() || (sample.t - began).0 > JOINING_TAKES.0
    }
}

/// What a verdict needs to know of a process beside its numbers.
#[derive(Debug, Clone, Copy)]
struct Person {
    pid: Pid,
    role: Role,
    rank: Option<Rank>,
}

impl Default for Observer {
    fn default() -> Observer {
        Observer::new()
    }
}

impl Observer {
    /// An observer of a training run.
    pub fn new() -> Observer {
        Observer {
            trainers: Some(TrainerPresence::default()),
            ..Observer::of_machine()
        }
    }

    /// An observer of all processes of a machine: no run that could end, so every tick is an
    /// observation.
    pub fn of_machine() -> Observer {
        Observer {
            living: HashMap::new(),
            trainers: None,
            observation: Observation::default(),
            marks_are_delivered: false,
            joining: Joining::default(),
        }
    }

    /// What the tick is evidence of; `None` when it belongs to the end of the run, where memory
    /// falls because processes end. Marks that arrive meanwhile are part of the next observation.
    pub fn observe(&mut self, tick: &Tick) -> Option<&Observation> {
        if self.marks_are_delivered {
            self.observation.marks.clear();
            self.observation.counts_at_marks.clear();
        }
        for event in &tick.events {
            self.apply_event(event);
        }
        self.marks_are_delivered = self.look(&tick.sample);
        self.marks_are_delivered.then_some(&self.observation)
    }

    fn apply_event(&mut self, event: &Event) {
        match event {
            Event::Appeared(info) | Event::Changed(info) => {
                self.living.insert(info.index, Person::of(info));
            }
            Event::Exited(index) => {
                self.living.remove(index);
            }
            Event::Mark(mark) => {
                self.observation.marks.push(mark.kind.clone());
                self.observation.counts_at_marks.push(count_at(mark));
            }
            Event::Software(software) => {
                let packages = software.packages.clone();
                self.observation.packages =
                    packages.map(Arc::new).or(self.observation.packages.take());
            }
            Event::Gap(_) | Event::Site(_) | Event::Allocations(_) | Event::Holder(_) => {}
        }
    }

    fn look(&mut self, sample: &Sample) -> bool {
        let alive = || sample.processes.iter().filter(|reading| is_alive(reading));
        let tree = sample.tree();
        let present = Present {
            processes: alive().count(),
            trainers: alive().filter(|reading| self.is_trainer(reading)).count(),
            memory: tree.total,
        };
        let goes_on = match &mut self.trainers {
            Some(trainers) => {
                self.joining.is_over(sample) && trainers.goes_on(present, Some(sample.t))
            }
            None => true,
        };
        if goes_on {
            self.fill(sample, &tree);
        }
        goes_on
    }

    fn is_trainer(&self, reading: &ProcessReading) -> bool {
        let person = self.living.get(&reading.process);
        person.is_some_and(|person| person.role == Role::Trainer)
    }

    fn fill(&mut self, sample: &Sample, tree: &TreeMemory) {
        let progress = &sample.progress;
        let observation = &mut self.observation;
        observation.count = progress.step.map(|step| step.0 as f64);
        observation.count_unit = progress.unit;
        observation.t = Some(sample.t);
        observation.memory = tree.total;
        observation.rss_sum = Some(tree.rss);
        let foreign = sample.machine.devshm_foreign.unwrap_or_default();
        let used = sample.machine.devshm_used;
        observation.devshm = used.map(|used| used.saturating_sub(foreign));
        observation.devshm_own = sample.machine.devshm_own;
        observation.memfd_own = sample.machine.memfd_own;
        let kinds = sample.mappings.as_ref().map(|mappings| mappings.kinds);
        observation.shared_mappings = kinds.map(|kinds| SharedMappings {
            files: kinds.devshm,
            anonymous: kinds.memfd,
            device: kinds.device,
            names: kinds.shared,
        });
        observation.filling = sample.mappings.as_ref().and_then(|mappings| {
            let at = mappings.at;
            mappings
                .filling
                .map(|mapping| FillingReading { at, mapping })
        });
        observation.counters = progress.counters;
        if observation.grown != progress.grown {
            observation.grown.clone_from(&progress.grown);
        }
        if observation.recompile_reasons != progress.recompile_reasons {
            observation
                .recompile_reasons
                .clone_from(&progress.recompile_reasons);
        }
        if observation.grown_objects != progress.grown_objects {
            observation
                .grown_objects
                .clone_from(&progress.grown_objects);
        }
        observation.gpu_bytes = gpu_memory(sample);
        observation.epoch = progress.epoch;
        observation.phase.clone_from(&progress.phase);
        observation.planned = progress.planned_steps.map(|step| step.0 as f64);
        observation.epoch_length = progress.epoch_steps.map(|step| step.0 as f64);
        observation.ceiling = sample.ceiling;
        observation.processes.clear();
        for reading in &sample.processes {
            if let Some(person) = self.living.get(&reading.process) {
                observation.processes.push(person.share(reading));
            }
        }
    }
}

impl Person {
    fn of(info: &ProcessInfo) -> Person {
        Person {
            pid: info.key.pid,
            role: info.role,
            rank: info.rank,
        }
    }

    fn share(&self, reading: &ProcessReading) -> ProcessShare {
        ProcessShare::of(reading, self.pid, self.role, self.rank)
    }
}

impl ProcessShare {
    /// What a process holds by its newest reading, split by kind.
    pub fn of(reading: &ProcessReading, pid: Pid, role: Role, rank: Option<Rank>) -> ProcessShare {
        let memory = reading.memory();
        let shared = shared_part(reading).min(memory);
        ProcessShare {
            index: reading.process,
            pid,
            role,
            rank,
            memory,
            shared,
            swapped: swapped_part(reading).min(memory.saturating_sub(shared)),
            rss: reading.rss(),
            private: reading.pss.map(|pss| pss.private),
            gpu: reading.gpu,
            cpu: Some(reading.cpu),
            fds: reading.fds,
            is_read: reading.pss.is_some(),
            estimated: reading.returned,
        }
    }
}

/// A process that has given its memory back is on its way out, reaped or not.
fn count_at(mark: &Mark) -> Option<CountAtMark> {
    Some(CountAtMark {
        t: mark.t,
        step: mark.step,
        malloc_used: mark.malloc_used?,
    })
}

fn is_alive(reading: &ProcessReading) -> bool {
    !reading.state.is_gone() && reading.rss() + reading.swap > Bytes::ZERO
}

/// Of all processes of which it is known; `None` when it is known of none.
fn gpu_memory(sample: &Sample) -> Option<Bytes> {
    let known = sample.processes.iter().filter_map(|reading| reading.gpu);
    known.reduce(|sum, amount| sum + amount)
}

/// Its proportional shared memory, carried like the whole; all it maps before PSS was read.
fn shared_part(reading: &ProcessReading) -> Bytes {
    match &reading.pss {
        Some(pss) => carried(pss.shmem, reading.shmem, pss.base.shmem),
        None => reading.shmem,
    }
}

fn swapped_part(reading: &ProcessReading) -> Bytes {
    match &reading.pss {
        Some(pss) => carried(pss.swap, reading.swap, pss.base.swap),
        None => reading.swap,
    }
}

fn carried(read: Bytes, now: Bytes, then: Bytes) -> Bytes {
    let moved: ByteDelta = now.since(then);
    read.moved_by(moved)
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::{ProcessKey, ProcessState, StartTicks};
    use leveloff_model::progress::{Mark, MarkKind, Phase, Progress};
    use leveloff_model::sample::{FastCounters, MachineReading, OwnCost, PssReading};
    use leveloff_model::units::{Seconds, Step};

    use super::*;

    fn appeared(n: u32, role: Role) -> Event {
        Event::Appeared(ProcessInfo {
            index: ProcessIndex(n),
            key: ProcessKey {
                pid: Pid(100 + n as i32),
                start: StartTicks(1),
            },
            parent: Pid(1),
            role,
            unknown_role: None,
            rank: None,
            comm: String::new(),
            command: Vec::new(),
            why: String::new(),
        })
    }

    fn reading(n: u32, anon: u64) -> ProcessReading {
        ProcessReading {
            anon: Bytes(anon),
            file: Bytes(7),
            ..ProcessReading::unread(ProcessIndex(n))
        }
    }

    fn tick(t: f64, events: Vec<Event>, processes: Vec<ProcessReading>) -> Tick {
        Tick {
            events,
            sample: Sample {
                t: Seconds(t),
                progress: Progress {
                    step: Some(Step(10)),
                    ..Progress::default()
                },
                processes,
                mappings: None,
                machine: MachineReading::default(),
                cgroup: None,
                ceiling: None,
                cost: OwnCost::default(),
            },
        }
    }

    fn evaluation() -> Event {
        Event::Mark(Mark {
            t: Seconds(1.0),
            process: None,
            step: None,
            kind: MarkKind::Phase(Phase::Eval),
            path: None,
            malloc_used: None,
            facts: Default::default(),
        })
    }

    #[test]
    fn a_tick_becomes_shares_that_add_up() {
        let mut worker = reading(1, 100);
        (worker.shmem, worker.swap) = (Bytes(30), Bytes(5));
        worker.pss = Some(PssReading {
            at: Seconds(0.0),
            pss: Bytes(40),
            anon: Bytes(20),
            file: Bytes(0),
            shmem: Bytes(10),
            private: Bytes(0),
            swap: Bytes(0),
            lazy_free: Bytes(0),
            hugetlb: Bytes(0),
            base: FastCounters {
                anon: Bytes(90),
                shmem: Bytes(28),
                swap: Bytes(0),
            },
        });
        let events = vec![
            appeared(0, Role::Trainer),
            appeared(1, Role::DataloaderWorker),
        ];
        let mut observer = Observer::new();
        let seen = observer.observe(&tick(0.0, events, vec![reading(0, 500), worker]));
        let seen = seen.unwrap();
        assert_eq!(seen.memory, Bytes(500 + 20 + 10 + 10 + 2 + 5));
        assert_eq!(seen.count, Some(10.0));
        let worker = &seen.processes[1];
        assert_eq!(
            (worker.pid, worker.role),
            (Pid(101), Role::DataloaderWorker)
        );
        assert_eq!((worker.shared, worker.swapped), (Bytes(12), Bytes(5)));
        assert_eq!(worker.anonymous(), Bytes(30));
        assert_eq!(
            seen.processes.iter().map(|p| p.memory).sum::<Bytes>(),
            seen.memory
        );
    }

    #[test]
    fn the_end_of_the_run_is_not_observed() {
        let mut observer = Observer::new();
        let events = vec![appeared(0, Role::Launcher), appeared(1, Role::Trainer)];
        let both = vec![reading(0, 10), reading(1, 500)];
        assert!(observer.observe(&tick(0.0, events, both)).is_some());
        let mut zombie = reading(1, 0);
        (zombie.state, zombie.file) = (ProcessState::Zombie, Bytes::ZERO);
        let dying = tick(1.0, vec![], vec![reading(0, 10), zombie]);
        assert_eq!(observer.observe(&dying), None);
        let events = vec![Event::Exited(ProcessIndex(1))];
        assert_eq!(
            observer.observe(&tick(2.0, events, vec![reading(0, 10)])),
            None
        );
        assert_eq!(observer.observe(&tick(3.0, vec![], vec![])), None);
    }

    #[test]
    fn marks_are_delivered_once_and_never_lost() {
        let mut observer = Observer::new();
        assert_eq!(
            observer.observe(&tick(0.0, vec![evaluation()], vec![])),
            None
        );
        let events = vec![appeared(0, Role::Trainer)];
        let seen = observer.observe(&tick(1.0, events, vec![reading(0, 500)]));
        assert_eq!(seen.unwrap().marks, [MarkKind::Phase(Phase::Eval)]);
        let seen = observer.observe(&tick(2.0, vec![], vec![reading(0, 500)]));
        assert_eq!(seen.unwrap().marks, []);
    }

    fn read(mut reading: ProcessReading, own: u64) -> ProcessReading {
        reading.pss = Some(PssReading {
            at: Seconds(0.0),
            pss: Bytes(own),
            anon: Bytes(own),
            file: Bytes::ZERO,
            shmem: Bytes::ZERO,
            private: Bytes(own),
            swap: Bytes::ZERO,
            lazy_free: Bytes::ZERO,
            hugetlb: Bytes(0),
            base: reading.fast(),
        });
        reading
    }

    /// A trainer, and a worker that it forked long ago.
    fn joined(t: f64, events: Vec<Event>, worker_is_read: bool) -> Tick {
        let worker = ProcessReading {
            inherited: Bytes(500),
            ..reading(1, 500)
        };
        let worker = if worker_is_read {
            read(worker, 400)
        } else {
            worker
        };
        tick(t, events, vec![reading(0, 100), worker])
    }

    #[test]
    fn a_run_that_was_joined_counts_when_it_is_known_what_its_workers_share() {
        let mut observer = Observer::new();
        let both = || {
            vec![
                appeared(0, Role::Trainer),
                appeared(1, Role::DataloaderWorker),
            ]
        };
        assert_eq!(observer.observe(&joined(0.0, both(), false)), None);
        assert_eq!(observer.observe(&joined(1.0, Vec::new(), false)), None);
        let known = observer.observe(&joined(2.0, Vec::new(), true));
        assert_eq!(known.map(|it| it.memory), Some(Bytes(500)));

        // Who comes later is estimated until he is read, and the run goes on meanwhile.
        let young = ProcessReading {
            inherited: Bytes(90),
            ..reading(2, 90)
        };
        let mut later = joined(3.0, vec![appeared(2, Role::DataloaderWorker)], true);
        later.sample.processes.push(young);
        assert!(observer.observe(&later).is_some());

        // Where it can never be known, the wait has an end.
        let mut strange = Observer::new();
        assert_eq!(strange.observe(&joined(0.0, both(), false)), None);
        assert!(strange.observe(&joined(11.0, Vec::new(), false)).is_some());
    }
}
