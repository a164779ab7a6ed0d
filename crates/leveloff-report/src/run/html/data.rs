//! The curves and what is marked on them, as the JSON that the chart and the CSV are made of.
//!
//! Compact, since a long run has thousands of spans of many series: an array for each series, bytes as
//! whole numbers, and the highest of each span only where it differs from the lowest.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_curves::{CurveSpan, RunEvent, RunEventKind, Series};
use leveloff_classifier::verdict::{Kind, Subject};
use leveloff_model::folded::Reach;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_text::steps;
use leveloff_text::subject::series_words;
use serde_json::Value;

use super::marks;
use crate::json::{list, merged, object, to_thousandth};
use crate::run_report::RunReport;

/// The data of a page about one run.
pub fn json(report: &RunReport) -> String {
    page(report.verdict.x_unit, vec![run(report, "", 0)])
}

/// The data of a page: one run, or several in one chart.
pub fn page(unit: XUnit, runs: Vec<Value>) -> String {
    object! { x_unit: unit.name(), runs: runs }.to_string()
}

/// A run of a comparison: only its whole memory is drawn at first.
pub fn run_of_side(report: &RunReport, name: &str, family: usize) -> Value {
    let mut data = run(report, name, family);
    for series in data["series"].as_array_mut().into_iter().flatten() {
        series["shown"] = (series["name"] == Series::Memory.name()).into();
    }
    data
}

/// A run of a trial: its whole memory and nothing else, because there may be dozens.
pub fn run_of_trial(report: &RunReport, name: &str, family: usize) -> Value {
    let mut data = run_of_side(report, name, family);
    if let Some(series) = data["series"].as_array_mut() {
        series.retain(|series| series["name"] == Series::Memory.name());
    }
    data["events"] = Value::Array(Vec::new());
    data
}

/// A run under a name, with the colours of a family: those of one side are the same.
fn run(report: &RunReport, name: &str, family: usize) -> Value {
    let curves = &report.curves;
    let spans: Vec<&CurveSpan> = curves.spans().collect();
    // A source may count nothing but seconds.
    let is_time = report.verdict.x_unit == XUnit::Second;
    let count = |span: &CurveSpan| span.x.filter(|_| !is_time);
    let time = |span: &CurveSpan| span.t.or(span.x.filter(|_| is_time));
    object! {
        name: name,
        family: family,
        samples: report.verdict.points,
        stride: curves.stride(),
        pace: report.verdict.pace.map(|pace| pace.0),
        x: column(&spans, count),
        t: column(&spans, time),
        series: all_series(report, &spans),
        events: list(curves.events(), event),
        marks: marks::data(report),
    }
}

/// The lowest and, where that differs anywhere, the highest of each span; `None` when nothing is known.
fn column(spans: &[&CurveSpan], value: impl Fn(&CurveSpan) -> Option<Reach>) -> Option<Value> {
    let reaches: Vec<Option<Reach>> = spans.iter().map(|span| value(span)).collect();
    let end = |end: fn(Reach) -> f64| -> Vec<Option<f64>> {
        let ends = reaches
            .iter()
            .map(|reach| reach.map(end).map(to_thousandth));
        ends.collect()
    };
    let (low, high) = (end(|reach| reach.low), end(|reach| reach.high));
    if reaches.iter().all(Option::is_none) {
        return None;
    }
    Some(match low == high {
        true => object! { low: low },
        false => object! { low: low, high: high },
    })
}

fn all_series(report: &RunReport, spans: &[&CurveSpan]) -> Vec<Value> {
    let data = |series: Series| {
        let head = object! {
            name: series.name(),
            label: series_words(series),
            group: group(series),
            unit: if series.is_bytes() { "bytes" } else { "count" },
            shown: is_shown(series, report),
        };
        let values = column(spans, |span| span.value(series))?;
        Some(merged([head, values]))
    };
    let all = report.curves.series().into_iter();
    all.filter_map(data).collect()
}

/// What stands together in the legend; a group of its own also has a chart of its own.
fn group(series: Series) -> &'static str {
    match series {
        Series::Memory | Series::RssSum => "whole",
        Series::Role(_) => "role",
        Series::Kind(Kind::Descriptors) => "descriptors",
        Series::Kind(_) => "kind",
        Series::Counter(fact) => inside_group(fact),
        Series::Gpu => "gpu",
    }
}

/// What is in host memory stands with the memory, the rest where it can be compared.
fn inside_group(fact: TrainingCounter) -> &'static str {
    match fact {
        TrainingCounter::Tensors | TrainingCounter::DeviceTensors => "tensors",
        TrainingCounter::GcObjects
        | TrainingCounter::PythonBlocks
        | TrainingCounter::TensorCounts
        | TrainingCounter::Samples
        | TrainingCounter::Tokens
        | TrainingCounter::Episodes
        | TrainingCounter::Compilations
        | TrainingCounter::Recompilations
        | TrainingCounter::InputShapes
        | TrainingCounter::OpenFigures
        | TrainingCounter::MallocCounts => "counts",
        TrainingCounter::CudaReserved
        | TrainingCounter::CudaAllocated
        | TrainingCounter::DeviceTensorBytes => "gpu",
        TrainingCounter::TensorBytes
        | TrainingCounter::MallocUsed
        | TrainingCounter::MallocFree
        | TrainingCounter::Trimmed
        | TrainingCounter::Pinned => "inside",
    }
}

/// Counters explain the memory. They are one click away, except those that users look for first.
fn is_inside_shown(fact: TrainingCounter) -> bool {
    matches!(
        fact,
        TrainingCounter::Tensors | TrainingCounter::CudaReserved
    )
}

/// A role or a sum that says nothing new is not drawn over the whole.
fn is_shown(series: Series, report: &RunReport) -> bool {
    const SEEN: f64 = 0.02;
    const SAME: f64 = 0.98;
    const SQUEEZES: f64 = 3.0;
    let peak = |series| report.curves.peak(series).unwrap_or_default().0;
    let share = peak(series) / peak(Series::Memory).max(1.0);
    match series {
        Series::Memory | Series::Gpu => true,
        Series::Counter(fact) => is_inside_shown(fact),
        Series::RssSum => (1.0 / SAME..SQUEEZES).contains(&share),
        Series::Role(_) => (SEEN..SAME).contains(&share),
        Series::Kind(Kind::Descriptors) => report.verdict.decisive == Subject::Descriptors,
        Series::Kind(Kind::DevShm) => {
            let grows = !report.verdict.verdict.is_level();
            grows && report.verdict.decisive == Subject::DevShm
        }
        Series::Kind(_) => false,
    }
}

fn event(event: &RunEvent) -> Value {
    let (kind, label) = match &event.kind {
        RunEventKind::Evaluation => ("evaluation", "evaluation".to_owned()),
        RunEventKind::Checkpoint => ("checkpoint", "checkpoint".to_owned()),
        RunEventKind::Epoch(epoch) => ("epoch", format!("epoch {epoch}")),
        RunEventKind::Named(name) => ("named", name.clone()),
        RunEventKind::Clock(counter) => ("named", steps::new_clock(counter)),
    };
    object! {
        x: event.x.map(|x| to_thousandth(x.0)),
        t: event.t.map(|t| to_thousandth(t.0)),
        kind: kind,
        label: label,
    }
}
