//! The workers of torch.compile, which look like gigabytes and are not.

use super::{Entry, HEALTHY_STEPS};
use crate::pattern::{Knob, Pattern, PatternError, SeenIn, Truth};
use crate::workers::pool::CompilePool;

pub(super) const COMPILE_WORKERS: Entry = Entry {
    name: "compile-workers",
    summary: "a pool with 20 (--workers) idle compile workers that share 64 MiB (--size): 1.4 GiB of RSS, 0.1 GiB of memory",
    says: "level; the workers are over-counted by RSS",
    steps: HEALTHY_STEPS,
    takes: &[Knob::Size, Knob::Workers],
    needs_checkpoints: false,
    truth: |_, _| Truth {
        seen_in: SeenIn::Tree,
        ..Truth::level(0).with(&["worker-overcount"])
    },
    make: |knobs, _| {
        Box::new(CompileWorkers {
            workers: knobs.workers_or(20),
            shared: knobs.size_or(64 << 20),
            pool: None,
        })
    },
};

#[derive(Debug)]
struct CompileWorkers {
    workers: u32,
    shared: u64,
    pool: Option<CompilePool>,
}

impl Pattern for CompileWorkers {
    fn begin(&mut self) -> Result<(), PatternError> {
        self.pool = Some(CompilePool::start(self.workers, self.shared)?);
        Ok(())
    }
}
