//! A pool of buffers, one for each shape of batch: it grows until every shape has come once.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::{Entry, HEALTHY_STEPS};
use crate::memory::Pages;
use crate::pattern::{Knob, Knobs, Pattern, PatternError, Schedule, StepDone, Truth};

pub(super) const POOL_WARMUP: Entry = Entry {
    name: "pool-warmup",
    summary: "buffers of 64 shapes are pooled: 120 MiB (--size) fill up by step 90 (--onset), then are reused",
    says: "warming up, ever more slowly, then level since about step 90",
    steps: HEALTHY_STEPS,
    takes: &[Knob::Size, Knob::Onset],
    needs_checkpoints: false,
    truth: |knobs, _| Truth::level(knobs.onset_or(FULL_BY)),
    make: |knobs, schedule| Box::new(Pool::new(knobs, schedule)),
};

/// Shapes that batches can have.
const SHAPES: u64 = 64;
/// The step by which all have come.
const FULL_BY: u64 = 90;
/// What the full pool holds.
const FULL: u64 = 120 << 20;
/// Random draws until the last of n shapes has come: n · (ln n + 0.58) on average, for 64 of them.
const DRAWS_TO_SEE_ALL: u64 = 300;

#[derive(Debug)]
struct Pool {
    /// Bytes of the smallest shape; the others are multiples of it.
    smallest: u64,
    full_by: u64,
    seen: u64,
    buffers: BTreeMap<u64, Pages>,
    random: ChaCha8Rng,
}

impl Pool {
    fn new(knobs: &Knobs, schedule: &Schedule) -> Pool {
        let of_all_shapes = SHAPES * (SHAPES + 1) / 2;
        Pool {
            smallest: knobs.size_or(FULL) / of_all_shapes,
            full_by: knobs.onset_or(FULL_BY).max(1),
            seen: 0,
            buffers: BTreeMap::new(),
            random: ChaCha8Rng::seed_from_u64(schedule.seed),
        }
    }

    /// Writes a batch of this shape into its buffer, which is made if there is none.
    fn use_buffer(&mut self, shape: u64) -> Result<(), PatternError> {
        if let Some(buffer) = self.buffers.get_mut(&shape) {
            buffer.rewrite(0, u64::MAX);
            return Ok(());
        }
        let buffer = Pages::touched(self.smallest.saturating_mul(shape))?;
        self.buffers.insert(shape, buffer);
        Ok(())
    }

    /// The shapes of this step's batches: random ones, and in the end those that never came.
    fn shapes(&mut self) -> Vec<u64> {
        if self.seen == self.full_by {
            return (1..=SHAPES).collect();
        }
        let draws = DRAWS_TO_SEE_ALL.div_ceil(self.full_by);
        let draw = |random: &mut ChaCha8Rng| 1 + random.next_u64() % SHAPES;
        (0..draws).map(|_| draw(&mut self.random)).collect()
    }
}

impl Pattern for Pool {
    fn step(&mut self, _done: &StepDone<'_>) -> Result<(), PatternError> {
        self.seen += 1;
        for shape in self.shapes() {
            self.use_buffer(shape)?;
        }
        Ok(())
    }
}
