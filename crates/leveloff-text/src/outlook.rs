//! What the verdict says of the curve, laid on a chart: what was fitted, where that leads, the
//! limit. Nothing is estimated here. A chart may have another x axis than the
//! verdict; its caller converts the positions.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::{Amount, AmountPerX, X};
use leveloff_classifier::verdict::{Judgement, Rate, Risk, RunVerdict, Verdict};

use crate::x_position::XPosition;

/// An amount at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForecastPoint {
    /// A step, or seconds.
    pub x: f64,
    /// Bytes.
    pub memory: f64,
}

/// What the verdict says of the curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outlook {
    /// The line that was fitted, from its beginning to its end.
    pub fit: Option<(ForecastPoint, ForecastPoint)>,
    /// Where it leads, if it grows.
    pub forecast: Option<Forecast>,
    /// The limit, in bytes.
    pub limit: Option<f64>,
}

/// Where growth leads.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// From here,
    pub from: ForecastPoint,
    /// through here,
    pub to: ForecastPoint,
    /// at the fastest through here,
    pub fastest: ForecastPoint,
    /// at the slowest through here.
    pub slowest: ForecastPoint,
    /// Where the limit is met, if there is one.
    pub crossing: Option<LimitCrossing>,
}

/// Where growth meets the limit.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitCrossing {
    /// There,
    pub x: f64,
    /// at the fastest,
    pub earliest: f64,
    /// and at the slowest, if it must.
    pub latest: Option<f64>,
    /// `step 168`
    pub words: String,
}

impl Outlook {
    /// What this verdict says, with `place` to convert its positions to those of the chart.
    pub fn of(verdict: &RunVerdict, place: impl Fn(X) -> Option<f64>) -> Outlook {
        Outlook {
            fit: fit(verdict, &place),
            forecast: forecast(verdict, &place),
            limit: verdict.limit.map(|limit| limit.0 as f64),
        }
    }
}

/// Growth from its onset, or a level since it began. A line through too few points is none.
fn fit(
    verdict: &RunVerdict,
    place: &impl Fn(X) -> Option<f64>,
) -> Option<(ForecastPoint, ForecastPoint)> {
    let memory = &verdict.memory;
    let (_, end) = memory.span?;
    let level = memory.level?;
    let (x, begin) = match growth(memory) {
        Some(_) => (memory.onset_x?, memory.onset_level?),
        None => (memory.level_since_x?, level),
    };
    let spot = |x: X, Amount(memory): Amount| {
        let x = place(x)?;
        Some(ForecastPoint { x, memory })
    };
    Some((spot(x, begin)?, spot(end, level)?))
}

fn forecast(verdict: &RunVerdict, place: &impl Fn(X) -> Option<f64>) -> Option<Forecast> {
    let rate = growth(&verdict.memory)?;
    let (begin, end) = verdict.memory.span?;
    let Amount(level) = verdict.memory.level?;
    // Without a limit it leads anywhere: as far again as was seen is further than the chart shows.
    let far = end + X(2.0 * (end - begin).0.max(1.0));
    let risk = verdict.risk;
    let through = |met: Option<X>, rate: AmountPerX| {
        let (x, memory) = match (met, risk) {
            (Some(met), Some(risk)) => (met, risk.limit.0 as f64),
            _ => (far, level + (rate * (far - end)).0),
        };
        let x = place(x)?;
        Some(ForecastPoint { x, memory })
    };
    Some(Forecast {
        from: ForecastPoint {
            x: place(end)?,
            memory: level,
        },
        to: through(risk.map(|risk| risk.at_x), rate.value)?,
        fastest: through(risk.map(|risk| risk.earliest_x), rate.high)?,
        slowest: through(risk.and_then(|risk| risk.latest_x), rate.low)?,
        crossing: risk.and_then(|risk| crossing(&risk, verdict.x_unit, place)),
    })
}

fn crossing(risk: &Risk, unit: XUnit, place: &impl Fn(X) -> Option<f64>) -> Option<LimitCrossing> {
    Some(LimitCrossing {
        x: place(risk.at_x)?,
        earliest: place(risk.earliest_x)?,
        latest: risk.latest_x.and_then(place),
        words: XPosition::new(risk.at_x, unit).to_string(),
    })
}

/// How fast it grows, if it does.
fn growth(memory: &Judgement) -> Option<Rate> {
    let grows = matches!(memory.verdict, Verdict::WarmingUp | Verdict::Leak(_));
    memory.rate.filter(|rate| grows && rate.value.0 > 0.0)
}
