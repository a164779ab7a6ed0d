//! Loader workers: pages that they copy, one that leaks, and ones that never end.

use std::io;

use super::{Entry, LEAK_STEPS, USUAL_RATE};
use crate::memory::{Due, Pages};
use crate::pattern::{Knob, Knobs, Pattern, PatternError, StepDone, Truth};
use crate::workers::fork::{Duty, Worker};
use crate::workers::loader::Loader;
use crate::workers::{LOADER_NAME, cannot_start};

pub(super) const DATALOADER_WORKERS: Entry = Entry {
    name: "dataloader-workers",
    summary: "4 (--workers) forked loaders write into the 64 MiB (--size) data set they share: 256 KiB (--rate) more copied a step, until each has it all",
    says: "leak of 256 KiB a step in the loader workers while their RSS stands still: copy-on-write",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Size, Knob::Workers],
    needs_checkpoints: false,
    truth: |knobs, _| workers_leak(0, knobs.rate_or(COPIED)).with(&["copy-on-write"]),
    make: |knobs, _| {
        Box::new(Copying {
            rate: knobs.rate_or(COPIED),
            data_set: knobs.size_or(64 << 20),
            count: knobs.workers_or(WORKERS),
            due: Due::default(),
            workers: Vec::new(),
            pages: None,
        })
    },
};

pub(super) const ONE_LEAKING_WORKER: Entry = Entry {
    name: "one-leaking-worker",
    summary: "one of 4 (--workers) loader workers keeps 1 MiB (--rate) more at each step after --onset",
    says: "leak of 1 MiB a step in the loader workers; one process grows, the others hardly",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Onset, Knob::Workers],
    needs_checkpoints: false,
    truth: |knobs, _| {
        let (onset, rate) = (knobs.onset_or(0), knobs.rate_or(USUAL_RATE));
        workers_leak(onset, rate).with(&["one-process"])
    },
    make: |knobs, _| {
        Box::new(OneLeaking {
            rate: knobs.rate_or(USUAL_RATE),
            onset: knobs.onset_or(0),
            count: knobs.workers_or(WORKERS),
            due: Due::default(),
            workers: Vec::new(),
        })
    },
};

pub(super) const WORKER_PROCESS_LEAK: Entry = Entry {
    name: "worker-process-leak",
    summary: "each evaluation starts 2 (--workers) loader workers of 6 MiB (--size) that never end",
    says: "leak in the loader workers, in jumps at evaluations; processes pile up: process growth",
    steps: LEAK_STEPS,
    takes: &[Knob::Size, Knob::Workers],
    needs_checkpoints: false,
    truth: |knobs, schedule| {
        let each_time = each_evaluation(knobs);
        Truth::leak_at_events(each_time, schedule.evaluate_every)
            .of_workers()
            .with(&["process-growth"])
    },
    make: |knobs, _| {
        Box::new(NeverEnding {
            own: knobs.size_or(OWN),
            each_time: knobs.workers_or(NEW_EACH_TIME),
            workers: Vec::new(),
        })
    },
};

/// A usual number of loader workers.
const WORKERS: u32 = 4;
/// What the workers copy in a step, all together: 64 KiB each.
const COPIED: u64 = 256 << 10;
/// Workers that are started at each evaluation.
const NEW_EACH_TIME: u32 = 2;
/// The memory of each of those.
const OWN: u64 = 6 << 20;

fn workers_leak(since: u64, rate: u64) -> Truth {
    Truth::leak(since, rate).of_workers()
}

fn each_evaluation(knobs: &Knobs) -> u64 {
    let workers = u64::from(knobs.workers_or(NEW_EACH_TIME));
    workers.saturating_mul(knobs.size_or(OWN))
}

/// Forked loader workers that hold nothing of their own yet.
pub(super) fn loader_workers(count: u32) -> Result<Vec<Worker>, PatternError> {
    (1..=count)
        .map(|number| or_limit(Worker::fork(LOADER_NAME, Duty::Keep), number, count))
        .collect()
}

#[derive(Debug)]
struct Copying {
    rate: u64,
    data_set: u64,
    count: u32,
    due: Due,
    workers: Vec<Worker>,
    /// Each worker has these too, and the trainer keeps them.
    pages: Option<Pages>,
}

impl Pattern for Copying {
    fn begin(&mut self) -> Result<(), PatternError> {
        let pages = self.pages.insert(Pages::touched(self.data_set)?);
        for number in 1..=self.count {
            let forked = Worker::fork(LOADER_NAME, Duty::Rewrite(pages));
            self.workers.push(or_limit(forked, number, self.count)?);
        }
        Ok(())
    }

    fn step(&mut self, _done: &StepDone<'_>) -> Result<(), PatternError> {
        let each = self.due.take_pages(self.rate / u64::from(self.count));
        order_all(self.workers.iter().map(|worker| (worker, each)))
    }
}

#[derive(Debug)]
struct OneLeaking {
    rate: u64,
    onset: u64,
    count: u32,
    due: Due,
    workers: Vec<Worker>,
}

impl Pattern for OneLeaking {
    fn begin(&mut self) -> Result<(), PatternError> {
        self.workers = loader_workers(self.count)?;
        Ok(())
    }

    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        let leaks = done.step > self.onset;
        let more = self.due.take_pages(if leaks { self.rate } else { 0 });
        // All of them work; the last one keeps something.
        let last = self.workers.len().saturating_sub(1);
        let orders = self.workers.iter().enumerate();
        order_all(orders.map(|(index, worker)| (worker, if index == last { more } else { 0 })))
    }
}

#[derive(Debug)]
struct NeverEnding {
    own: u64,
    each_time: u32,
    workers: Vec<Loader>,
}

impl Pattern for NeverEnding {
    fn evaluated(&mut self, _step: u64) -> Result<(), PatternError> {
        for _ in 0..self.each_time {
            self.workers.push(Loader::start(self.own)?);
        }
        Ok(())
    }
}

/// Orders all at once, then waits for all: the memory is allocated when the step ends.
fn order_all<'a>(orders: impl Iterator<Item = (&'a Worker, u64)>) -> Result<(), PatternError> {
    let mut ordered = Vec::new();
    for (worker, bytes) in orders {
        worker.order(bytes).map_err(|error| broken(worker, error))?;
        ordered.push(worker);
    }
    for worker in ordered {
        worker
            .await_answer()
            .map_err(|error| broken(worker, error))?;
    }
    Ok(())
}

fn broken(worker: &Worker, error: io::Error) -> PatternError {
    let what = format!("loader worker {} did not do its work", worker.pid());
    PatternError::new(
        what,
        error,
        "if it was killed, `dmesg` may say why; lower --rate or --size",
    )
}

fn or_limit(forked: io::Result<Worker>, number: u32, count: u32) -> Result<Worker, PatternError> {
    let who = format!("loader worker {number} of {count}");
    forked.map_err(|error| cannot_start(&who, error))
}
