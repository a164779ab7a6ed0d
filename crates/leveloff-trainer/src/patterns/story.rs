//! The reference warmup: a fine-tune that looked like a leak for eighty steps and was none.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::{Entry, HEALTHY_STEPS};
use crate::memory::Ballast;
use crate::memory::own::{Counted, memory};
use crate::pattern::{Knob, Knobs, Pattern, PatternError, Schedule, StepDone, Truth};

pub(super) const STORY: Entry = Entry {
    name: "story",
    summary: "the reference warmup at 1/100: 55 MB at step 10, 174 MB at step 80, level from step 90; --size is the level",
    says: "warming up until about step 130, then level at 177 MB since step 90; not tensors",
    steps: HEALTHY_STEPS,
    takes: &[Knob::Size, Knob::Onset],
    needs_checkpoints: false,
    truth: |knobs, _| Truth::level(knobs.onset_or(LEVEL_FROM)),
    make: |knobs, schedule| Box::new(Story::new(knobs, schedule)),
};

/// Memory of the whole process, in MB, at every tenth step; the first is where the line through the
/// others begins.
const CURVE: [f64; 10] = [
    39.45, 55.52, 71.59, 88.51, 103.75, 120.00, 137.57, 155.59, 174.12, 177.00,
];
/// Steps from one point of the curve to the next.
const APART: f64 = 10.0;
/// The step from which it is level.
const LEVEL_FROM: u64 = 90;
/// The level, in bytes.
const LEVEL: u64 = 177_000_000;
/// A plateau is never quite still: it moves by this share of the level, up and down.
const RESTLESS: f64 = 0.002;

#[derive(Debug)]
struct Story {
    level: f64,
    level_from: u64,
    seen: u64,
    /// What the training itself takes, known after its first step.
    own: Option<u64>,
    fill: Ballast,
    random: ChaCha8Rng,
}

impl Story {
    fn new(knobs: &Knobs, schedule: &Schedule) -> Story {
        Story {
            level: knobs.size_or(LEVEL) as f64,
            level_from: knobs.onset_or(LEVEL_FROM),
            seen: 0,
            own: None,
            fill: Ballast::default(),
            random: ChaCha8Rng::seed_from_u64(schedule.seed),
        }
    }

    /// What the whole process is to have after so many steps.
    fn total(&mut self) -> f64 {
        if self.seen < self.level_from {
            let of_the_curve = self.seen as f64 / self.level_from as f64;
            return self.level * share_of_level(of_the_curve * LEVEL_FROM as f64);
        }
        let up_or_down = f64::from(self.random.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0;
        self.level * (1.0 + RESTLESS * up_or_down)
    }
}

impl Pattern for Story {
    fn step(&mut self, _done: &StepDone<'_>) -> Result<(), PatternError> {
        self.seen += 1;
        let own = match self.own {
            Some(own) => own,
            None => *self.own.insert(memory(Counted::Resident)?),
        };
        let total = self.total() as u64;
        self.fill.hold(total.saturating_sub(own))
    }
}

/// How much of its level the reference had at a step below [`LEVEL_FROM`].
fn share_of_level(step: f64) -> f64 {
    let place = step / APART;
    let before = (place as usize).min(CURVE.len() - 2);
    let between = place - before as f64;
    let megabytes = CURVE[before] + (CURVE[before + 1] - CURVE[before]) * between;
    megabytes * 1e6 / LEVEL as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_goes_through_the_reported_numbers() {
        let at = |step: f64| share_of_level(step) * LEVEL as f64 / 1e6;
        for (step, megabytes) in [(10.0, 55.52), (50.0, 120.0), (80.0, 174.12), (90.0, 177.0)] {
            assert!((at(step) - megabytes).abs() < 1e-9, "step {step}");
        }
        assert!((at(15.0) - 63.555).abs() < 1e-9);
    }
}
