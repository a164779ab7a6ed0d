//! The samples of a run, no more of them than there is room for.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_curves::{CurveSpan, RunCurves};
use leveloff_model::folded::{Fold, Reach};

/// Samples that stand at one place of a chart, with their lowest and highest values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// The place.
    pub(crate) x: f64,
    /// The samples.
    pub(crate) span: CurveSpan,
}

/// Where on a chart over `unit` a span is; `None` for what happened before anything was counted.
pub(crate) fn place(span: &CurveSpan, unit: XUnit) -> Option<Reach> {
    match unit {
        XUnit::Second => span.t,
        _ => span.x,
    }
}

/// The run from left to right, in at most about so many columns. Samples that would stand in the same
/// one are folded, and keep their extremes.
pub(crate) fn columns(curves: &RunCurves, unit: XUnit, most: usize) -> Vec<Column> {
    let mut spans: Vec<(Reach, CurveSpan)> = curves
        .spans()
        .filter_map(|span| Some((place(span, unit)?, *span)))
        .collect();
    // A run that is resumed goes back a little.
    spans.sort_by(|(one, _), (other, _)| one.low.total_cmp(&other.low));
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Vec::new();
    };
    let width = (last.0.high - first.0.low) / most.max(1) as f64;
    let mut folded: Vec<(Reach, CurveSpan)> = Vec::new();
    for (at, span) in spans {
        match folded.last_mut() {
            Some((begun, so_far)) if at.low < begun.low + width => {
                *begun = begun.and(at);
                so_far.extend_by(&span);
            }
            _ => folded.push((at, span)),
        }
    }
    let column = |(at, span): (Reach, CurveSpan)| Column {
        x: at.middle(),
        span,
    };
    folded.into_iter().map(column).collect()
}
