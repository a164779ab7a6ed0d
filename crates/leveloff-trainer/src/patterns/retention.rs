//! Memory that was freed and is not returned: holes in the heap that nothing fits into again.

use super::{Entry, LEAK_STEPS, USUAL_RATE};
use crate::pattern::{Knob, Knobs, Pattern, PatternError, Schedule, StepDone, Truth};

pub(super) const RETENTION: Entry = Entry {
    name: "retention",
    summary: "small blocks are freed but for a few bytes each: 1 MiB (--rate) a step that only malloc_trim returns",
    says: "leak of 1 MiB a step in the trainer; native growth, or the allocator does not return it",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Onset],
    needs_checkpoints: false,
    // Marks tell the tensors alone, and those are constant. That the memory is free inside the
    // allocator is not to be seen from outside.
    truth: |knobs, _| {
        let (onset, rate) = (knobs.onset_or(0), knobs.rate_or(USUAL_RATE));
        Truth::leak(onset, rate).with(&["native-growth"])
    },
    make: |knobs, schedule| Box::new(Retention::new(knobs, schedule)),
};

/// The first blocks: large enough that nearly all of their pages can be returned.
const FIRST_BLOCK: usize = 64 << 10;
/// The last ones stay below 128 KiB, from where glibc maps a block by itself and returns it at once.
/// After 3,500 steps they begin anew, and find the first holes.
const LAST_BLOCK: usize = 120 << 10;
/// Blocks get longer each step by the allocator's grain, so that no hole of an earlier step is large
/// enough for them.
const LONGER: usize = 16;
/// What is left of each block: its beginning, which keeps the holes on both sides apart.
const SURVIVOR: usize = 16;

#[derive(Debug)]
struct Retention {
    rate: u64,
    onset: u64,
    steps: u64,
    due: u64,
    block: usize,
    survivors: Vec<Vec<u8>>,
}

impl Retention {
    fn new(knobs: &Knobs, schedule: &Schedule) -> Retention {
        Retention {
            rate: knobs.rate_or(USUAL_RATE),
            onset: knobs.onset_or(0),
            steps: schedule.steps,
            due: 0,
            block: FIRST_BLOCK,
            survivors: Vec::new(),
        }
    }

    /// Allocates blocks side by side at the end of the heap, then shrinks each where it is. What is
    /// freed of the last one joins the free end of the heap, so there is one more of them than holes.
    fn leave_holes(&mut self) {
        let block = self.block as u64;
        let count = self.due / block;
        self.due %= block;
        let blocks: Vec<Vec<u8>> = (0..=count).map(|_| vec![1; self.block]).collect();
        for mut block in blocks {
            block.truncate(SURVIVOR);
            block.shrink_to_fit();
            self.survivors.push(block);
        }
        self.block = match self.block + LONGER {
            longer if longer < LAST_BLOCK => longer,
            _ => FIRST_BLOCK,
        };
    }
}

impl Pattern for Retention {
    fn begin(&mut self) -> Result<(), PatternError> {
        // A list that grows would leave holes of its own, of many sizes.
        let expected = self.rate.saturating_mul(self.steps) / FIRST_BLOCK as u64 + self.steps;
        self.survivors.reserve(expected.min(1 << 20) as usize);
        Ok(())
    }

    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        if done.step > self.onset {
            self.due = self.due.saturating_add(self.rate);
            self.leave_holes();
        }
        Ok(())
    }
}
