//! Malformed observations, and very long runs.

use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_model::process::Role;
use leveloff_model::progress::{MarkKind, Phase};
use leveloff_model::recording::StatedFacts;
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use leveloff_model::units::{Bytes, Limit, Seconds};

use crate::made_up::{moment, process};

/// A small generator of its own: the same strange run every time.
struct Strange(u64);

impl Strange {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }

    fn number(&mut self) -> f64 {
        let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, f64::MIN_POSITIVE];
        match self.next(8) {
            0 => odd[self.next(6) as usize],
            _ => self.next(1000) as f64,
        }
    }

    fn bytes(&mut self) -> Bytes {
        let odd = [0, 1, u64::MAX];
        Bytes(match self.next(10) {
            0 => odd[self.next(3) as usize],
            _ => self.next(1 << 34),
        })
    }

    fn observation(&mut self) -> Observation {
        let processes = (0..self.next(6)).map(|_| {
            let role = Role::ALL[self.next(8) as usize];
            let mut process = process(self.next(50) as u32, role, 1.0);
            process.memory = self.bytes();
            process.shared = self.bytes();
            process.rss = self.bytes();
            process.fds = (self.next(4) > 0).then(|| self.next(900) as u32);
            process
        });
        let marks = [
            MarkKind::Phase(Phase::Eval),
            MarkKind::Event("checkpoint".to_owned()),
            MarkKind::Epoch(u64::MAX),
        ];
        let processes = processes.collect();
        Observation {
            count: (self.next(5) > 0).then(|| self.number()),
            t: (self.next(5) > 0).then(|| Seconds(self.number())),
            memory: self.bytes(),
            devshm: Some(self.bytes()),
            counters: TrainingCounters::default()
                .with(TrainingCounter::Tensors, self.next(u64::MAX))
                .with(TrainingCounter::CudaReserved, self.bytes().0),
            epoch: Some(self.number()),
            epoch_length: (self.next(9) == 0).then(|| self.number()),
            planned: (self.next(9) == 0).then(|| self.number()),
            marks: marks[..self.next(4) as usize].to_vec(),
            processes,
            ..Observation::default()
        }
    }
}

#[test]
fn no_observation_makes_it_panic() {
    for seed in 1..60_u64 {
        let mut strange = Strange(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let stated = StatedFacts {
            limit: Some(Limit::Share(0.5)),
            ..StatedFacts::default()
        };
        let mut judge = RunJudge::new(XUnit::Step, &stated);
        for look in 0..400 {
            judge.observe(&strange.observation());
            if look % 20 == 0 {
                let verdict = judge.verdict();
                let sum: f64 = verdict.blame.iter().map(|part| part.share).sum();
                assert!(
                    verdict.blame.is_empty() || (sum - 1.0).abs() < 1e-6,
                    "{sum}"
                );
            }
        }
    }
}

#[test]
fn a_hundred_thousand_short_lived_processes_and_as_many_evaluations() {
    let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
    for step in 0..100_000 {
        let compiler = process(step + 10, Role::Compiler, 30.0);
        let mut observation = moment(step, vec![process(0, Role::Trainer, 500.0), compiler]);
        observation.marks = vec![MarkKind::Phase(Phase::Eval), MarkKind::Phase(Phase::Train)];
        judge.observe(&observation);
    }
    let verdict = judge.verdict();
    assert_eq!(verdict.verdict.name(), "level");
    assert_eq!(verdict.points, 100_000);
}
