//! What is drawn besides the curves: limit, level, the fitted growth, and where it leads. All of it is in
//! the verdict; the chart only connects the ends.

use leveloff_classifier::units::{Amount, X};
use leveloff_classifier::verdict::{Judgement, RunVerdict, Verdict};
use leveloff_text::verdict::{is_from_the_start, short_risk_words};
use leveloff_text::x_position::XPosition;
use serde_json::Value;

use crate::json::{object, to_thousandth};
use crate::run_report::RunReport;

/// The marks of a run, at counts and bytes.
pub fn data(report: &RunReport) -> Value {
    let run = &report.verdict;
    object! {
        limit: run.limit.map(|limit| object! { y: limit.0, label: format!("limit {limit}") }),
        level: level(&run.memory),
        growth: growth(&run.memory),
        forecast: forecast(run),
        since: since(run),
    }
}

fn level(memory: &Judgement) -> Option<Value> {
    let (level, since, (_, last)) = (memory.level?, memory.level_since_x?, memory.span?);
    let is_level = memory.verdict.is_level();
    is_level.then(|| {
        object! {
            from: point(since, level),
            to: point(last, level),
            label: format!("level {}", level.bytes()),
        }
    })
}

/// From where the growth began to its newest fitted value.
fn growth(memory: &Judgement) -> Option<Value> {
    let (onset, low) = (memory.onset_x?, memory.onset_level?);
    let (level, (_, last)) = (memory.level?, memory.span?);
    let grows = matches!(memory.verdict, Verdict::Leak(_) | Verdict::WarmingUp);
    grows.then(|| {
        object! {
            from: point(onset, low),
            to: point(last, level),
            label: "fitted growth",
        }
    })
}

/// Where growth meets the limit; `in_s` counts from the newest sample.
fn forecast(run: &RunVerdict) -> Option<Value> {
    let risk = run.risk.as_ref()?;
    let [_, label] = short_risk_words(risk, run);
    Some(object! {
        at: point(risk.at_x, risk.limit.into()),
        earliest: to_thousandth(risk.earliest_x.0),
        latest: risk.latest_x.map(|x| to_thousandth(x.0)),
        in_s: risk.in_time.map(|time| to_thousandth(time.0)),
        label: label,
    })
}

/// Where growth or the level began.
fn since(run: &RunVerdict) -> Option<Value> {
    let (x, what) = match run.verdict {
        Verdict::Level(_) if is_from_the_start(&run.judgement) => return None,
        Verdict::Level(_) => (run.judgement.level_since_x?, "level since"),
        Verdict::Leak(_) | Verdict::WarmingUp => (run.judgement.onset_x?, "growing since"),
        Verdict::Undecided => return None,
    };
    let label = format!("{what} {}", XPosition::new(x, run.x_unit));
    Some(object! { x: to_thousandth(x.0), label: label })
}

fn point(x: X, y: Amount) -> [f64; 2] {
    [to_thousandth(x.0), y.0.round()]
}
