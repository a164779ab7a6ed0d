//! A made-up run: who takes part, and how much each holds at each step.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use leveloff_classifier::run_analysis::RunAnalysis;
use leveloff_dashboard::dashboard::Dashboard;
use leveloff_dashboard::event::{Event, Mode, SourceEvent, Subject};
use leveloff_model::allocation::{
    AllocationReading, AllocationSite, BlockKind, SiteId, SiteReading, StackFrame,
};
use leveloff_model::process::{
    Pid, ProcessIndex, ProcessInfo, ProcessKey, ProcessState, Rank, Role, StartTicks,
};
use leveloff_model::progress::{Mark, MarkKind, Phase, Progress, StepSource};
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::{
    Ceiling, CeilingKind, Event as Happened, FastCounters, Gap, MachineReading, OwnCost,
    ProcessReading, PssReading, Sample, Subject as GapSubject, Tick,
};
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use leveloff_model::units::{Bytes, CpuMillis, Limit, Seconds, Step};

pub const MIB: f64 = 1048576.0;

/// One process: what it holds at a step, and what it shares with others, both in MiB.
pub struct SimulatedProcess {
    pub role: Role,
    pub pid: i32,
    pub rank: Option<u32>,
    pub command: &'static str,
    pub holds: Box<dyn Fn(f64) -> f64>,
    pub shares: f64,
    /// What it had from its parent when it was forked, in MiB: all that is known before PSS is read.
    pub inherits: f64,
    pub is_alive: bool,
    /// Whether its PSS could be read.
    pub is_read: bool,
}

/// How the run goes.
pub struct SimulatedRun {
    pub dashboard: Dashboard,
    /// The analysis of the same ticks, to compare the screen with.
    pub analysis: RunAnalysis,
    pub processes: Vec<SimulatedProcess>,
    pub tells_steps: bool,
    /// Where the steps come from.
    pub step_source: Option<StepSource>,
    pub tensors: Option<fn(f64) -> u64>,
    /// What malloc has in use and has kept, in MiB.
    pub malloc: Option<fn(f64) -> (f64, f64)>,
    pub limit_gib: Option<f64>,
    /// A line of the trainer keeps this much at a step, in MiB, as `--blame` would show it.
    pub line_keeps: Option<fn(f64) -> f64>,
    /// Steps between evaluations.
    pub evaluates_every: Option<u64>,
    pub seconds_a_step: f64,
    /// Seconds between the beginning of a step and its sample.
    pub delay: f64,
    ticks: u64,
}

impl SimulatedProcess {
    pub fn new(role: Role, pid: i32, holds: impl Fn(f64) -> f64 + 'static) -> SimulatedProcess {
        SimulatedProcess {
            role,
            pid,
            rank: None,
            command: command_of(role),
            holds: Box::new(holds),
            shares: 0.0,
            inherits: 0.0,
            is_alive: true,
            is_read: true,
        }
    }

    pub fn sharing(self, shares: f64) -> SimulatedProcess {
        SimulatedProcess {
            shares,
            inherits: shares,
            ..self
        }
    }

    pub fn of_rank(self, rank: u32) -> SimulatedProcess {
        SimulatedProcess {
            rank: Some(rank),
            ..self
        }
    }

    fn info(&self, index: usize) -> ProcessInfo {
        ProcessInfo {
            index: ProcessIndex(index as u32),
            key: ProcessKey {
                pid: Pid(self.pid),
                start: StartTicks(7),
            },
            parent: Pid(22100),
            role: self.role,
            unknown_role: None,
            rank: self.rank.map(Rank),
            comm: "python".to_owned(),
            command: self.command.split(' ').map(str::to_owned).collect(),
            why: "maps libtorch_python.so, is not a forked copy".to_owned(),
        }
    }

    fn reading(&self, index: usize, x: f64, t: f64) -> ProcessReading {
        let bytes = |mib: f64| Bytes((mib * MIB) as u64);
        let own = bytes((self.holds)(x));
        let anon = own + bytes(self.shares);
        let fast = FastCounters {
            anon,
            ..FastCounters::default()
        };
        ProcessReading {
            state: ProcessState::Sleeping,
            anon,
            file: bytes(40.0),
            inherited: bytes(self.inherits),
            threads: 12,
            fds: Some(64),
            cpu: CpuMillis((t * 900.0) as u64),
            pss: self.is_read.then_some(PssReading {
                at: Seconds(t - t % 30.0),
                pss: own,
                anon: own,
                file: Bytes::ZERO,
                shmem: Bytes::ZERO,
                private: Bytes(own.0 / 4 * 3),
                swap: Bytes::ZERO,
                lazy_free: Bytes::ZERO,
                hugetlb: Bytes(0),
                base: fast,
            }),
            ..ProcessReading::unread(ProcessIndex(index as u32))
        }
    }
}

impl SimulatedRun {
    pub fn new(processes: Vec<SimulatedProcess>) -> SimulatedRun {
        SimulatedRun::in_mode(Mode::Live, processes)
    }

    pub fn in_mode(mode: Mode, processes: Vec<SimulatedProcess>) -> SimulatedRun {
        let subject = Subject {
            title: "train.py".to_owned(),
            recording: None,
            mode,
            is_machine: mode == Mode::System,
        };
        SimulatedRun {
            dashboard: Dashboard::new(subject, &StatedFacts::default(), (80, 24)),
            analysis: match mode {
                Mode::System => RunAnalysis::of_machine(),
                _ => RunAnalysis::default(),
            },
            processes,
            tells_steps: true,
            step_source: None,
            tensors: None,
            malloc: None,
            limit_gib: None,
            evaluates_every: None,
            seconds_a_step: 5.4,
            delay: 0.0,
            line_keeps: None,
            ticks: 0,
        }
    }

    /// With a limit that the user stated.
    pub fn limited(mut self, gib: f64) -> SimulatedRun {
        let limit = Bytes((gib * 1024.0 * MIB) as u64);
        let stated = StatedFacts {
            limit: Some(Limit::Size(limit)),
            ..StatedFacts::default()
        };
        let subject = self.dashboard.subject.clone();
        self.dashboard = Dashboard::new(subject, &stated, (80, 24));
        self.limit_gib = Some(gib);
        self
    }

    /// Plays these steps.
    pub fn play(&mut self, steps: impl IntoIterator<Item = u64>) {
        for step in steps {
            let events = self.events(step);
            let tick = self.tick(step, events);
            self.send(tick);
        }
        self.dashboard.settle();
    }

    fn send(&mut self, tick: Tick) {
        self.analysis.take(&tick);
        self.dashboard.on(Event::Tick(Box::new(tick)));
        self.ticks += 1;
    }

    /// This process exits between two ticks.
    pub fn exit(&mut self, n: usize, step: u64) {
        self.processes[n].is_alive = false;
        let tick = self.tick(step, vec![Happened::Exited(ProcessIndex(n as u32))]);
        self.send(tick);
    }

    /// No more ticks come.
    pub fn ended(&mut self) {
        self.analysis.end();
        let news = SourceEvent::Ended("the run ended".to_owned());
        self.dashboard.on(Event::Source(news));
        self.dashboard.settle();
    }

    /// All processes end, one tick after this step.
    pub fn end(&mut self, step: u64) {
        let gone = (0..self.processes.len()).map(|n| Happened::Exited(ProcessIndex(n as u32)));
        let mut tick = self.tick(step, gone.collect());
        tick.sample.processes.clear();
        self.send(tick);
        self.dashboard.settle();
    }

    /// Something that could not be measured, at the next step.
    pub fn gap(&mut self, step: u64, subject: GapSubject, text: &str) {
        let gap = Gap {
            subject,
            process: None,
            text: text.to_owned(),
        };
        let tick = self.tick(step, vec![Happened::Gap(gap)]);
        self.send(tick);
        self.dashboard.settle();
    }

    /// Presses keys, one for each character.
    pub fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            self.key(match key {
                '\n' => KeyCode::Enter,
                key => KeyCode::Char(key),
            });
        }
    }

    pub fn key(&mut self, code: KeyCode) {
        let event = KeyEvent::new(code, KeyModifiers::NONE);
        self.dashboard.on(Event::Key(event));
    }

    fn events(&self, step: u64) -> Vec<Happened> {
        let mut events = Vec::new();
        if self.ticks == 0 {
            let all = self.processes.iter().enumerate();
            events.extend(all.map(|(n, process)| Happened::Appeared(process.info(n))));
        }
        if self
            .evaluates_every
            .is_some_and(|every| step.is_multiple_of(every))
        {
            events.push(Happened::Mark(Mark {
                t: Seconds(step as f64 * self.seconds_a_step),
                process: None,
                step: Some(Step(step)),
                kind: MarkKind::Phase(Phase::Eval),
                path: None,
                malloc_used: None,
                facts: Default::default(),
            }));
        }
        events.extend(self.line_keeps.into_iter().flat_map(|keeps| {
            let site = (self.ticks == 0).then(|| Happened::Site(self.site()));
            site.into_iter().chain([self.allocations(step, keeps)])
        }));
        events
    }

    fn site(&self) -> AllocationSite {
        AllocationSite {
            id: SiteId(0),
            pid: Pid(self.processes[0].pid),
            kind: BlockKind::Heap,
            stack: vec![StackFrame {
                function: "train".to_owned(),
                file: Some("train.py".to_owned()),
                line: Some(88),
                is_python: true,
            }],
            source: Some("outputs.append(y.detach())".to_owned()),
        }
    }

    fn allocations(&self, step: u64, keeps: fn(f64) -> f64) -> Happened {
        let live = Bytes((keeps(step as f64) * MIB) as u64);
        let blocks = live.0 >> 19;
        Happened::Allocations(AllocationReading {
            t: Seconds(step as f64 * self.seconds_a_step),
            live,
            missed: None,
            sites: vec![SiteReading {
                site: SiteId(0),
                live,
                blocks,
                error: Bytes(((blocks as f64).sqrt() * 524_288.0) as u64),
                freed: 0,
            }],
        })
    }

    fn inside(&self, x: f64) -> TrainingCounters {
        let malloc = self.malloc.map(|malloc| malloc(x));
        let bytes = |mib: f64| (mib * MIB) as u64;
        TrainingCounters::default()
            .with(
                TrainingCounter::Tensors,
                self.tensors.map(|tensors| tensors(x)),
            )
            .with(
                TrainingCounter::MallocUsed,
                malloc.map(|(used, _)| bytes(used)),
            )
            .with(
                TrainingCounter::MallocFree,
                malloc.map(|(_, free)| bytes(free)),
            )
    }

    fn tick(&self, step: u64, events: Vec<Happened>) -> Tick {
        let x = step as f64;
        let t = x * self.seconds_a_step + self.delay;
        let readings = self.processes.iter().enumerate();
        let processes: Vec<ProcessReading> = readings
            .filter(|(_, process)| process.is_alive)
            .map(|(n, process)| process.reading(n, x, t))
            .collect();
        Tick {
            events,
            sample: Sample {
                t: Seconds(t),
                progress: Progress {
                    step: self.tells_steps.then_some(Step(step)),
                    planned_steps: self.tells_steps.then_some(Step(1000)),
                    source: self.step_source.clone(),
                    counters: self.inside(x),
                    ..Progress::default()
                },
                ceiling: self.limit_gib.map(|gib| Ceiling {
                    kind: CeilingKind::Stated,
                    limit: Bytes((gib * 1024.0 * MIB) as u64),
                    used: processes.iter().map(ProcessReading::memory).sum(),
                }),
                processes,
                mappings: None,
                machine: MachineReading {
                    total: Some(Bytes(64 << 30)),
                    available: Some(Bytes(37 << 30)),
                    ..MachineReading::default()
                },
                cgroup: None,
                cost: OwnCost {
                    cpu: CpuMillis((t * 0.4) as u64),
                    rss: Bytes(9 << 20),
                    tick_us: 300,
                },
            },
        }
    }
}

/// Something like noise, the same each time, between -1 and 1.
pub fn noise(x: f64) -> f64 {
    let scattered = (x * 12.9898).sin() * 43_758.547;
    2.0 * (scattered - scattered.floor()) - 1.0
}

fn command_of(role: Role) -> &'static str {
    match role {
        Role::Launcher => "torchrun --nproc-per-node 4 train.py",
        Role::CompileWorker => "python -c torch._inductor.compile_worker --parent=22180",
        _ => "python train.py --config configs/qwen-vl-3b.yaml --epochs 3",
    }
}
