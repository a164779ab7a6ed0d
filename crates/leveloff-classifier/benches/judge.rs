//! What a verdict costs, and what a new sample does, however long the run has been:
//! `cargo bench -p leveloff-classifier --bench judge`.
//!
//! Allocations are counted as well. `follow` shows the most memory that a judge ever holds: it must
//! not know how long the run is.

use std::fmt;

use divan::{AllocProfiler, Bencher};
use leveloff_classifier::observation::{Observation, ProcessShare, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_model::process::{Pid, ProcessIndex, Role};
use leveloff_model::recording::StatedFacts;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::{Bytes, Seconds};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

const MEBIBYTE: u64 = 1 << 20;
/// One trainer, four loaders and twenty compile workers: the tree of the reference story.
const TREE: u32 = 25;
const LENGTHS: [u64; 6] = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
const TREE_LENGTHS: [u64; 3] = [100, 10_000, 300_000];
const PATTERNS: [Pattern; 5] = [
    Pattern::Warmup,
    Pattern::Leak,
    Pattern::Sawtooth,
    Pattern::Staircase,
    Pattern::Wander,
];

fn main() {
    divan::main();
}

/// One verdict on a run that levelled off, at any length.
#[divan::bench(args = LENGTHS)]
fn verdict(bencher: Bencher<'_, '_>, points: u64) {
    let judge = followed(Pattern::Warmup, points, 0);
    bencher.bench_local(|| judge.verdict());
}

/// One verdict on runs that make a judge think differently.
#[divan::bench(args = PATTERNS)]
fn verdict_on(bencher: Bencher<'_, '_>, pattern: Pattern) {
    let judge = followed(pattern, 100_000, 0);
    bencher.bench_local(|| judge.verdict());
}

/// One verdict on a whole tree: every role, kind and process is judged. The longest takes half a
/// minute to follow first.
#[divan::bench(args = LENGTHS)]
fn verdict_on_tree(bencher: Bencher<'_, '_>, points: u64) {
    let judge = followed(Pattern::Leak, points, TREE);
    bencher.bench_local(|| judge.verdict());
}

/// One more sample of a run of this length.
#[divan::bench(args = LENGTHS)]
fn observe(bencher: Bencher<'_, '_>, points: u64) {
    let mut judge = followed(Pattern::Warmup, points, 0);
    let (mut sample, mut step) = (Observation::default(), points);
    bencher.bench_local(|| {
        step += 1;
        fill(&mut sample, Pattern::Warmup, step);
        judge.observe(&sample);
    });
}

/// One more sample of a whole tree.
#[divan::bench(args = TREE_LENGTHS)]
fn observe_tree(bencher: Bencher<'_, '_>, points: u64) {
    let mut judge = followed(Pattern::Leak, points, TREE);
    let (mut sample, mut step) = (tree(TREE), points);
    bencher.bench_local(|| {
        step += 1;
        fill(&mut sample, Pattern::Leak, step);
        judge.observe(&sample);
    });
}

/// A whole run, from its first sample to its last: look at "max alloc".
#[divan::bench(args = LENGTHS, sample_count = 1, sample_size = 1)]
fn follow(points: u64) -> RunJudge {
    followed(Pattern::Warmup, points, 0)
}

/// The same for a tree.
#[divan::bench(args = TREE_LENGTHS, sample_count = 1, sample_size = 1)]
fn follow_tree(points: u64) -> RunJudge {
    followed(Pattern::Leak, points, TREE)
}

#[derive(Debug, Clone, Copy)]
enum Pattern {
    Warmup,
    Leak,
    Sawtooth,
    Staircase,
    Wander,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Pattern {
    /// Memory in MiB at a step, without noise.
    fn memory(self, step: f64) -> f64 {
        match self {
            Pattern::Warmup => 4000.0 + 3000.0 * (1.0 - (-step / 300.0).exp()),
            Pattern::Leak => 4000.0 + 0.2 * step,
            Pattern::Sawtooth => 4000.0 + 500.0 * (step / 700.0).fract(),
            Pattern::Staircase => 4000.0 + 80.0 * (step / 9000.0).floor(),
            Pattern::Wander => 4000.0 + 60.0 * (step / 900.0).sin() + 45.0 * (step / 130.0).cos(),
        }
    }
}

fn followed(pattern: Pattern, points: u64, processes: u32) -> RunJudge {
    let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
    let mut sample = tree(processes);
    for step in 1..=points {
        fill(&mut sample, pattern, step);
        judge.observe(&sample);
    }
    judge
}

fn tree(processes: u32) -> Observation {
    let process = |index| ProcessShare {
        index: ProcessIndex(index),
        pid: Pid(4000 + index as i32),
        role: match index {
            0 => Role::Trainer,
            1..5 => Role::DataloaderWorker,
            _ => Role::CompileWorker,
        },
        rank: None,
        memory: Bytes(20 * MEBIBYTE),
        shared: Bytes(MEBIBYTE),
        swapped: Bytes(0),
        rss: Bytes(350 * MEBIBYTE),
        fds: Some(40),
        private: None,
        gpu: None,
        cpu: None,
        is_read: true,
        estimated: Bytes::ZERO,
    };
    Observation {
        processes: (0..processes).map(process).collect(),
        ..Observation::default()
    }
}

/// The next moment of a run, in place, so that only the judge's own work is measured.
fn fill(sample: &mut Observation, pattern: Pattern, step: u64) {
    let noise = 20.0 * noise(step);
    let memory = Bytes(((pattern.memory(step as f64) + noise) * MEBIBYTE as f64) as u64);
    sample.count = Some(step as f64);
    sample.t = Some(Seconds(step as f64 * 0.5));
    let workers: u64 = sample.processes.iter().skip(1).map(|it| it.memory.0).sum();
    if let Some(trainer) = sample.processes.first_mut() {
        trainer.memory = memory;
        sample.counters.set(TrainingCounter::Tensors, 6529);
    }
    sample.memory = Bytes(memory.0 + workers);
}

/// Between −1 and 1, the same for the same step: a multiplicative hash is random enough here.
fn noise(step: u64) -> f64 {
    let mixed = step.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let mixed = mixed.wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11;
    mixed as f64 / (1_u64 << 52) as f64 - 1.0
}
