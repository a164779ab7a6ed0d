//! The curves and what is marked on them, as the JSON that the chart and the CSV are made of.
//!
//! Compact, since a long run has thousands of spans of many series: an array for each series, bytes as
//! whole numbers, and the highest of each span only where it is not the lowest as well.

use std::borrow::Cow;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_curves::{CurveSpan, RunEvent, RunEventKind, Series};
use leveloff_classifier::verdict::{Kind, Subject, Verdict};
use leveloff_model::folded::Reach;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_text::subject::series_words;
use serde::Serialize;

use super::marks::Marks;
use crate::run_report::RunReport;

/// The whole, as JSON.
pub fn json(report: &RunReport) -> String {
    let page = PageData {
        x_unit: report.verdict.x_unit.name(),
        runs: vec![RunData::of(report, "")],
    };
    serde_json::to_string(&page).expect("keys are text, and numbers that are none are null")
}

/// What a page's chart is made of: one run, or several beside each other.
#[derive(Serialize)]
pub struct PageData<'a> {
    /// What `x` counts.
    pub x_unit: &'static str,
    /// The runs, each with a family of colours.
    pub runs: Vec<RunData<'a>>,
}

/// One run.
#[derive(Serialize)]
pub struct RunData<'a> {
    /// How it is called where there are several.
    name: &'a str,
    /// Runs of one side have the same colours.
    family: usize,
    samples: u64,
    /// Samples that a point stands for.
    stride: u64,
    /// Seconds for one of x.
    pace: Option<f64>,
    x: Option<Column>,
    t: Option<Column>,
    series: Vec<SeriesData>,
    events: Vec<EventData<'a>>,
    marks: Marks,
}

/// The lowest and, where that differs anywhere, the highest of each span.
#[derive(Serialize)]
struct Column {
    low: Vec<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Vec<Number>>,
}

#[derive(Serialize)]
struct SeriesData {
    name: &'static str,
    label: &'static str,
    group: &'static str,
    unit: &'static str,
    /// Whether it is drawn before anybody asks for it.
    shown: bool,
    #[serde(flatten)]
    values: Column,
}

#[derive(Serialize)]
struct EventData<'a> {
    x: Number,
    t: Number,
    kind: &'static str,
    label: Cow<'a, str>,
}

/// Whole where it is, at most to the thousandth; null for what is none.
#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// A whole one, as it is written shortest.
    Whole(i64),
    /// Any other.
    Fraction(f64),
    /// Not known.
    None,
}

impl Number {
    /// To the thousandth.
    pub fn of(value: Option<f64>) -> Number {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return Number::None;
        };
        let rounded = (value * 1000.0).round() / 1000.0;
        if rounded.fract() == 0.0 && rounded.abs() < 9e15 {
            Number::Whole(rounded as i64)
        } else {
            Number::Fraction(rounded)
        }
    }
}

impl<'a> RunData<'a> {
    /// A run of a comparison: only the whole is drawn before anybody asks for more.
    pub fn of_side(report: &'a RunReport, name: &'a str, family: usize) -> RunData<'a> {
        let mut data = RunData::of(report, name);
        data.family = family;
        for series in &mut data.series {
            series.shown = series.name == Series::Memory.name();
        }
        data
    }

    /// A run under a name.
    pub fn of(report: &'a RunReport, name: &'a str) -> RunData<'a> {
        let curves = &report.curves;
        let spans: Vec<&CurveSpan> = curves.spans().collect();
        // A source may count nothing but seconds.
        let is_time = report.verdict.x_unit == XUnit::Second;
        let count = |span: &CurveSpan| span.x.filter(|_| !is_time);
        let time = |span: &CurveSpan| span.t.or(span.x.filter(|_| is_time));
        RunData {
            name,
            family: 0,
            samples: curves.samples(),
            stride: curves.stride(),
            pace: report.verdict.pace.map(|pace| pace.0),
            x: Column::of(&spans, count),
            t: Column::of(&spans, time),
            series: all_series(report, &spans),
            events: curves.events().iter().map(EventData::of).collect(),
            marks: Marks::of(report),
        }
    }
}

impl Column {
    /// `None` when nothing is known at all.
    fn of(spans: &[&CurveSpan], value: impl Fn(&CurveSpan) -> Option<Reach>) -> Option<Column> {
        let reaches: Vec<Option<Reach>> = spans.iter().map(|span| value(span)).collect();
        let end = |end: fn(Reach) -> f64| -> Vec<Number> {
            let ends = reaches.iter().map(|reach| Number::of(reach.map(end)));
            ends.collect()
        };
        let (low, high) = (end(|reach| reach.low), end(|reach| reach.high));
        let is_known = reaches.iter().any(Option::is_some);
        is_known.then(|| Column {
            high: (low != high).then_some(high),
            low,
        })
    }
}

fn all_series(report: &RunReport, spans: &[&CurveSpan]) -> Vec<SeriesData> {
    let data = |series: Series| {
        Some(SeriesData {
            name: series.name(),
            label: series_words(series),
            group: group(series),
            unit: if series.is_bytes() { "bytes" } else { "count" },
            shown: is_shown(series, report),
            values: Column::of(spans, |span| span.value(series))?,
        })
    };
    report
        .curves
        .series()
        .into_iter()
        .filter_map(data)
        .collect()
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
        | TrainingCounter::TensorCounts => "counts",
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

/// What was counted inside explains the memory; one click away, unless people look for it first.
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
    let peak = |series| report.curves.peak(series).unwrap_or(0.0);
    let share = peak(series) / peak(Series::Memory).max(1.0);
    match series {
        Series::Memory | Series::Gpu => true,
        Series::Counter(fact) => is_inside_shown(fact),
        Series::RssSum => (1.0 / SAME..SQUEEZES).contains(&share),
        Series::Role(_) => (SEEN..SAME).contains(&share),
        Series::Kind(Kind::Descriptors) => report.verdict.decisive == Subject::Descriptors,
        Series::Kind(Kind::DevShm) => {
            let grows = report.verdict.verdict != Verdict::Level;
            grows && report.verdict.decisive == Subject::DevShm
        }
        Series::Kind(_) => false,
    }
}

impl<'a> EventData<'a> {
    fn of(event: &'a RunEvent) -> EventData<'a> {
        let (kind, label) = match &event.kind {
            RunEventKind::Evaluation => ("evaluation", "evaluation".into()),
            RunEventKind::Checkpoint => ("checkpoint", "checkpoint".into()),
            RunEventKind::Epoch(epoch) => ("epoch", format!("epoch {epoch}").into()),
            RunEventKind::Named(name) => ("named", name.into()),
        };
        EventData {
            x: Number::of(event.x),
            t: Number::of(event.t),
            kind,
            label,
        }
    }
}
