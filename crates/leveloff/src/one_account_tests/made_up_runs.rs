//! Runs that are made up for what they show: each has an end, a restart or a machine of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, Role, StartTicks};
use leveloff_model::progress::{Mark, MarkKind, Progress, RESTART};
use leveloff_model::recording::{End, EndReason, Header, RecordingWriter, StatedFacts, Target};
use leveloff_model::sample::{
    Event, MachineReading, OwnCost, ProcessReading, PssReading, Sample, Tick,
};
use leveloff_model::units::{Bytes, Seconds, Step};

use super::MIB;

/// A process of a made-up run: its number, its role and its memory in MiB.
type Process = (u32, Role, u64);

/// Ticks of a made-up run, one each second.
#[derive(Default)]
pub(crate) struct Ticks {
    ticks: Vec<Tick>,
    seen: Vec<u32>,
}

impl Ticks {
    fn push(&mut self, step: Option<u64>, processes: &[Process]) -> &mut Tick {
        self.push_read(step, processes, true)
    }

    /// `is_read`: whether PSS was read of the processes; before, a forked one seems to hold nothing.
    fn push_read(&mut self, step: Option<u64>, processes: &[Process], is_read: bool) -> &mut Tick {
        let t = Seconds(self.ticks.len() as f64);
        let mut events = Vec::new();
        for &(n, role, _) in processes {
            if !self.seen.contains(&n) {
                self.seen.push(n);
                events.push(Event::Appeared(info(n, role)));
            }
        }
        let gone = |n: &&u32| !processes.iter().any(|process| process.0 == **n);
        let exited: Vec<u32> = self.seen.iter().filter(gone).copied().collect();
        events.extend(exited.iter().map(|&n| Event::Exited(ProcessIndex(n))));
        self.seen.retain(|n| !exited.contains(n));
        self.ticks.push(Tick {
            events,
            sample: Sample {
                t,
                progress: Progress {
                    step: step.map(Step),
                    ..Progress::default()
                },
                processes: processes.iter().map(|it| reading(it, t, is_read)).collect(),
                mappings: None,
                machine: MachineReading::default(),
                cgroup: None,
                ceiling: None,
                cost: OwnCost::default(),
            },
        });
        self.ticks.last_mut().expect("one was pushed")
    }
}

fn info(n: u32, role: Role) -> ProcessInfo {
    ProcessInfo {
        index: ProcessIndex(n),
        key: ProcessKey {
            pid: Pid(1000 + n as i32),
            start: StartTicks(u64::from(n)),
        },
        parent: Pid(1),
        role,
        unknown_role: None,
        rank: None,
        comm: format!("p{n}"),
        command: vec![format!("process-{n}")],
        why: String::new(),
    }
}

fn reading(&(n, _, mib): &Process, t: Seconds, is_read: bool) -> ProcessReading {
    let memory = Bytes(mib * MIB);
    let unread = ProcessReading {
        anon: memory,
        inherited: if is_read { Bytes::ZERO } else { memory },
        ..ProcessReading::unread(ProcessIndex(n))
    };
    let pss = PssReading {
        at: t,
        pss: memory,
        anon: memory,
        file: Bytes::ZERO,
        shmem: Bytes::ZERO,
        private: memory,
        swap: Bytes::ZERO,
        lazy_free: Bytes::ZERO,
        hugetlb: Bytes(0),
        base: unread.fast(),
    };
    ProcessReading {
        pss: is_read.then_some(pss),
        ..unread
    }
}

/// A level run that frees 200 MiB in its last step and then exits.
pub(super) fn frees_memory_before_it_ends() -> Ticks {
    let mut run = Ticks::default();
    for step in 0..200 {
        run.push(Some(step), &[(0, Role::Trainer, 227)]);
    }
    for left in [107, 27] {
        run.push(Some(199), &[(0, Role::Trainer, left)]);
    }
    run.push(Some(199), &[]);
    run
}

/// One of two workers leaks; both exit before the trainer does.
pub(crate) fn workers_leave_first() -> Ticks {
    let mut run = Ticks::default();
    let worker = Role::DataloaderWorker;
    for step in 0..600 {
        run.push(
            Some(step),
            &[
                (0, Role::Trainer, 300),
                (1, worker, 20 + step),
                (2, worker, 20),
            ],
        );
    }
    for step in 600..603 {
        run.push(Some(step), &[(0, Role::Trainer, 310)]);
    }
    run.push(Some(602), &[]);
    run
}

/// A leak that the guard stops: the trainer saves, gives memory back and exits.
pub(super) fn guard_stop() -> Ticks {
    let mut run = Ticks::default();
    for step in 0..500 {
        run.push(Some(step), &[(0, Role::Trainer, 200 + 2 * step)]);
    }
    let tick = run.push(Some(500), &[(0, Role::Trainer, 1200)]);
    mark(tick, "guard_stop");
    mark(tick, "save");
    run.push(Some(500), &[(0, Role::Trainer, 300)]);
    run.push(Some(500), &[]);
    run
}

/// A leak that is started again, and leaks again.
pub(super) fn restart() -> Ticks {
    let mut run = Ticks::default();
    for step in 0..300 {
        run.push(Some(step), &[(0, Role::Trainer, 200 + 2 * step)]);
    }
    let tick = run.push(Some(0), &[(1, Role::Trainer, 200)]);
    mark(tick, RESTART);
    for step in 1..250 {
        run.push(Some(step), &[(1, Role::Trainer, 200 + step)]);
    }
    run.push(Some(249), &[]);
    run
}

pub(super) fn no_steps() -> Ticks {
    let mut run = Ticks::default();
    for t in 0..400 {
        run.push(None, &[(0, Role::Trainer, 400 + t), (1, Role::Helper, 10)]);
    }
    run.push(None, &[(0, Role::Trainer, 90), (1, Role::Helper, 10)]);
    run.push(None, &[]);
    run
}

/// Three idle processes of 300 MiB each, of which PSS is read in the third sample only.
pub(super) fn idle_machine() -> Ticks {
    let mut run = Ticks::default();
    let idle: Vec<Process> = (0..3).map(|n| (n, Role::Other, 300)).collect();
    for t in 0..20 {
        run.push_read(None, &idle, t >= 2);
    }
    run
}

fn mark(tick: &mut Tick, name: &str) {
    tick.events.push(Event::Mark(Mark {
        t: tick.sample.t,
        process: None,
        step: tick.sample.progress.step,
        kind: MarkKind::Event(name.to_owned()),
        path: None,
        malloc_used: None,
        facts: BTreeMap::new(),
    }));
}

/// Writes a recording and returns where it is.
pub(crate) fn record(run: &Ticks, target: Target, directory: &Path, name: &str) -> PathBuf {
    let header = Header {
        tool: "0.0.0".to_owned(),
        started_unix: 1.7e9,
        host: None,
        kernel: None,
        target,
        interval: Seconds(1.0),
        pss_budget_percent: 0.5,
        stated: StatedFacts::default(),
    };
    let path = directory.join(format!("{name}.jsonl"));
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = RecordingWriter::new(file, &header).unwrap();
    for tick in &run.ticks {
        writer.write_tick(tick).unwrap();
    }
    let end = End {
        t: Seconds(run.ticks.len() as f64),
        reason: EndReason::TargetGone,
    };
    writer.finish(&end).unwrap();
    path
}
