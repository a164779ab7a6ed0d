//! Runs that are observed and judged, for the tests of whole reports.

use std::ops::RangeInclusive;

use leveloff_classifier::observation::{Observation, ProcessShare, XUnit};
use leveloff_classifier::run_analysis::RunAnalysis;
use leveloff_model::process::{Pid, ProcessIndex, Role};
use leveloff_model::progress::MarkKind;
use leveloff_model::recording::StatedFacts;
use leveloff_model::training_counters::{GrownTensors, TrainingCounter, TrainingCounters};
use leveloff_model::units::{Bytes, Limit, Seconds};

use crate::run_report::{BackgroundCheck, ReportContext, RunReport};

pub use leveloff_text::cases::*;

/// A run that is really observed and judged, for the tests of whole reports.
#[derive(Default)]
pub struct Run {
    roles: Vec<Role>,
    events: Vec<(u32, String)>,
    limit: Option<Bytes>,
    has_everything: bool,
    counts: Option<fn(u32) -> TrainingCounters>,
    grown: Vec<GrownTensors>,
    analysis: Option<RunAnalysis>,
}

impl Run {
    /// With so many processes of a role, which share the run's memory evenly.
    pub fn role(mut self, role: Role, many: usize) -> Run {
        self.roles.extend(std::iter::repeat_n(role, many));
        self
    }

    /// With something that the training says at a step.
    pub fn event(mut self, step: u32, name: &str) -> Run {
        self.events.push((step, name.to_owned()));
        self
    }

    /// With a stated limit.
    pub fn limit(mut self, bytes: f64) -> Run {
        self.limit = Some(Bytes(bytes as u64));
        self
    }

    /// With all that a training counts inside, GPU, /dev/shm, swap and descriptors.
    pub fn with_everything(mut self) -> Run {
        self.has_everything = true;
        self
    }

    /// With what the training counts inside at each step.
    pub fn counts(mut self, counts: fn(u32) -> TrainingCounters) -> Run {
        self.counts = Some(counts);
        self
    }

    /// With tensors of this name that became more.
    pub fn grown(mut self, what: &str, more: u64, more_bytes: u64) -> Run {
        self.grown.push(GrownTensors {
            what: what.to_owned(),
            more,
            more_bytes: Bytes(more_bytes),
        });
        self
    }

    /// Takes these steps, a second each, with so much memory at each.
    pub fn steps(mut self, steps: RangeInclusive<u32>, memory: impl Fn(u32) -> f64) -> Run {
        let stated = self.stated();
        let mut analysis = RunAnalysis::new(XUnit::Step, &stated);
        for step in steps {
            analysis.observe(&self.observation(step, memory(step)));
        }
        self.analysis = Some(analysis);
        self
    }

    /// The report.
    pub fn report(self) -> RunReport {
        let about = ReportContext {
            input: "run.jsonl".to_owned(),
            format: "leveloff recording".to_owned(),
            tool: "0.0.0".to_owned(),
            stated: self.stated(),
            notes: Vec::new(),
            progress: None,
            header: None,
            end: None,
        };
        let analysis = self
            .analysis
            .expect("a run takes steps before it is reported");
        finished(analysis, about)
    }

    fn stated(&self) -> StatedFacts {
        StatedFacts {
            limit: self.limit.map(Limit::Size),
            ..StatedFacts::default()
        }
    }

    fn observation(&self, step: u32, memory: f64) -> Observation {
        let memory = Bytes(memory as u64);
        let share = Bytes(memory.0 / self.roles.len().max(1) as u64);
        let beside = |part: u64| self.has_everything.then_some(Bytes(memory.0 / part));
        let said = self.events.iter().filter(|(at, _)| *at == step);
        let roles = self.roles.iter().zip(0..);
        Observation {
            count: Some(f64::from(step)),
            t: Some(Seconds(f64::from(step))),
            memory,
            rss_sum: (!self.roles.is_empty()).then_some(Bytes(3 * memory.0)),
            processes: roles.map(|(role, i)| self.share(*role, i, share)).collect(),
            devshm: beside(7),
            gpu_bytes: beside(2),
            counters: match self.counts {
                Some(counts) => counts(step),
                None => self.everything_inside(memory),
            },
            grown: self.grown.clone(),
            marks: said
                .map(|(_, name)| MarkKind::Event(name.clone()))
                .collect(),
            ..Observation::default()
        }
    }

    fn everything_inside(&self, memory: Bytes) -> TrainingCounters {
        let all = TrainingCounter::ALL
            .into_iter()
            .filter(|_| self.has_everything);
        all.fold(TrainingCounters::default(), |inside, fact| {
            inside.with(fact, memory.0 / (fact as u64 + 3))
        })
    }

    fn share(&self, role: Role, index: u32, memory: Bytes) -> ProcessShare {
        let part = |of: u64| {
            Bytes(if self.has_everything {
                memory.0 / of
            } else {
                0
            })
        };
        ProcessShare {
            index: ProcessIndex(index),
            pid: Pid(1000 + index as i32),
            role,
            rank: None,
            memory,
            shared: part(5),
            swapped: part(6),
            rss: Bytes(3 * memory.0),
            private: None,
            gpu: None,
            cpu: None,
            fds: self.has_everything.then_some(memory.0 as u32 % 5000 + 1),
            is_read: true,
            estimated: Bytes::ZERO,
        }
    }
}

/// What the host held at steps 10, 20, … 80 of the story, in MB, and how it went on.
const STORY: [f64; 20] = [
    5552.0, 7159.0, 8851.0, 10375.0, 12000.0, 13757.0, 15559.0, 17412.0, 17650.0, 17380.0, 17210.0,
    17460.0, 17290.0, 17520.0, 17330.0, 17480.0, 17190.0, 17440.0, 17270.0, 17390.0,
];

/// The story up to its end, or as far as the team had come, on a machine with 32 GB.
pub fn story_report(points: usize) -> RunReport {
    let at = |(i, mb): (usize, f64)| Observation {
        count: Some(10.0 * (i + 1) as f64),
        t: Some(Seconds(94.0 * (i + 1) as f64)),
        memory: Bytes((mb * 1e6) as u64),
        counters: TrainingCounters::default().with(TrainingCounter::Tensors, 6529),
        ..Observation::default()
    };
    report(STORY.into_iter().take(points).enumerate().map(at))
}

/// A report of a run like this.
pub fn report(run: impl Iterator<Item = Observation>) -> RunReport {
    let stated = StatedFacts {
        limit: Some(Limit::Size(Bytes(32_000_000_000))),
        ..StatedFacts::default()
    };
    let mut analysis = RunAnalysis::new(XUnit::Step, &stated);
    for observation in run {
        analysis.observe(&observation);
    }
    let about = ReportContext {
        input: "run.csv".to_owned(),
        format: "table".to_owned(),
        tool: "1.2.3".to_owned(),
        stated,
        notes: Vec::new(),
        progress: None,
        header: None,
        end: None,
    };
    finished(analysis, about)
}

/// The report of a run that was read to its end.
pub fn finished(mut analysis: RunAnalysis, about: ReportContext) -> RunReport {
    analysis.end();
    let run = analysis.finish().expect("a run with samples");
    RunReport::new(run, BackgroundCheck::default(), about).expect("a run has a verdict")
}
