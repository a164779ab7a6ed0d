//! All patterns, by name, with what is true of each.
//!
//! Warmups, caches and sawteeth count the steps that this process did: a training that is resumed
//! warms up again. The onset of a leak is a step of the training.

mod cache;
mod come_and_go;
mod compiling;
mod descriptors;
mod events;
mod loading;
mod native;
mod pool;
mod retention;
mod shared;
mod story;
mod tensors;

use crate::pattern::{Knob, Knobs, Pattern, Schedule, Truth};

/// A pattern that can be chosen.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What the tool should say, in one line.
    pub says: &'static str,
    /// Steps that show it.
    pub steps: u64,
    /// What a user can set of it.
    pub takes: &'static [Knob],
    /// Whether it does nothing unless checkpoints are saved.
    pub needs_checkpoints: bool,
    /// What is true of it.
    pub truth: fn(&Knobs, &Schedule) -> Truth,
    /// Makes it.
    pub make: fn(&Knobs, &Schedule) -> Box<dyn Pattern>,
}

/// All of them, healthy ones first.
pub const ALL: &[Entry] = &[
    HEALTHY,
    story::STORY,
    pool::POOL_WARMUP,
    cache::EPOCH_CACHE,
    come_and_go::GC_SAWTOOTH,
    come_and_go::EVAL_SPIKES,
    come_and_go::SHRINKING,
    compiling::COMPILE_WORKERS,
    native::NATIVE_LEAK,
    tensors::TENSOR_LEAK,
    tensors::GRAPH_LEAK,
    native::SLOW_LEAK,
    native::LATE_LEAK,
    events::EVAL_LEAK,
    events::CHECKPOINT_LEAK,
    events::EPOCH_LEAK,
    cache::EPOCH_CACHE_THEN_LEAK,
    retention::RETENTION,
    shared::SHM_LEAK,
    shared::MEMFD_LEAK,
    descriptors::FD_LEAK,
    loading::DATALOADER_WORKERS,
    loading::ONE_LEAKING_WORKER,
    loading::WORKER_PROCESS_LEAK,
];

/// The pattern of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// What the user set that this pattern has no use for.
    pub fn has_no_use_for(&self, knobs: &Knobs) -> Vec<Knob> {
        let mut given = knobs.given();
        given.retain(|knob| !self.takes.contains(knob));
        given
    }
}

/// Steps that show a plateau.
const HEALTHY_STEPS: u64 = 300;
/// Steps after which growth has outlived the warmups of healthy runs.
const LEAK_STEPS: u64 = 400;
/// What the louder leaks add each step.
const USUAL_RATE: u64 = 1 << 20;

/// The training alone.
pub const HEALTHY: Entry = Entry {
    name: "healthy",
    summary: "the training alone: nothing is added",
    says: "level; nothing to report",
    steps: HEALTHY_STEPS,
    takes: &[],
    needs_checkpoints: false,
    truth: |_, _| Truth::level(0),
    make: |_, _| Box::new(Healthy),
};

#[derive(Debug)]
struct Healthy;

impl Pattern for Healthy {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::TrueVerdict;
    use crate::sizes::Size;

    const SCHEDULE: Schedule = Schedule {
        steps: 400,
        epoch_steps: 80,
        evaluate_every: 50,
        checkpoint_every: 100,
        seed: 1,
    };

    #[test]
    fn names_are_unique_and_can_be_found() {
        for entry in ALL {
            let namesakes = ALL.iter().filter(|other| other.name == entry.name);
            assert_eq!(namesakes.count(), 1, "{}", entry.name);
            assert_eq!(find(entry.name).unwrap().summary, entry.summary);
        }
        assert!(find("nonsense").is_none());
    }

    #[test]
    fn a_leak_has_a_rate_a_blamed_role_and_a_finding() {
        for entry in ALL {
            let truth = (entry.truth)(&Knobs::default(), &SCHEDULE);
            let grows = truth.bytes_per_step + truth.descriptors_per_step > 0;
            let leaks = truth.verdict == TrueVerdict::Leak;
            assert_eq!(grows, leaks, "{}", entry.name);
            assert_eq!(truth.role.is_some(), leaks, "{}", entry.name);
            assert_eq!(truth.kind.is_some(), leaks, "{}", entry.name);
            assert!(!leaks || !truth.findings.is_empty(), "{}", entry.name);
        }
    }

    #[test]
    fn no_leak_takes_a_gibibyte_by_default() {
        for entry in ALL {
            let schedule = Schedule {
                steps: entry.steps,
                ..SCHEDULE
            };
            let truth = (entry.truth)(&Knobs::default(), &schedule);
            let leaked = truth.bytes_per_step * entry.steps;
            assert!(leaked < 900 << 20, "{}", entry.name);
        }
    }

    #[test]
    fn knobs_without_use_are_reported() {
        let knobs = Knobs {
            workers: Some(3),
            rate: Some(Size(4096)),
            ..Knobs::default()
        };
        let late = find("late-leak").unwrap();
        assert_eq!(late.has_no_use_for(&knobs), [Knob::Workers]);
    }

    #[test]
    fn what_comes_with_events_that_never_come_is_no_leak() {
        let never = Schedule {
            evaluate_every: 0,
            checkpoint_every: 0,
            ..SCHEDULE
        };
        for name in ["eval-leak", "checkpoint-leak", "worker-process-leak"] {
            let truth = (find(name).unwrap().truth)(&Knobs::default(), &never);
            assert_eq!(truth.verdict, TrueVerdict::Level, "{name}");
        }
    }
}
