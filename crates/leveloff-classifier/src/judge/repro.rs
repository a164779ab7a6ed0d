//! A short series from a loop that was written to reproduce a leak.
//!
//! Such a loop warms up within its first calls. What grows straight through all of the others leaks.

use crate::curve::View;
use crate::observation::XUnit;
use crate::stats::{LineFit, median};
use crate::units::{Amount, X};
use crate::verdict::{Grade, Judgement, Rate, Reason, Shape, Verdict};

use super::growth::ALPHA;
use super::{Facts, Quantity, judgements, material};

/// Longer series are judged as runs are.
const MOST_POINTS: usize = 400;

/// The first points are the warmup: one in so many, and at least one.
const WARMUP_ONE_IN: usize = 5;

/// Fewer points behind the warmup show no course.
const FEWEST: usize = 4;

/// This share of the steps goes up.
const MOSTLY_UP: f64 = 0.8;

/// The newer half grows at this share of the older half's rate.
const GOES_ON: f64 = 0.55;

/// Residuals are below this share of the growth.
const FITS: f64 = 0.1;

/// Steps of equal size vary by less than this share.
const EQUAL_STEPS: f64 = 0.05;

/// Growth in equal steps is no noise, also when it is as small as this share of the level.
const SMALLEST: f64 = 0.002;

/// With fewer points, growth in unequal steps is only suspected.
const FEWEST_FOR_EARLY: usize = 8;

/// The judgement of a series that grows straight behind its first points.
pub fn reproduced(
    view: &View,
    unit: XUnit,
    quantity: Quantity,
    facts: &Facts,
) -> Option<Judgement> {
    let from = (view.len() / WARMUP_ONE_IN).max(1);
    if view.len() < from + FEWEST || view.len() > MOST_POINTS {
        return None;
    }
    let (x, y) = (&view.x[from..], &view.y[from..]);
    let line = LineFit::over(x, y, 0.0);
    let level = median(&mut y[y.len() - y.len().div_ceil(4)..].to_vec()).abs();
    let grown = line.slope * (x[x.len() - 1] - x[0]);
    let equal = has_equal_steps(x, y);
    let matters = grown > material(level, quantity) || (equal && grown > SMALLEST * level);
    let leaks = matters && goes_on(x, y) && line.residual < FITS * grown;
    let grade = match equal || y.len() >= FEWEST_FOR_EARLY {
        true => Grade::Early,
        false => Grade::Suspected,
    };
    leaks.then(|| Judgement {
        verdict: Verdict::Leak(grade),
        shape: Shape::Linear,
        rate: Some(Rate::around(line.slope, line.slope_reach(ALPHA))),
        onset_x: Some(X(x[0])),
        onset_level: Some(Amount(line.at(x[0]))),
        level: Some(Amount(line.at(x[x.len() - 1]))),
        decided_at_x: Some(X(x[FEWEST - 1])),
        decide_by: None,
        reason: Reason::Reproduced,
        material: Amount(material(level, quantity)),
        ..judgements::too_few(view, unit, quantity, facts)
    })
}

/// Whether nearly every step goes up, and the newer half as the older.
fn goes_on(x: &[f64], y: &[f64]) -> bool {
    let ups = y.windows(2).filter(|pair| pair[1] > pair[0]).count();
    let half = y.len() / 2;
    let older = LineFit::over(&x[..=half], &y[..=half], 0.0).slope;
    let newer = LineFit::over(&x[half..], &y[half..], 0.0).slope;
    ups as f64 >= MOSTLY_UP * (y.len() - 1) as f64 && older > 0.0 && newer >= GOES_ON * older
}

/// Whether it grows by the same amount at each step.
fn has_equal_steps(x: &[f64], y: &[f64]) -> bool {
    let rates: Vec<f64> = (1..y.len())
        .map(|i| (y[i] - y[i - 1]) / (x[i] - x[i - 1]))
        .collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let spread = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
    mean > 0.0 && (spread / rates.len() as f64).sqrt() < EQUAL_STEPS * mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;

    fn judged(values: &[f64]) -> Option<Grade> {
        let mut curve = Curve::of_finished();
        for (call, value) in values.iter().enumerate() {
            curve.push(call as f64, value * 1e6);
        }
        let judgement = reproduced(
            &curve.view(),
            XUnit::Sample,
            Quantity::Memory,
            &Facts::default(),
        )?;
        judgement.verdict.grade()
    }

    #[test]
    fn six_equal_steps_are_evidence() {
        assert_eq!(
            judged(&[66.0, 106.0, 146.0, 186.0, 226.0, 266.0]),
            Some(Grade::Early)
        );
    }

    #[test]
    fn unequal_steps_are_suspected_until_there_are_enough() {
        let few = [100.0, 130.0, 152.0, 181.0, 202.0, 233.0];
        assert_eq!(judged(&few), Some(Grade::Suspected));
        let more: Vec<f64> = (0..12)
            .map(|i| few[i % 6] + 133.0 * (i / 6) as f64)
            .collect();
        assert_eq!(judged(&more), Some(Grade::Early));
    }

    #[test]
    fn what_stops_or_slows_down_is_none() {
        assert_eq!(
            judged(&[34.9, 37.4, 37.4, 37.4, 37.4, 37.4, 37.4, 37.4]),
            None
        );
        assert_eq!(
            judged(&[38.0, 46.0, 47.9, 54.9, 55.2, 55.2, 55.3, 55.4]),
            None
        );
        assert_eq!(
            judged(&[100.0, 140.0, 160.0, 170.0, 175.0, 177.0, 178.0, 178.5]),
            None
        );
    }
}
