//! Trials: a job that leaks, run again with one thing changed at a time. Which change stops the growth, and what it costs in
//! speed.
//!
//! Runs are compared over the same stretch of steps ([`RunOver::of`]), because growth during a warmup is no leak.
//! A change is credited only if its interval excludes the growth of the control run ([`ArmResult::of`]).
//!
//! ```
//! use leveloff_classifier::observation::{Observation, XUnit};
//! use leveloff_classifier::run_curves::RunCurves;
//! use leveloff_classifier::trial::{ArmResult, Effect, RunOver, Stretch};
//! use leveloff_classifier::units::X;
//! use leveloff_model::units::{Bytes, Step};
//!
//! let run = |bytes_per_step: u64| {
//!     let mut curves = RunCurves::new();
//!     for step in 1..=400 {
//!         let memory = Bytes(500_000_000 + bytes_per_step * step);
//!         curves.observe(&Observation::at_step(Step(step), memory));
//!     }
//!     let stretch = Stretch { from: X(200.0), to: X(400.0) };
//!     RunOver::of(&curves, XUnit::Step, stretch).unwrap()
//! };
//! let (control, changed) = ([run(1_000_000)], [run(0)]);
//! let result = ArmResult::of(&control, &changed, 10).unwrap();
//! assert_eq!(result.effect, Effect::Stops);
//! ```

mod arms;
mod run_over;
mod summary;

pub use arms::{ArmFamily, BuiltInArm, Change};
pub use run_over::RunOver;
pub use summary::{
    ArmState, ArmSummary, TrialOutcome, TrialSummary, TriedVersion, UNDECIDED_REPEATS,
};

pub use crate::stretch::{Estimate, Stretch};

use crate::compare::PACE_SPREAD;
use crate::speed::Speed;
use crate::stats::student_quantile;
use crate::units::{Amount, AmountPerX};
use crate::verdict::Rate;

/// What a change does to the growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// At most a fifth of the growth is left.
    Stops,
    /// At least a quarter of the growth is gone, and more than a fifth is left.
    Reduces,
    /// Less than a quarter of the growth is gone.
    None,
    /// The intervals do not exclude the other outcomes.
    Undecided,
}

/// A change of speed: 0.12 is 12 % more steps in a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedChange {
    /// The estimate.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The runs with one change beside the control runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmResult {
    /// What the change does to the growth.
    pub effect: Effect,
    /// Growth with the change.
    pub growth: Rate,
    /// Growth of the control runs.
    pub control: Rate,
    /// Growth with the change, less that of the control runs.
    pub change: Rate,
    /// Memory at the end of the stretch.
    pub level: Amount,
    /// Memory of the control run there.
    pub control_level: Amount,
    /// The change of speed, where the pace of both is known.
    pub speed: Option<SpeedChange>,
    /// The speed with the change.
    pub steps_per_second: Option<Speed>,
    /// The speed of the control runs.
    pub control_steps_per_second: Option<Speed>,
}

/// Growth below this share of the control's is growth that stopped.
const STOPPED: f64 = 0.2;

/// A change of the growth below this share of it does not matter.
const MATTERS: f64 = 0.25;

/// The chance that any of the intervals of a trial misses the truth.
const ALPHA: f64 = 0.02;

/// The chance that the interval of a speed misses the truth. No conclusion rests on a speed.
const SPEED_ALPHA: f64 = 0.05;

/// Repeats of one training differ by this share of their memory over a stretch. Seen with torch 2.8 on a CPU: 0.01 to 0.5 %.
const LEVEL_SPREAD: f64 = 0.003;

/// And by this share of their growth.
const GROWTH_SPREAD: f64 = 0.02;

/// The usual spread counts as if it had been seen in so many runs more than one, as in [`compare`](crate::compare).
const USUAL_SPREAD_WEIGHT: f64 = 8.0;

impl ArmResult {
    /// Holds the runs with a change against the control runs. Both must be measured over the same stretch. `comparisons` is
    /// how often a trial asks: each question is another chance to be wrong. `None` without runs on both sides.
    pub fn of(control: &[RunOver], arm: &[RunOver], comparisons: u32) -> Option<ArmResult> {
        let (first, last) = (control.first()?, arm.last()?);
        let (of_control, of_arm) = (growths(control), growths(arm));
        let usual = LEVEL_SPREAD * first.level.0 / first.stretch.length();
        let alpha = ALPHA / f64::from(comparisons.max(1));
        let sides = Sides::of(&of_control, &of_arm, usual, alpha);
        let (control_rate, growth, change) = sides.rates();
        let speeds = speeds(control, arm);
        Some(ArmResult {
            effect: effect(control_rate, growth, change),
            growth,
            control: control_rate,
            change,
            level: last.level,
            control_level: first.level,
            speed: speeds.as_ref().map(|speeds| speeds.change),
            steps_per_second: speeds.as_ref().map(|speeds| speeds.arm),
            control_steps_per_second: speeds.map(|speeds| speeds.control),
        })
    }
}

/// Whether a control run like this is long enough: one run of a change that ends the growth is distinguished from the control run, and so
/// are two runs of a change that does nothing from two of the control.
pub fn is_long_enough(control: RunOver, comparisons: u32) -> bool {
    let growth = Estimate {
        value: 0.0,
        ..control.growth
    };
    let cured = RunOver { growth, ..control };
    let effect = |control: &[RunOver], arm: &[RunOver]| {
        ArmResult::of(control, arm, comparisons).map(|result| result.effect)
    };
    effect(&[control], &[cured]) == Some(Effect::Stops)
        && effect(&[control; 2], &[control; 2]) == Some(Effect::None)
}

fn effect(control: Rate, growth: Rate, change: Rate) -> Effect {
    let AmountPerX(all) = control.value;
    let (stopped, matters) = (STOPPED * all, MATTERS * all);
    let gone = -change.high.0;
    if control.low.0 <= 0.0 {
        Effect::Undecided
    } else if growth.high.0 <= stopped && gone > 0.0 {
        Effect::Stops
    } else if gone >= matters && growth.low.0 > stopped {
        Effect::Reduces
    } else if -change.low.0 < matters {
        Effect::None
    } else {
        Effect::Undecided
    }
}

/// The speeds of both sides, and the change.
struct Speeds {
    control: Speed,
    arm: Speed,
    change: SpeedChange,
}

fn speeds(control: &[RunOver], arm: &[RunOver]) -> Option<Speeds> {
    // Ratios have an interval that is even in their logarithm.
    let logarithms = |runs: &[RunOver]| -> Option<Vec<Estimate>> {
        let paces = runs.iter().map(|run| run.pace);
        paces.map(|pace| Some(pace?.logarithm())).collect()
    };
    let (control, arm) = (logarithms(control)?, logarithms(arm)?);
    let sides = Sides::of(&control, &arm, PACE_SPREAD, SPEED_ALPHA);
    let (control, arm, change) = sides.rates();
    // A longer step is a lower speed.
    let ratio = |log: AmountPerX| (-log.0).exp();
    let speed = |log: Rate| Speed {
        value: ratio(log.value),
        low: ratio(log.high),
        high: ratio(log.low),
    };
    let Speed { value, low, high } = speed(change);
    Some(Speeds {
        control: speed(control),
        arm: speed(arm),
        change: SpeedChange {
            value: value - 1.0,
            low: low - 1.0,
            high: high - 1.0,
        },
    })
}

/// The growth of each run. Repeats of a leak differ a little, in proportion to it.
fn growths(runs: &[RunOver]) -> Vec<Estimate> {
    let growths = runs.iter().map(|run| run.growth);
    growths
        .map(|growth| Estimate {
            error: growth.error.hypot(GROWTH_SPREAD * growth.value),
            ..growth
        })
        .collect()
}

fn mean(estimates: &[Estimate]) -> f64 {
    estimates.iter().map(|it| it.value).sum::<f64>() / estimates.len() as f64
}

/// The same quantity of control runs and changed runs, with a common spread between repeats.
struct Sides<'a> {
    control: &'a [Estimate],
    arm: &'a [Estimate],
    variance: f64,
    quantile: f64,
}

impl<'a> Sides<'a> {
    /// The spread of few repeats is a poor estimate, so a usual one is pooled with it (Smyth 2004).
    fn of(control: &'a [Estimate], arm: &'a [Estimate], usual: f64, alpha: f64) -> Sides<'a> {
        let squares = |side: &[Estimate]| {
            let mean = mean(side);
            side.iter().map(|it| (it.value - mean).powi(2)).sum::<f64>()
        };
        let more = (control.len() + arm.len() - 2) as f64;
        let freedom = USUAL_SPREAD_WEIGHT + more;
        let usual = USUAL_SPREAD_WEIGHT * usual * usual;
        Sides {
            control,
            arm,
            variance: (usual + squares(control) + squares(arm)) / freedom,
            quantile: student_quantile(1.0 - 0.5 * alpha, freedom),
        }
    }

    /// Of the control runs, of the changed ones, and of their difference.
    fn rates(&self) -> (Rate, Rate, Rate) {
        let (control, arm) = (mean(self.control), mean(self.arm));
        let (of_control, of_arm) = (self.error_2(self.control), self.error_2(self.arm));
        let rate = |value: f64, error_2: f64| {
            let reach = self.quantile * error_2.sqrt();
            Rate {
                value: AmountPerX(value),
                low: AmountPerX(value - reach),
                high: AmountPerX(value + reach),
            }
        };
        (
            rate(control, of_control),
            rate(arm, of_arm),
            rate(arm - control, of_control + of_arm),
        )
    }

    /// The square of the standard error of a mean.
    fn error_2(&self, side: &[Estimate]) -> f64 {
        let n = side.len() as f64;
        let within = side.iter().map(|it| it.error * it.error).sum::<f64>();
        self.variance / n + within / (n * n)
    }
}

#[cfg(test)]
mod tests;
