//! What one team saw in its runs, as they wrote it down.

use leveloff_classifier::observation::XUnit;

use crate::chance::Chance;
use crate::run::Run;

/// Host memory at steps 10, 20, … 80. It went on to level off.
pub const STORY: [f64; 8] = [
    5552.0, 7159.0, 8851.0, 10375.0, 12000.0, 13757.0, 15559.0, 17412.0,
];

/// Growth in that part, estimated by eye.
pub const STORY_RATE: f64 = 165.0;

/// The story to step 80, when it was called a leak.
pub fn story_to_step_80() -> Run {
    Run::of(story_points())
}

/// The story as it went on: between 17.0 and 17.7 GB for good. `seed` chooses one such plateau.
pub fn story(seed: u64, until: u32) -> Run {
    let mut chance = Chance::new(seed);
    let plateau =
        (9..=until / 10).map(|n| (f64::from(10 * n), 17_000.0 + 700.0 * chance.uniform()));
    Run::of(story_points().chain(plateau))
}

/// The story as it might have gone on: the same slope, with steps as uneven as before.
pub fn story_without_end(seed: u64, until: u32) -> Run {
    let mut chance = Chance::new(seed);
    let more = (9..=until / 10).map(|n| {
        let straight = STORY[7] + STORY_RATE * f64::from(10 * n - 80);
        (f64::from(10 * n), straight + 60.0 * chance.normal())
    });
    Run::of(story_points().chain(more))
}

/// "8 GB → 8.2 GB → GC → 8 GB (cycles every 10 steps)"
pub fn gc_cycles() -> Run {
    Run::steps(200, |step| 8000.0 + 20.0 * (step % 10.0)).noisy(2.0)
}

/// The same as it was written down: "0 s 8 GB, 30 s 8.1, 60 s 8.2, 90 s 8.0, … 180 s 8.0".
pub fn gc_cycles_as_a_table() -> Run {
    let gigabytes = [8.0, 8.1, 8.2, 8.0, 8.1, 8.2, 8.0];
    table_of_gigabytes(&gigabytes)
}

/// What that table was set against: "8 GB, 9, 10, 11, 12, 13, 14: continuous growth".
pub fn growth_as_a_table() -> Run {
    table_of_gigabytes(&[8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0])
}

/// "Spikes to 10–11 GB, returns to 8 GB baseline": every 50 steps, for five.
pub fn validation_that_returns() -> Run {
    Run::steps(500, |step| {
        let validates = step >= 50.0 && step % 50.0 < 5.0;
        8200.0 + if validates { 2500.0 } else { 0.0 }
    })
    .noisy(60.0)
}

/// "Large spikes that don't recover": a third of each stays.
pub fn validation_that_stays() -> Run {
    Run::steps(500, |step| {
        let validates = step >= 50.0 && step % 50.0 < 5.0;
        8200.0 + 400.0 * (step / 50.0).floor() + if validates { 800.0 } else { 0.0 }
    })
    .noisy(20.0)
}

/// "Batch 1: 732 MB → 1027 MB; batch 10: 3924 MB (+296 MB per batch)": ten points are all there is.
pub fn batches_without_cleanup() -> Run {
    batches(10)
}

/// The same test for as long as the one with cleanup.
pub fn a_hundred_batches_without_cleanup() -> Run {
    batches(100)
}

/// … and for as long as it takes to decide from the curve alone.
pub fn five_hundred_batches_without_cleanup() -> Run {
    batches(500)
}

/// "Batch 1: 730 MB → 728 MB; batch 100: 728 MB".
pub fn batches_with_cleanup() -> Run {
    let settled = Run::steps(101, |batch| if batch == 0.0 { 730.0 } else { 728.0 });
    settled.noisy(0.3).over(XUnit::Iteration)
}

/// "Main process started at 13.2 GB, +206 MB every 10 seconds": two minutes of it.
pub fn compile_run_for_two_minutes() -> Run {
    ten_seconds_each(12)
}

/// The same for three hours, which no warmup lasts.
pub fn compile_run_for_three_hours() -> Run {
    ten_seconds_each(1080)
}

/// Before the fixes: "could grow 2–4 GB after 100 steps".
pub fn before_the_fixes() -> Run {
    Run::steps(100, |step| 8000.0 + 30.0 * step).noisy(25.0)
}

/// After them: "8 GB baseline, fluctuates 8–9 GB every 10 steps".
pub fn after_the_fixes() -> Run {
    Run::steps(100, |step| 8000.0 + 100.0 * (step % 10.0)).noisy(25.0)
}

fn story_points() -> impl Iterator<Item = (f64, f64)> {
    (1..).zip(STORY).map(|(n, mb)| (10.0 * f64::from(n), mb))
}

fn batches(batches: u32) -> Run {
    let grown = Run::steps(batches + 1, |batch| 732.0 + 296.0 * batch);
    grown.noisy(1.0).over(XUnit::Iteration)
}

fn ten_seconds_each(readings: u32) -> Run {
    let readings = (0..=readings).map(|n| (10.0 * f64::from(n), 13_200.0 + 206.0 * f64::from(n)));
    Run::of(readings).noisy(8.0).over(XUnit::Second)
}

fn table_of_gigabytes(gigabytes: &[f64]) -> Run {
    let rows = (0..)
        .zip(gigabytes)
        .map(|(n, gb)| (30.0 * f64::from(n), 1000.0 * gb));
    Run::of(rows).over(XUnit::Second)
}
