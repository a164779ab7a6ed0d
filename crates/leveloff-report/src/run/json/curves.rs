//! The curves, folded: each span with its lowest and its highest value.

use leveloff_classifier::run_curves::{CurveSpan, RunCurves};
use leveloff_model::folded::Reach;
use serde_json::Value;

use super::unit;
use crate::json::{list, merged, object};

/// Lists of equal length, one item for each span; where nothing is counted, x is the time.
pub(super) fn row(curves: &RunCurves, x_is_time: bool) -> Value {
    let x = |span: &CurveSpan| if x_is_time { span.t } else { span.x };
    object! {
        samples: curves.samples(),
        samples_per_span: curves.stride(),
        x: ends(curves, x),
        t_s: ends(curves, |span| span.t),
        series: list(curves.series(), |series| {
            let head = object! { name: series.name(), unit: unit(series) };
            merged([head, ends(curves, |span| span.value(series))])
        }),
    }
}

fn ends(curves: &RunCurves, reach: impl Fn(&CurveSpan) -> Option<Reach>) -> Value {
    let ends: Vec<Option<Reach>> = curves.spans().map(reach).collect();
    let all = |end: fn(Reach) -> f64| -> Vec<Option<f64>> {
        ends.iter().map(|reach| reach.map(end)).collect()
    };
    object! {
        low: all(|reach| reach.low),
        high: all(|reach| reach.high),
    }
}
