//! What the verdict says of the curve, laid on the chart: what was fitted, where that leads, the
//! limit. Nothing is estimated here.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::verdict::{Judgement, Rate, Risk, RunVerdict, Verdict};
use leveloff_model::units::Seconds;
use leveloff_report::place::Place;

use crate::history::{Axis, History};

/// An amount at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spot {
    /// A step, or seconds.
    pub(super) x: f64,
    /// Bytes.
    pub(super) memory: f64,
}

/// What the verdict says of the curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Outlook {
    /// The line that was fitted, from its beginning to its end.
    pub(super) fit: Option<(Spot, Spot)>,
    /// Where it leads, if it grows.
    pub(super) forecast: Option<Forecast>,
    /// The limit, in bytes.
    pub(super) limit: Option<f64>,
}

/// Where growth leads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Forecast {
    /// From here,
    pub(super) from: Spot,
    /// through here,
    pub(super) to: Spot,
    /// at the fastest through here,
    pub(super) fastest: Spot,
    /// at the slowest through here.
    pub(super) slowest: Spot,
    /// Where the limit is met, if there is one.
    pub(super) meeting: Option<Meeting>,
}

/// Where growth meets the limit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meeting {
    /// There,
    pub(super) x: f64,
    /// at the fastest,
    pub(super) earliest: f64,
    /// and at the slowest, if it must.
    pub(super) latest: Option<f64>,
    /// `step 168`
    pub(super) words: String,
}

/// Finds the places of a verdict on the chart, which may be drawn over something else.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ruler<'a> {
    history: &'a History,
    axis: Axis,
    pace: Option<Seconds>,
}

impl Outlook {
    /// What this verdict says.
    pub(super) fn of(verdict: &RunVerdict, ruler: &Ruler<'_>) -> Outlook {
        Outlook {
            fit: fit(verdict, ruler),
            forecast: forecast(verdict, ruler),
            limit: verdict.limit.map(|limit| limit.0 as f64),
        }
    }
}

impl<'a> Ruler<'a> {
    pub(super) fn new(history: &'a History, axis: Axis, verdict: Option<&RunVerdict>) -> Ruler<'a> {
        Ruler {
            history,
            axis,
            pace: verdict.and_then(|verdict| verdict.pace),
        }
    }

    /// Where on the chart this is; `None` when nobody can tell.
    pub(super) fn place(&self, x: f64, unit: XUnit) -> Option<f64> {
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

/// Growth from its onset, or a level since it began. A line through too few points is none.
fn fit(verdict: &RunVerdict, ruler: &Ruler<'_>) -> Option<(Spot, Spot)> {
    let memory = &verdict.memory;
    let (_, end) = memory.span?;
    let level = memory.level?;
    let (x, begin) = match growth(memory) {
        Some(_) => (memory.onset_x?, memory.onset_level?),
        None => (memory.level_since_x?, level),
    };
    let spot = |x: f64, memory: f64| {
        let x = ruler.place(x, verdict.x_unit)?;
        Some(Spot { x, memory })
    };
    Some((spot(x, begin)?, spot(end, level)?))
}

fn forecast(verdict: &RunVerdict, ruler: &Ruler<'_>) -> Option<Forecast> {
    let rate = growth(&verdict.memory)?;
    let (begin, end) = verdict.memory.span?;
    let level = verdict.memory.level?;
    // Without a limit it leads anywhere: as far again as was seen is further than the chart shows.
    let far = end + 2.0 * (end - begin).max(1.0);
    let risk = verdict.risk;
    let through = |met: Option<f64>, rate: f64| {
        let (x, memory) = match (met, risk) {
            (Some(met), Some(risk)) => (met, risk.limit.0 as f64),
            _ => (far, level + rate * (far - end)),
        };
        let x = ruler.place(x, verdict.x_unit)?;
        Some(Spot { x, memory })
    };
    Some(Forecast {
        from: Spot {
            x: ruler.place(end, verdict.x_unit)?,
            memory: level,
        },
        to: through(risk.map(|risk| risk.at_x), rate.value)?,
        fastest: through(risk.map(|risk| risk.earliest_x), rate.high)?,
        slowest: through(risk.and_then(|risk| risk.latest_x), rate.low)?,
        meeting: risk.and_then(|risk| meeting(&risk, verdict.x_unit, ruler)),
    })
}

fn meeting(risk: &Risk, unit: XUnit, ruler: &Ruler<'_>) -> Option<Meeting> {
    Some(Meeting {
        x: ruler.place(risk.at_x, unit)?,
        earliest: ruler.place(risk.earliest_x, unit)?,
        latest: risk.latest_x.and_then(|latest| ruler.place(latest, unit)),
        words: Place::new(risk.at_x, unit).to_string(),
    })
}

/// How fast it grows, if it does.
fn growth(memory: &Judgement) -> Option<Rate> {
    let grows = matches!(memory.verdict, Verdict::WarmingUp | Verdict::Leak(_));
    memory.rate.filter(|rate| grows && rate.value > 0.0)
}
