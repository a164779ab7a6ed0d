//! Data that is decoded once and kept: a cache grows all through the first epoch, like a leak.

use super::{Entry, HEALTHY_STEPS, LEAK_STEPS};
use crate::memory::Ballast;
use crate::pattern::{Knob, Pattern, PatternError, StepDone, Truth};

pub(super) const EPOCH_CACHE: Entry = Entry {
    name: "epoch-cache",
    summary: "every sample of the first epoch is kept, 120 MiB (--size) in all; later epochs find them",
    says: "warming up through epoch 1, then level since its end",
    steps: HEALTHY_STEPS,
    takes: &[Knob::Size],
    needs_checkpoints: false,
    truth: |_, schedule| Truth::level(schedule.epoch_steps),
    make: |knobs, schedule| {
        Box::new(Cache {
            full: knobs.size_or(FULL),
            epoch_steps: schedule.epoch_steps,
            leak: 0,
            seen: 0,
            kept: Ballast::default(),
        })
    },
};

pub(super) const EPOCH_CACHE_THEN_LEAK: Entry = Entry {
    name: "epoch-cache-then-leak",
    summary: "the cache of epoch-cache (--size), and under it a leak of 0.5 MiB a step (--rate) that goes on",
    says: "warming up through epoch 1, then a leak of 0.5 MiB a step",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Size],
    needs_checkpoints: false,
    truth: |knobs, schedule| {
        let rate = knobs.rate_or(LEAK_UNDER_CACHE);
        Truth::leak(schedule.epoch_steps, rate).with(&["native-growth"])
    },
    make: |knobs, schedule| {
        Box::new(Cache {
            full: knobs.size_or(FULL),
            epoch_steps: schedule.epoch_steps,
            leak: knobs.rate_or(LEAK_UNDER_CACHE),
            seen: 0,
            kept: Ballast::default(),
        })
    },
};

/// What the full cache holds: 1.5 MiB a step in an epoch of 80.
const FULL: u64 = 120 << 20;
/// What leaks each step while the cache hides it, and later.
const LEAK_UNDER_CACHE: u64 = 512 << 10;

#[derive(Debug)]
struct Cache {
    full: u64,
    epoch_steps: u64,
    leak: u64,
    seen: u64,
    kept: Ballast,
}

impl Pattern for Cache {
    fn step(&mut self, _done: &StepDone<'_>) -> Result<(), PatternError> {
        self.seen += 1;
        let filled = self.seen.min(self.epoch_steps) as f64 / self.epoch_steps.max(1) as f64;
        let cached = (self.full as f64 * filled) as u64;
        let leaked = self.leak.saturating_mul(self.seen);
        self.kept.hold(cached.saturating_add(leaked))
    }
}
