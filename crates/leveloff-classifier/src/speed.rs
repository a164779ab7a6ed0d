//! How fast a run goes: its steps in a second, over the newer half of them, so that loading and compiling at the start do not
//! count.

use crate::observation::XUnit;
use crate::run_curves::RunCurves;
use crate::stats::student_quantile;
use crate::stretch::{Blocks, Estimate, Stretch};
use crate::units::X;

/// Steps, or what else the run counts, in a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// The estimate.
    pub value: f64,
    /// The lower end of its 95 % interval, from how much the pieces of the run differ.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The part of a run that its speed is taken over.
const NEWER_PART: f64 = 0.5;

/// The chance that the interval misses the truth.
const ALPHA: f64 = 0.05;

/// The pieces of a stretch differ with so many degrees of freedom: eight pieces have seven differences, and a mean.
const FREEDOM: f64 = 6.0;

impl Speed {
    /// Of a run; `None` if it counts nothing but time, or too little.
    ///
    /// ```
    /// use leveloff_classifier::observation::{Observation, XUnit};
    /// use leveloff_classifier::run_curves::RunCurves;
    /// use leveloff_classifier::speed::Speed;
    /// use leveloff_model::units::{Bytes, Seconds, Step};
    ///
    /// let mut curves = RunCurves::new();
    /// for step in 1..=400 {
    ///     let mut observation = Observation::at_step(Step(step), Bytes(1 << 30));
    ///     observation.t = Some(Seconds(0.05 * step as f64));
    ///     curves.observe(&observation);
    /// }
    /// let speed = Speed::of(&curves, XUnit::Step).unwrap();
    /// assert!((speed.value - 20.0).abs() < 0.01);
    /// ```
    pub fn of(curves: &RunCurves, unit: XUnit) -> Option<Speed> {
        pace(curves, unit)
            .map(|pace| Speed::from_pace(pace, student_quantile(1.0 - 0.5 * ALPHA, FREEDOM)))
    }

    /// From the time that a step takes. A ratio has an interval that is even in its logarithm.
    pub(crate) fn from_pace(pace: Estimate, quantile: f64) -> Speed {
        let log = pace.logarithm();
        let speed = |log: f64| (-log).exp();
        Speed {
            value: speed(log.value),
            low: speed(log.value + quantile * log.error),
            high: speed(log.value - quantile * log.error),
        }
    }
}

/// The time that a step takes.
pub(crate) fn pace(curves: &RunCurves, unit: XUnit) -> Option<Estimate> {
    if unit == XUnit::Second {
        return None;
    }
    let places = || curves.spans().filter_map(|span| span.place(unit));
    let first = places().map(|place| place.low).reduce(f64::min)?;
    let last = places().map(|place| place.high).reduce(f64::max)?;
    let stretch = Stretch {
        from: X(last - NEWER_PART * (last - first)),
        to: X(last),
    };
    Blocks::of(curves, unit, stretch).pace()
}

#[cfg(test)]
mod tests {
    use leveloff_model::units::{Bytes, Seconds, Step};

    use super::*;
    use crate::observation::Observation;

    fn speed(time_of: impl Fn(u64) -> f64) -> Option<Speed> {
        let mut curves = RunCurves::new();
        for step in 1..=800 {
            let mut observation = Observation::at_step(Step(step), Bytes(1 << 30));
            observation.t = Some(Seconds(time_of(step)));
            curves.observe(&observation);
        }
        Speed::of(&curves, XUnit::Step)
    }

    #[test]
    fn a_slow_start_does_not_count() {
        let speed = speed(|step| 60.0 + 0.1 * step as f64).unwrap();
        assert!((speed.value - 10.0).abs() < 0.01, "{speed:?}");
        assert!(speed.high - speed.low < 0.01, "{speed:?}");
    }

    #[test]
    fn an_uneven_pace_has_a_wide_interval() {
        let uneven = speed(|step| 0.1 * step as f64 + 4.0 * (step as f64 / 40.0).sin()).unwrap();
        assert!(uneven.low < 10.0 && uneven.high > 10.0, "{uneven:?}");
        assert!(uneven.high - uneven.low > 0.5, "{uneven:?}");
    }

    #[test]
    fn a_long_end_at_the_last_step_does_not_count() {
        let mut curves = RunCurves::new();
        for sample in 1..=900_u64 {
            let mut observation = Observation::at_step(Step(sample.min(800)), Bytes(1 << 30));
            observation.t = Some(Seconds(0.1 * sample as f64));
            curves.observe(&observation);
        }
        let speed = Speed::of(&curves, XUnit::Step).unwrap();
        assert!((speed.value - 10.0).abs() < 0.1, "{speed:?}");
    }

    #[test]
    fn time_has_no_speed_and_neither_has_a_run_without_time() {
        let mut curves = RunCurves::new();
        for step in 1..=100 {
            curves.observe(&Observation::at_step(Step(step), Bytes(1 << 30)));
        }
        assert_eq!(Speed::of(&curves, XUnit::Step), None);
        assert_eq!(Speed::of(&curves, XUnit::Second), None);
    }
}
