//! Memory that is taken and given back: garbage, spikes, and a run that needs less and less.

use super::{Entry, HEALTHY_STEPS};
use crate::memory::Ballast;
use crate::pattern::{Knob, Knobs, Pattern, PatternError, Schedule, StepDone, Truth};

pub(super) const GC_SAWTOOTH: Entry = Entry {
    name: "gc-sawtooth",
    summary: "garbage piles up to 40 MiB (--size) over 40 steps, then is collected, again and again",
    says: "level: a sawtooth whose lower edge does not grow",
    steps: HEALTHY_STEPS,
    takes: &[Knob::Size],
    needs_checkpoints: false,
    truth: |_, _| Truth::level(0),
    make: |knobs, _| {
        Box::new(Garbage {
            height: knobs.size_or(40 << 20),
            seen: 0,
            garbage: Ballast::default(),
        })
    },
};

pub(super) const EVAL_SPIKES: Entry = Entry {
    name: "eval-spikes",
    summary: "each evaluation takes 64 MiB (--size) more and gives them back",
    says: "level; evaluations spike and return",
    steps: HEALTHY_STEPS,
    takes: &[Knob::Size],
    needs_checkpoints: false,
    truth: |_, _| Truth::level(0),
    make: |knobs, _| {
        Box::new(Spikes {
            height: knobs.size_or(64 << 20),
            spike: Ballast::default(),
        })
    },
};

pub(super) const SHRINKING: Entry = Entry {
    name: "shrinking",
    summary: "begins with 160 MiB (--size) and frees them from --onset on, spread over the run or by --rate",
    says: "level: memory falls",
    steps: HEALTHY_STEPS,
    takes: &[Knob::Rate, Knob::Size, Knob::Onset],
    needs_checkpoints: false,
    truth: |_, _| Truth::level(0),
    make: |knobs, schedule| Box::new(Shrinking::new(knobs, schedule)),
};

/// Steps from one collection to the next.
const COLLECTED_EVERY: u64 = 40;

#[derive(Debug)]
struct Garbage {
    height: u64,
    seen: u64,
    garbage: Ballast,
}

impl Pattern for Garbage {
    fn step(&mut self, _done: &StepDone<'_>) -> Result<(), PatternError> {
        self.seen += 1;
        let piled_up = (self.seen % COLLECTED_EVERY) as f64 / COLLECTED_EVERY as f64;
        self.garbage.hold((self.height as f64 * piled_up) as u64)
    }
}

#[derive(Debug)]
struct Spikes {
    height: u64,
    spike: Ballast,
}

impl Pattern for Spikes {
    fn evaluating(&mut self, _step: u64) -> Result<(), PatternError> {
        self.spike.hold(self.height)
    }

    fn evaluated(&mut self, _step: u64) -> Result<(), PatternError> {
        self.spike.hold(0)
    }
}

#[derive(Debug)]
struct Shrinking {
    onset: u64,
    rate: u64,
    left: u64,
    ballast: Ballast,
}

impl Shrinking {
    fn new(knobs: &Knobs, schedule: &Schedule) -> Shrinking {
        let onset = knobs.onset_or(0);
        let left = knobs.size_or(160 << 20);
        let steps = schedule.steps.saturating_sub(onset).max(1);
        Shrinking {
            onset,
            rate: knobs.rate_or(left / steps),
            left,
            ballast: Ballast::default(),
        }
    }
}

impl Pattern for Shrinking {
    fn begin(&mut self) -> Result<(), PatternError> {
        self.ballast.hold(self.left)
    }

    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        if done.step > self.onset {
            self.left = self.left.saturating_sub(self.rate);
        }
        self.ballast.hold(self.left)
    }
}
