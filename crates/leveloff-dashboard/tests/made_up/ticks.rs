//! Ticks of runs that never were, for the example, the benchmark and the tests of the chart.

use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, Role, StartTicks};
use leveloff_model::progress::{Mark, MarkKind, Phase, Progress};
use leveloff_model::sample::{
    Ceiling, CeilingKind, Event, MachineReading, OwnCost, ProcessReading, Sample, Tick,
};
use leveloff_model::units::{Bytes, Seconds, Step};

pub const MIB: f64 = 1048576.0;
pub const GIB: f64 = 1073741824.0;

/// A forked worker really holds this much,
const WORKER: f64 = 19.0 * MIB;
/// and shows this much, its parent's pages counted again.
const WORKER_RSS: f64 = 350.0 * MIB;

/// Makes the ticks of a run: a trainer and its workers.
#[derive(Debug, Clone, Default)]
pub struct MadeUpRun {
    /// Workers beside the trainer.
    pub workers: u32,
    /// What the machine has, in bytes.
    pub limit: Option<f64>,
    /// What happened since the last tick.
    events: Vec<Event>,
    began: bool,
}

impl MadeUpRun {
    pub fn with_workers(workers: u32) -> MadeUpRun {
        MadeUpRun {
            workers,
            ..MadeUpRun::default()
        }
    }

    pub fn with_limit(limit: f64) -> MadeUpRun {
        MadeUpRun {
            limit: Some(limit),
            ..MadeUpRun::default()
        }
    }

    /// An evaluation, a checkpoint or an epoch began; reported with the next tick.
    pub fn mark(&mut self, t: f64, step: u64, kind: MarkKind) {
        self.events.push(Event::Mark(Mark {
            t: Seconds(t),
            process: None,
            step: Some(Step(step)),
            kind,
            path: None,
            malloc_used: None,
            facts: Default::default(),
        }));
    }

    pub fn evaluation(&mut self, t: f64, step: u64) {
        self.mark(t, step, MarkKind::Phase(Phase::Eval));
    }

    /// The run's memory at a moment.
    pub fn tick(&mut self, t: f64, step: Option<u64>, memory: f64) -> Tick {
        if !std::mem::replace(&mut self.began, true) {
            self.events.insert(0, appeared(0, Role::Trainer));
            for n in 1..=self.workers {
                self.events.insert(0, appeared(n, Role::CompileWorker));
            }
        }
        let workers = (1..=self.workers).map(worker);
        let trainer = memory - f64::from(self.workers) * WORKER;
        Tick {
            events: std::mem::take(&mut self.events),
            sample: Sample {
                t: Seconds(t),
                progress: Progress {
                    step: step.map(Step),
                    ..Progress::default()
                },
                processes: std::iter::once(reading(0, trainer))
                    .chain(workers)
                    .collect(),
                mappings: None,
                machine: MachineReading::default(),
                cgroup: None,
                ceiling: self.limit.map(|limit| Ceiling {
                    kind: CeilingKind::Host,
                    limit: Bytes(limit as u64),
                    used: Bytes(memory as u64),
                }),
                cost: OwnCost::default(),
            },
        }
    }
}

fn appeared(n: u32, role: Role) -> Event {
    Event::Appeared(ProcessInfo {
        index: ProcessIndex(n),
        key: ProcessKey {
            pid: Pid(22180 + n as i32),
            start: StartTicks(1),
        },
        parent: Pid(1),
        role,
        unknown_role: None,
        rank: None,
        comm: "python".to_owned(),
        command: vec!["python".to_owned(), "train.py".to_owned()],
        why: String::new(),
    })
}

fn reading(n: u32, memory: f64) -> ProcessReading {
    ProcessReading {
        anon: Bytes(memory.max(0.0) as u64),
        ..ProcessReading::unread(ProcessIndex(n))
    }
}

fn worker(n: u32) -> ProcessReading {
    ProcessReading {
        inherited: Bytes((WORKER_RSS - WORKER) as u64),
        ..reading(n, WORKER_RSS)
    }
}
