//! Degenerate series that occur in practice.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::verdict::Verdict;

use crate::run::Run;
use crate::shapes::{plain_leak, plain_warmup};

/// Nothing at all.
pub fn empty() -> Run {
    Run::of([])
}

pub fn one_point() -> Run {
    Run::of([(10.0, 5552.0)])
}

pub fn two_points() -> Run {
    Run::of([(10.0, 5552.0), (20.0, 7159.0)])
}

/// Three finished points that rise, and one that is not judged.
pub fn four_rising_points() -> Run {
    Run::of((1..=4).map(|n| (10.0 * f64::from(n), 4000.0 + 1000.0 * f64::from(n))))
}

pub fn constant_zero() -> Run {
    Run::steps(400, |_| 0.0)
}

pub fn constant() -> Run {
    Run::steps(400, |_| 4096.0)
}

/// A petabyte, and level.
pub fn huge_level() -> Run {
    scaled(plain_warmup(), 1e6)
}

/// A petabyte, and leaking.
pub fn huge_leak() -> Run {
    scaled(plain_leak(), 1e6)
}

/// Every tenth value could not be read, every tenth place neither.
pub fn leak_with_holes() -> Run {
    let mut run = plain_leak();
    for (n, point) in run.points.iter_mut().enumerate() {
        match n % 20 {
            3 => point.1 = f64::NAN,
            8 => point.1 = f64::INFINITY,
            13 => point.0 = f64::NAN,
            18 => point.0 = f64::NEG_INFINITY,
            _ => {}
        }
    }
    run
}

/// Nothing but what is no number.
pub fn nothing_but_holes() -> Run {
    Run::of((0..100).map(|n| match n % 3 {
        0 => (f64::from(n), f64::NAN),
        1 => (f64::NAN, 100.0),
        _ => (f64::from(n), f64::INFINITY),
    }))
}

/// Five samples in each step.
pub fn leak_with_repeated_steps() -> Run {
    let run = plain_leak();
    Run::of(run.points.iter().flat_map(|&point| [point; 5]))
}

/// All samples in one step.
pub fn one_step_only() -> Run {
    Run::of((0..400).map(|n| (7.0, 1000.0 + f64::from(n))))
}

/// Every tenth line of the log comes a few steps late.
pub fn leak_with_late_lines() -> Run {
    let mut run = plain_leak();
    for n in (10..run.points.len()).step_by(10) {
        run.points[n].0 -= 4.0;
    }
    run
}

/// Backwards from the first line to the last: only one place is ever the newest.
pub fn backwards() -> Run {
    let mut run = plain_leak();
    run.points.reverse();
    run
}

/// Started again from a checkpoint three times: the same hundred steps, the same warmup.
pub fn restarts() -> Run {
    Run::of((0..4).flat_map(|start| {
        let from = 100 * start;
        (0..200).map(move |n| {
            let warms = 900.0 * (1.0 - (-f64::from(n) / 15.0).exp());
            (f64::from(from + n), 700.0 + warms)
        })
    }))
    .noisy(3.0)
}

fn scaled(mut run: Run, times: f64) -> Run {
    for point in &mut run.points {
        point.1 *= times;
    }
    run
}

/// Four readings within a tenth of a second say nothing about when a leak can be called.
#[test]
fn no_date_is_given_that_cannot_be_met() {
    let points = (0..5).map(|n| (0.025 * f64::from(n), 100.0 + 20.0 * f64::from(n)));
    let said = Run::of(points).over(XUnit::Second).judged();
    assert_eq!(said.verdict, Verdict::WarmingUp);
    let by = said.decide_by.unwrap();
    assert!(by.if_it_goes_on.0 > 500.0, "{by:?}");
    let few = (0..5).map(|n| (10.0 * f64::from(n), 1_000.0 + 165.0 * f64::from(n)));
    let by = Run::of(few).judged().decide_by.unwrap();
    assert!((370.0..=390.0).contains(&by.if_it_goes_on.0), "{by:?}");
}
