//! Where on the chart a place of the verdict is.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::units::Seconds;

use crate::history::{Axis, History};

/// Finds the places of a verdict on the chart, which may be drawn over something else.
#[derive(Debug, Clone, Copy)]
pub(super) struct AxisMap<'a> {
    history: &'a History,
    axis: Axis,
    pace: Option<Seconds>,
}

impl<'a> AxisMap<'a> {
    pub(super) fn new(
        history: &'a History,
        axis: Axis,
        verdict: Option<&RunVerdict>,
    ) -> AxisMap<'a> {
        AxisMap {
            history,
            axis,
            pace: verdict.and_then(|verdict| verdict.pace),
        }
    }

    /// Its position on the chart's axis; `None` where that is unknown.
    pub(super) fn position(&self, x: f64, unit: XUnit) -> Option<f64> {
        match (self.axis, unit) {
            (Axis::Time, XUnit::Second) => Some(x),
            (Axis::Steps, XUnit::Second) => None,
            (Axis::Steps, _) => Some(x),
            (Axis::Time, _) => {
                let reached = self.history.time_of(x).map(|t| t.0);
                reached.or_else(|| self.ahead(x))
            }
        }
    }

    /// When a step that was not reached yet will be.
    fn ahead(&self, step: f64) -> Option<f64> {
        let newest = self.history.last()?;
        Some(newest.t.0 + (step - newest.step?) * self.pace?.0)
    }
}
