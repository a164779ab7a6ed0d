//! Every pattern does what its truth says: grows by its rate within 5 %, or stays where it is.

use leveloff_trainer::pattern::{Knobs, Schedule, SeenIn, TrueVerdict, Truth};
use leveloff_trainer::patterns::{self, Entry};

use crate::driven::Driven;
use crate::machine;

/// A claimed rate may be off by this share.
const TOLERANCE: f64 = 0.05;
/// What is level may move by this many bytes over the run.
const STILL: f64 = 1e6;
/// Steps after the onset that are not looked at: the first ones warm the driver itself up.
const SETTLES: u64 = 20;
/// Steps from one look to the next.
const LOOK_EVERY: u64 = 5;

macro_rules! each_does_what_it_claims {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                check($name);
            }
        )*

        #[test]
        fn no_pattern_is_left_out() {
            let tested = [$($name),*];
            let all: Vec<&str> = patterns::ALL.iter().map(|entry| entry.name).collect();
            assert_eq!(all, tested);
        }
    };
}

each_does_what_it_claims! {
    healthy: "healthy",
    story: "story",
    pool_warmup: "pool-warmup",
    epoch_cache: "epoch-cache",
    gc_sawtooth: "gc-sawtooth",
    eval_spikes: "eval-spikes",
    shrinking: "shrinking",
    compile_workers: "compile-workers",
    native_leak: "native-leak",
    tensor_leak: "tensor-leak",
    graph_leak: "graph-leak",
    slow_leak: "slow-leak",
    late_leak: "late-leak",
    eval_leak: "eval-leak",
    checkpoint_leak: "checkpoint-leak",
    epoch_leak: "epoch-leak",
    epoch_cache_then_leak: "epoch-cache-then-leak",
    retention: "retention",
    shm_leak: "shm-leak",
    memfd_leak: "memfd-leak",
    fd_leak: "fd-leak",
    dataloader_workers: "dataloader-workers",
    one_leaking_worker: "one-leaking-worker",
    worker_process_leak: "worker-process-leak",
}

#[test]
fn a_false_claim_is_noticed() {
    let claimed = truth(patterns::find("native-leak").unwrap(), &schedule(100));
    let faster = looks("native-leak", &["rate=1.07MiB"], 100, &claimed);
    assert!(error_of(&faster, claimed.bytes_per_step as f64) > TOLERANCE);
    let level = Truth {
        verdict: TrueVerdict::Level,
        ..claimed
    };
    assert!(drift(&looks("native-leak", &["rate=16KiB"], 200, &level)) > STILL);
}

#[test]
fn rates_and_onsets_can_be_set() {
    let settings = ["rate=200KB", "onset=30"];
    let claimed = Truth {
        since: 30,
        ..truth(patterns::find("native-leak").unwrap(), &schedule(200))
    };
    let looks = looks("native-leak", &settings, 200, &claimed);
    assert!(error_of(&looks, 200_000.0) < TOLERANCE, "{looks:?}");
}

/// A look at a pattern: the step, and what was seen.
type Look = (f64, f64);

fn check(name: &str) {
    let entry = patterns::find(name).unwrap();
    let schedule = schedule(entry.steps);
    let truth = truth(entry, &schedule);
    let looks = looks(name, &[], entry.steps, &truth);
    assert!(looks.len() >= 6, "{looks:?}");
    match truth.verdict {
        // What falls does not grow.
        TrueVerdict::Level if name == "shrinking" => assert!(drift(&looks) < 0.0),
        TrueVerdict::Level => {
            let drift = drift(&looks);
            println!("{name}: drift {:.0} KiB", drift / 1024.0);
            assert!(drift.abs() < STILL, "{name}: {drift} in {looks:?}");
        }
        TrueVerdict::Leak => {
            let claimed = match truth.seen_in {
                SeenIn::Descriptors => truth.descriptors_per_step,
                _ => truth.bytes_per_step,
            };
            let error = error_of(&looks, claimed as f64);
            println!("{name}: {claimed} a step, {:.2} % off", error * 100.0);
            assert!(error < TOLERANCE, "{name}: {error} in {looks:?}");
        }
    }
}

/// Drives a pattern to the end, and looks at it from its onset on.
fn looks(name: &str, settings: &[&str], steps: u64, truth: &Truth) -> Vec<Look> {
    let alone = matches!(truth.seen_in, SeenIn::DevShm | SeenIn::MachineShmem);
    let _turn = alone.then(machine::turn);
    let every = apart(name, &schedule(steps));
    let first = (truth.since + SETTLES).next_multiple_of(every);
    let mut driven = Driven::begun(name, steps, settings);
    driven.steps(first);
    let mut looks = Vec::new();
    for step in (first..=steps).step_by(every as usize) {
        looks.push((step as f64, machine::read(truth.seen_in, driven.pid())));
        driven.steps(every);
    }
    looks
}

/// A staircase is looked at from stair to stair, and noise at every step.
fn apart(name: &str, schedule: &Schedule) -> u64 {
    match name {
        "eval-leak" | "worker-process-leak" => schedule.evaluate_every,
        "checkpoint-leak" => schedule.checkpoint_every,
        "epoch-leak" => schedule.epoch_steps,
        "slow-leak" => 1,
        _ => LOOK_EVERY,
    }
}

/// How far the slope of a line through the looks is from what was claimed, as a share of it.
fn error_of(looks: &[Look], claimed: f64) -> f64 {
    (slope(looks) - claimed).abs() / claimed
}

fn slope(looks: &[Look]) -> f64 {
    let count = looks.len() as f64;
    let middle = |of: fn(&Look) -> f64| looks.iter().map(of).sum::<f64>() / count;
    let (x, y) = (middle(|look| look.0), middle(|look| look.1));
    let both: f64 = looks.iter().map(|look| (look.0 - x) * (look.1 - y)).sum();
    let squares: f64 = looks.iter().map(|look| (look.0 - x).powi(2)).sum();
    both / squares
}

/// How far the second half lies above the first: by its floor or by its ceiling, whichever moved
/// further. A sawtooth has both, and moves neither.
fn drift(looks: &[Look]) -> f64 {
    let (early, late) = looks.split_at(looks.len() / 2);
    let floor = |looks: &[Look]| {
        looks
            .iter()
            .map(|look| look.1)
            .fold(f64::INFINITY, f64::min)
    };
    let ceiling = |looks: &[Look]| looks.iter().map(|look| look.1).fold(0.0, f64::max);
    let (by_floor, by_ceiling) = (floor(late) - floor(early), ceiling(late) - ceiling(early));
    if by_floor.abs() > by_ceiling.abs() {
        by_floor
    } else {
        by_ceiling
    }
}

fn truth(entry: &Entry, schedule: &Schedule) -> Truth {
    (entry.truth)(&Knobs::default(), schedule)
}

/// The same as the driver's.
fn schedule(steps: u64) -> Schedule {
    Schedule {
        steps,
        epoch_steps: 80,
        evaluate_every: 50,
        checkpoint_every: 100,
        seed: 1,
    }
}
