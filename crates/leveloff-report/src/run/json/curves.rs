//! The curves, folded: for each span from where to where it reaches.

use leveloff_classifier::run_curves::{CurveSpan, RunCurves};
use leveloff_model::folded::Reach;
use serde::Serialize;

use crate::verdict::json::Plain;

/// Lists of equal length, a place for each span.
#[derive(Serialize)]
pub(super) struct CurvesRow {
    samples: u64,
    samples_per_span: u64,
    x: Ends,
    t_s: Ends,
    series: Vec<SeriesRow>,
}

#[derive(Serialize)]
struct SeriesRow {
    name: &'static str,
    unit: &'static str,
    #[serde(flatten)]
    ends: Ends,
}

#[derive(Serialize)]
struct Ends {
    low: Vec<Plain>,
    high: Vec<Plain>,
}

impl CurvesRow {
    /// The curves; where nothing is counted, x is the time.
    pub(super) fn of(curves: &RunCurves, x_is_time: bool) -> CurvesRow {
        let x = |span: &CurveSpan| if x_is_time { span.t } else { span.x };
        let series = curves.series().into_iter().map(|series| SeriesRow {
            name: series.name(),
            unit: if series.is_bytes() { "bytes" } else { "count" },
            ends: Ends::of(curves, |span| span.value(series)),
        });
        CurvesRow {
            samples: curves.samples(),
            samples_per_span: curves.stride(),
            x: Ends::of(curves, x),
            t_s: Ends::of(curves, |span| span.t),
            series: series.collect(),
        }
    }
}

impl Ends {
    fn of(curves: &RunCurves, reach: impl Fn(&CurveSpan) -> Option<Reach>) -> Ends {
        let ends: Vec<Option<Reach>> = curves.spans().map(reach).collect();
        let low = ends.iter().map(|reach| Plain(reach.map(|reach| reach.low)));
        let high = ends
            .iter()
            .map(|reach| Plain(reach.map(|reach| reach.high)));
        Ends {
            low: low.collect(),
            high: high.collect(),
        }
    }
}
