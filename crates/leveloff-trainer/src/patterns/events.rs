//! Memory that stays at evaluations, checkpoints and epochs: a staircase.

use super::{Entry, LEAK_STEPS};
use crate::memory::Ballast;
use crate::pattern::{Knob, Pattern, PatternError, StepDone, Truth};

pub(super) const EVAL_LEAK: Entry = Entry {
    name: "eval-leak",
    summary: "20 MiB (--size) stay at each evaluation",
    says: "leak in jumps at evaluations: evaluation growth",
    steps: LEAK_STEPS,
    takes: &[Knob::Size],
    needs_checkpoints: false,
    truth: |knobs, schedule| {
        let jump = knobs.size_or(JUMP);
        Truth::leak_at_events(jump, schedule.evaluate_every).with(&["evaluation-growth"])
    },
    make: |knobs, _| Box::new(AtEvaluations(Stairs::new(knobs.size_or(JUMP)))),
};

pub(super) const CHECKPOINT_LEAK: Entry = Entry {
    name: "checkpoint-leak",
    summary: "20 MiB (--size) stay at each checkpoint; needs --checkpoint-dir",
    says: "leak in jumps at checkpoints: checkpoint growth",
    // Checkpoints are further apart than evaluations, and a staircase needs some stairs.
    steps: LEAK_STEPS + 200,
    takes: &[Knob::Size],
    needs_checkpoints: true,
    truth: |knobs, schedule| {
        let jump = knobs.size_or(JUMP);
        Truth::leak_at_events(jump, schedule.checkpoint_every).with(&["checkpoint-growth"])
    },
    make: |knobs, _| Box::new(AtCheckpoints(Stairs::new(knobs.size_or(JUMP)))),
};

pub(super) const EPOCH_LEAK: Entry = Entry {
    name: "epoch-leak",
    summary: "20 MiB (--size) stay at the end of each epoch",
    says: "leak in jumps at the end of epochs: epoch growth",
    // Epochs are further apart than evaluations.
    steps: LEAK_STEPS + 200,
    takes: &[Knob::Size],
    needs_checkpoints: false,
    truth: |knobs, schedule| {
        let jump = knobs.size_or(JUMP);
        Truth::leak_at_events(jump, schedule.epoch_steps).with(&["epoch-growth"])
    },
    make: |knobs, schedule| {
        Box::new(AtEpochs {
            stairs: Stairs::new(knobs.size_or(JUMP)),
            epoch_steps: schedule.epoch_steps,
        })
    },
};

/// What stays each time.
const JUMP: u64 = 20 << 20;

#[derive(Debug)]
struct Stairs {
    jump: u64,
    height: u64,
    kept: Ballast,
}

impl Stairs {
    fn new(jump: u64) -> Stairs {
        Stairs {
            jump,
            height: 0,
            kept: Ballast::default(),
        }
    }

    fn climb(&mut self) -> Result<(), PatternError> {
        self.height = self.height.saturating_add(self.jump);
        self.kept.hold(self.height)
    }
}

#[derive(Debug)]
struct AtEvaluations(Stairs);

impl Pattern for AtEvaluations {
    fn evaluated(&mut self, _step: u64) -> Result<(), PatternError> {
        self.0.climb()
    }
}

#[derive(Debug)]
struct AtCheckpoints(Stairs);

impl Pattern for AtCheckpoints {
    fn saved(&mut self, _step: u64) -> Result<(), PatternError> {
        self.0.climb()
    }
}

#[derive(Debug)]
struct AtEpochs {
    stairs: Stairs,
    epoch_steps: u64,
}

impl Pattern for AtEpochs {
    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        match self.epoch_steps > 0 && done.step.is_multiple_of(self.epoch_steps) {
            true => self.stairs.climb(),
            false => Ok(()),
        }
    }
}
