//! Memory that native code keeps: no tensor counts it.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::loading::loader_workers;
use super::{Entry, LEAK_STEPS, USUAL_RATE};
use crate::memory::Ballast;
use crate::pattern::{Knob, Knobs, Pattern, PatternError, StepDone, Truth};
use crate::workers::fork::Worker;

pub(super) const NATIVE_LEAK: Entry = Entry {
    name: "native-leak",
    summary: "1 MiB (--rate) of touched pages stays at each step after --onset; tensors stay constant; --workers idle beside it",
    says: "leak of 1 MiB a step since the start, in the trainer's anonymous memory; native growth",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Onset, Knob::Workers],
    needs_checkpoints: false,
    truth: |knobs, _| leak(knobs, USUAL_RATE, 0),
    make: |knobs, _| {
        Box::new(AmongWorkers {
            leak: Leak::new(knobs.rate_or(USUAL_RATE), knobs.onset_or(0)),
            count: knobs.workers.unwrap_or(0),
            workers: Vec::new(),
        })
    },
};

pub(super) const LATE_LEAK: Entry = Entry {
    name: "late-leak",
    summary: "level until step 150 (--onset), then 1 MiB (--rate) stays at each step",
    says: "level at first, then a leak of 1 MiB a step since about step 150; native growth",
    steps: LATE_ONSET + LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Onset],
    needs_checkpoints: false,
    truth: |knobs, _| leak(knobs, USUAL_RATE, LATE_ONSET),
    make: |knobs, _| {
        let onset = knobs.onset_or(LATE_ONSET);
        Box::new(Leak::new(knobs.rate_or(USUAL_RATE), onset))
    },
};

pub(super) const SLOW_LEAK: Entry = Entry {
    name: "slow-leak",
    summary: "128 KiB (--rate) stay at each step after --onset, under noise of 2 MiB up and down",
    says: "a leak of 128 KiB a step since the start, once the noise allows it; native growth",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Onset],
    needs_checkpoints: false,
    truth: |knobs, _| leak(knobs, SLOW_RATE, 0),
    make: |knobs, schedule| {
        Box::new(SlowLeak {
            leak: Leak::new(knobs.rate_or(SLOW_RATE), knobs.onset_or(0)),
            noise: Ballast::default(),
            random: ChaCha8Rng::seed_from_u64(schedule.seed),
        })
    },
};

/// The step after which the late leak begins.
const LATE_ONSET: u64 = 150;
/// 50 MiB over the run: enough to matter, too little to see in a single step.
const SLOW_RATE: u64 = 128 << 10;
/// Noise moves between nothing and this: 2 MiB up and down around its middle.
const NOISE: u64 = 4 << 20;

fn leak(knobs: &Knobs, rate: u64, onset: u64) -> Truth {
    Truth::leak(knobs.onset_or(onset), knobs.rate_or(rate)).with(&["native-growth"])
}

#[derive(Debug)]
struct Leak {
    rate: u64,
    onset: u64,
    leaked: u64,
    kept: Ballast,
}

impl Leak {
    fn new(rate: u64, onset: u64) -> Leak {
        Leak {
            rate,
            onset,
            leaked: 0,
            kept: Ballast::default(),
        }
    }
}

impl Pattern for Leak {
    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        if done.step > self.onset {
            self.leaked = self.leaked.saturating_add(self.rate);
        }
        self.kept.hold(self.leaked)
    }
}

/// The trainer leaks, and loader workers that do nothing stand around it.
#[derive(Debug)]
struct AmongWorkers {
    leak: Leak,
    count: u32,
    workers: Vec<Worker>,
}

impl Pattern for AmongWorkers {
    fn begin(&mut self) -> Result<(), PatternError> {
        self.workers = loader_workers(self.count)?;
        Ok(())
    }

    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        self.leak.step(done)
    }
}

#[derive(Debug)]
struct SlowLeak {
    leak: Leak,
    noise: Ballast,
    random: ChaCha8Rng,
}

impl Pattern for SlowLeak {
    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        self.noise.hold(0)?;
        self.noise.hold(self.random.next_u64() % NOISE)?;
        self.leak.step(done)
    }
}
