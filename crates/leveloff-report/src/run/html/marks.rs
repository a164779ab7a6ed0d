//! What is drawn besides the curves: limit, level, the growth that was fitted, and where it leads.
//! All of it is in the verdict; the chart only connects the ends.

use leveloff_classifier::units::{Amount, X};
use leveloff_classifier::verdict::{Judgement, Verdict};
use leveloff_text::verdict::{is_from_the_start, short_risk_words};
use leveloff_text::x_position::XPosition;
use serde::Serialize;

use super::data::Number;
use crate::run_report::RunReport;

/// Marks of one run, at counts and bytes.
#[derive(Serialize)]
pub struct Marks {
    limit: Option<Line>,
    level: Option<Fitted>,
    growth: Option<Fitted>,
    forecast: Option<Forecast>,
    since: Option<Since>,
}

#[derive(Serialize)]
struct Line {
    y: Number,
    label: String,
}

/// A straight line between two places.
#[derive(Serialize)]
struct Fitted {
    from: [Number; 2],
    to: [Number; 2],
    label: String,
}

#[derive(Serialize)]
struct Forecast {
    at: [Number; 2],
    earliest: Number,
    latest: Number,
    /// Seconds from the newest sample.
    in_s: Number,
    label: String,
}

#[derive(Serialize)]
struct Since {
    x: Number,
    label: String,
}

impl Marks {
    /// Those of a run.
    pub fn of(report: &RunReport) -> Marks {
        let run = &report.verdict;
        Marks {
            limit: run.limit.map(|limit| Line {
                y: Number::of(Some(limit.0 as f64)),
                label: format!("limit {limit}"),
            }),
            level: level(&run.memory),
            growth: growth(&run.memory),
            forecast: forecast(report),
            since: since(report),
        }
    }
}

fn level(memory: &Judgement) -> Option<Fitted> {
    let (level, since, (_, last)) = (memory.level?, memory.level_since_x?, memory.span?);
    let is_level = memory.verdict == Verdict::Level;
    is_level.then(|| Fitted {
        from: place(since, level),
        to: place(last, level),
        label: format!("level {}", level.bytes()),
    })
}

/// From where the growth began to its newest fitted value.
fn growth(memory: &Judgement) -> Option<Fitted> {
    let (onset, low) = (memory.onset_x?, memory.onset_level?);
    let (level, (_, last)) = (memory.level?, memory.span?);
    let grows = matches!(memory.verdict, Verdict::Leak(_) | Verdict::WarmingUp);
    grows.then(|| Fitted {
        from: place(onset, low),
        to: place(last, level),
        label: "fitted growth".to_owned(),
    })
}

fn forecast(report: &RunReport) -> Option<Forecast> {
    let run = &report.verdict;
    let risk = run.risk.as_ref()?;
    let [_, label] = short_risk_words(risk, run);
    Some(Forecast {
        at: place(risk.at_x, risk.limit.into()),
        earliest: Number::of(Some(risk.earliest_x.0)),
        latest: Number::of(risk.latest_x.map(|x| x.0)),
        in_s: Number::of(risk.in_time.map(|time| time.0)),
        label,
    })
}

/// Where what the verdict is about began.
fn since(report: &RunReport) -> Option<Since> {
    let run = &report.verdict;
    let (x, what) = match run.verdict {
        Verdict::Level if is_from_the_start(&run.judgement) => return None,
        Verdict::Level => (run.judgement.level_since_x?, "level since"),
        Verdict::Leak(_) | Verdict::WarmingUp => (run.judgement.onset_x?, "growing since"),
        Verdict::Undecided => return None,
    };
    Some(Since {
        x: Number::of(Some(x.0)),
        label: format!("{what} {}", XPosition::new(x, run.x_unit)),
    })
}

fn place(x: X, y: Amount) -> [Number; 2] {
    [Number::of(Some(x.0)), Number::of(Some(y.0.round()))]
}
