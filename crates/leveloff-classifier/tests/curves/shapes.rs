//! Shapes that memory takes, and that are easily taken for one another.

use crate::run::Run;

/// A pool that fills within 60 steps.
pub fn plain_warmup() -> Run {
    Run::steps(400, |step| 2000.0 - 1200.0 * (-step / 20.0).exp()).noisy(4.0)
}

/// Two megabytes a step that never end.
pub fn plain_leak() -> Run {
    Run::steps(900, |step| 600.0 + 2.0 * step).noisy(4.0)
}

/// A pool that is full at 60 and creeps by three more percent until 1000, ever more slowly.
pub fn pool_that_creeps_to_an_end() -> Run {
    Run::steps(1000, |step| {
        let fills = 1200.0 * (1.0 - (-step / 20.0).exp());
        let creeps = 60.0 * (1.0 - (-step / 300.0).exp());
        800.0 + fills + creeps
    })
    .noisy(3.0)
}

/// The same, creeping straight by four percent in a thousand steps: nothing says that it will end.
pub fn pool_that_creeps_straight() -> Run {
    Run::steps(1000, |step| {
        800.0 + 1200.0 * (1.0 - (-step / 20.0).exp()) + 0.08 * step
    })
    .noisy(3.0)
}

/// Grows with the square root: for ever, and ever more slowly.
pub fn square_root() -> Run {
    Run::steps(900, |step| 1000.0 + 30.0 * step.sqrt()).noisy(3.0)
}

/// Grows with the logarithm, as fragmentation does.
pub fn logarithm() -> Run {
    Run::steps(900, |step| 1000.0 + 60.0 * (1.0 + step).ln()).noisy(3.0)
}

/// Rises straight into the container's limit and stays there.
pub fn flat_at_the_limit() -> Run {
    Run::steps(600, |step| (4000.0 + 60.0 * step).min(15_900.0))
        .noisy(15.0)
        .limit(16_000.0)
}

/// The same, with an unknown limit.
pub fn flat_at_an_unknown_limit() -> Run {
    Run {
        limit: None,
        ..flat_at_the_limit()
    }
}

/// The same curve far below its limit.
pub fn flat_below_the_limit() -> Run {
    flat_at_the_limit().limit(32_000.0)
}

/// A leak of 4 MB in all: the whole series is small.
pub fn small_leak() -> Run {
    Run::steps(800, |step| 20.0 + 0.005 * step).noisy(0.02)
}

/// The same size without a leak.
pub fn small_level() -> Run {
    Run::steps(800, |step| 20.0 + 0.2 * step.min(20.0)).noisy(0.02)
}

/// Level for 200,000 steps, then half a megabyte a step for so many more.
pub fn late_growth(steps: u32) -> Run {
    growth_after(200_000, steps)
}

/// Level for `quiet` steps, then half a megabyte a step for so many more.
pub fn growth_after(quiet: u32, steps: u32) -> Run {
    let began = f64::from(quiet);
    Run::steps(quiet + steps, |step| 4000.0 + 0.5 * (step - began).max(0.0)).noisy(1.0)
}

/// As long, and nothing happens.
pub fn late_nothing() -> Run {
    Run::steps(201_000, |_| 4000.0).noisy(1.0)
}

/// A step up at the first validation, and never again.
pub fn one_jump() -> Run {
    Run::steps(400, |step| if step < 100.0 { 3000.0 } else { 3600.0 }).noisy(5.0)
}

/// A chunk of 200 MB every 60 steps.
pub fn staircase() -> Run {
    Run::steps(900, |step| 3000.0 + 200.0 * (step / 60.0).floor()).noisy(4.0)
}

/// A chunk of 500 MB every 150 steps: so rare that no line goes through it.
pub fn rare_stairs() -> Run {
    Run::steps(600, |step| 3000.0 + 500.0 * (step / 150.0).floor()).noisy(4.0)
}

/// A leak under a sawtooth.
pub fn sawtooth_that_climbs() -> Run {
    Run::steps(900, |step| 2000.0 + 8.0 * (step % 40.0) + 1.0 * step).noisy(4.0)
}

/// Teeth of so many megabytes every 100 steps, on 4 GB, where the reporting threshold is 80 MB.
pub fn teeth(megabytes: f64) -> Run {
    Run::steps(1500, |step| 4000.0 + megabytes * (step % 100.0) / 100.0).noisy(0.3)
}

/// Up and back by 300 kB every seven steps, for so long that a point of the view stands for hundreds of
/// steps. Seven does not divide those, so what is left over goes to and fro from point to point.
pub fn quiver_that_beats() -> Run {
    Run::steps(200_000, |step| 4000.0 + 0.05 * (step % 7.0))
}

/// It gives memory back, a little each step.
pub fn shrinking() -> Run {
    Run::steps(400, |step| 4000.0 - 4.0 * step).noisy(5.0)
}

/// Noise and nothing else.
pub fn noise() -> Run {
    Run::steps(400, |_| 4000.0).noisy(120.0)
}

/// A run that leaks, and whose last sample is of its end.
pub fn leak_with_teardown() -> Run {
    with_teardown(plain_leak())
}

/// A healthy run, and whose last sample is of its end.
pub fn level_with_teardown() -> Run {
    with_teardown(plain_warmup())
}

fn with_teardown(mut run: Run) -> Run {
    let (x, y) = *run.points.last().unwrap();
    run.points.push((x + 1.0, 0.54 * y));
    run
}

/// Garbage that is collected every so many steps, behind a warmup of 20.
pub fn saw(period: f64, noise: f64) -> Run {
    let tooth = move |step: f64| 300.0 * (step % period) / period;
    Run::steps(700, move |step| {
        1000.0 + 20.0 * step.min(20.0) + tooth(step)
    })
    .noisy(noise)
}

/// A warmup up to step 120 in uneven pages, sampled at every sixth step, that then never moves again.
pub fn warmup_that_stands_still() -> Run {
    let at = |n: u32| {
        let step = f64::from(n) * 6.5 + 5.0;
        let pages = (step.min(120.0) * 0.5 / 2.6).floor() * 2.6;
        (step, 75.0 + pages)
    };
    Run::of((0..46).map(at))
}
