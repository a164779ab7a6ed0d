//! Memory that comes and goes faster than the view can show: the lowest points of longer and longer stretches.
//!
//! A sawtooth of three points a tooth has no cycles that could be followed, and its points look like noise that would hide a
//! leak. The lowest point of each stretch that is longer than a tooth is always about the same: what the run holds on to.

use crate::curve::View;
use crate::units::Amount;
use crate::verdict::{Judgement, Reason};

use super::prepared_curve::PreparedCurve;
use super::{judge_prepared, prepared};

/// Points that are joined to a stretch.
const WIDTHS: [usize; 3] = [4, 8, 16];

/// Fewer stretches show no trend.
const FEWEST_STRETCHES: usize = 12;

/// The low points are less noisy than the points by this factor at least. Those of noise that comes and goes at random gain less.
const QUIETER: f64 = 4.0;

/// A level of the low points, where the points themselves are too noisy for one.
pub fn level(view: &View, points: &PreparedCurve<'_>) -> Option<Judgement> {
    WIDTHS.iter().find_map(|&width| {
        let (x, y) = low_points(view, width)?;
        let low = prepared(view, &x, &y, points.unit, points.quantity, &points.facts);
        if QUIETER * low.noise.sigma > points.noise.sigma {
            return None;
        }
        let judgement = judge_prepared(&PreparedCurve {
            material: low.material.max(points.material),
            ..low
        });
        judgement.verdict.is_level().then_some(Judgement {
            reason: Reason::Returns,
            noise: Amount(points.noise.sigma),
            ..judgement
        })
    })
}

/// The lowest point of each stretch of so many, counted from the newest one back.
fn low_points(view: &View, width: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let points = view.len();
    let first = points % width;
    (points / width >= FEWEST_STRETCHES).then(|| {
        let stretches = (first..points).step_by(width);
        stretches
            .map(|from| {
                let lowest = (from..from + width)
                    .min_by(|&a, &b| view.low[a].total_cmp(&view.low[b]))
                    .unwrap_or(from);
                (view.x[lowest], view.low[lowest])
            })
            .unzip()
    })
}
