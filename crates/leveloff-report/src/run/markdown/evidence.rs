//! The numbers themselves, in a dozen rows.

use std::collections::BTreeSet;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_curves::{CurveSpan, Series};
use leveloff_classifier::units::X;
use leveloff_model::folded::Reach;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::ByteDelta;
use leveloff_text::number::thousands;
use leveloff_text::progress_axis;
use leveloff_text::subject::series_words;
use leveloff_text::verdict::bytes;
use leveloff_text::x_position::{XPosition, extent};

use super::document::Document;
use crate::run::chart::columns::place;
use crate::run_report::RunReport;

/// Rows at most.
const ROWS: usize = 12;

/// Of what is counted inside, what a reader of an issue asks for first: a table must fit the page.
const SHOWN_COUNTERS: [TrainingCounter; 3] = [
    TrainingCounter::Tensors,
    TrainingCounter::MallocUsed,
    TrainingCounter::CudaReserved,
];

/// Writes the table.
pub(super) fn write(report: &RunReport, page: &mut Document) {
    let rows = rows(report);
    if rows.is_empty() {
        page.paragraph("Nothing was measured.");
        return;
    }
    let columns = columns(report, &rows);
    let head: Vec<&str> = columns.iter().map(|column| column.0).collect();
    let cells =
        (0..rows.len()).map(|row| columns.iter().map(|column| column.1[row].clone()).collect());
    page.table(&head, &cells.collect::<Vec<_>>());
    let stride = report.curves.stride();
    if stride > 1 {
        let stride = thousands(stride);
        page.paragraph(&format!(
            "A row stands for {stride} samples: half-way between their lowest and highest values."
        ));
    }
}

/// Spans evenly over the run, the first, the last, and where growth began or ended.
fn rows(report: &RunReport) -> Vec<(f64, CurveSpan)> {
    let run = &report.verdict;
    let at = |span: &CurveSpan| place(span, run.x_unit).map(Reach::middle);
    let spans: Vec<(f64, CurveSpan)> = report
        .curves
        .spans()
        .filter_map(|span| Some((at(span)?, *span)))
        .collect();
    let (Some((first, _)), Some((last, _))) = (spans.first(), spans.last()) else {
        return Vec::new();
    };
    let evenly = (0..ROWS - 1).map(|i| first + (last - first) * i as f64 / (ROWS - 2) as f64);
    let turn = run.judgement.level_since_x.or(run.judgement.onset_x);
    let turn = turn.map(|x| x.0);
    let nearest = |x: f64| {
        let distance = |(_, (at, _)): &(usize, &(f64, CurveSpan))| (at - x).abs();
        let spans = spans.iter().enumerate();
        let nearest = spans.min_by(|one, other| distance(one).total_cmp(&distance(other)));
        nearest.map(|(index, _)| index)
    };
    let ends = [0, spans.len() - 1];
    let chosen: BTreeSet<usize> = evenly.chain(turn).filter_map(nearest).chain(ends).collect();
    let mut rows: Vec<(f64, CurveSpan)> = chosen.into_iter().map(|index| spans[index]).collect();
    // A training that has ended stays at its last step during teardown: the last row counts.
    rows.dedup_by(|later, earlier| {
        let is_same = later.0 == earlier.0;
        if is_same {
            *earlier = *later;
        }
        is_same
    });
    rows
}

/// The columns that are known: name, and a cell for each row.
fn columns(report: &RunReport, rows: &[(f64, CurveSpan)]) -> Vec<(&'static str, Vec<String>)> {
    let unit = report.verdict.x_unit;
    let x = rows.iter().map(|(x, _)| number(*x, unit)).collect();
    let mut columns = vec![(
        if unit == XUnit::Second {
            "time"
        } else {
            unit.name()
        },
        x,
    )];
    let times: Vec<Option<f64>> = rows
        .iter()
        .map(|(_, span)| Some(span.t?.middle()))
        .collect();
    if unit != XUnit::Second && times.iter().all(Option::is_some) {
        let times = times
            .into_iter()
            .flatten()
            .map(|t| progress_axis::written(XUnit::Second, t));
        columns.push(("time", times.collect()));
    }
    columns.push(("memory", amounts(rows, Series::Memory)));
    columns.push(("since the row before", growth(rows, unit)));
    let counters = SHOWN_COUNTERS.map(Series::Counter);
    let beside = [Series::RssSum].into_iter().chain(counters);
    for series in beside.chain([Series::Gpu]) {
        if rows.iter().any(|(_, span)| span.value(series).is_some()) {
            columns.push((series_words(series), amounts(rows, series)));
        }
    }
    columns
}

fn amounts(rows: &[(f64, CurveSpan)], series: Series) -> Vec<String> {
    let written = |value: f64| match series.is_bytes() {
        true => bytes(value).to_string(),
        false => thousands(value.max(0.0).round() as u64),
    };
    let cell = |(_, span): &(f64, CurveSpan)| {
        span.value(series)
            .map_or_else(String::new, |reach| written(reach.middle()))
    };
    rows.iter().map(cell).collect()
}

/// Always with what it is counted over: `+1.5 GiB in 10 steps`.
fn growth(rows: &[(f64, CurveSpan)], unit: XUnit) -> Vec<String> {
    let value = |span: &CurveSpan| span.value(Series::Memory).map(Reach::middle);
    let between = |pair: &[(f64, CurveSpan)]| {
        let change = value(&pair[1].1)? - value(&pair[0].1)?;
        let over = extent(X(pair[1].0 - pair[0].0), unit);
        Some(format!("{} in {over}", ByteDelta(change.round() as i64)))
    };
    let changes = rows
        .windows(2)
        .map(|pair| between(pair).unwrap_or_default());
    std::iter::once(String::new()).chain(changes).collect()
}

/// A place without the word that heads its column.
fn number(x: f64, unit: XUnit) -> String {
    match unit {
        XUnit::Second => progress_axis::written(unit, x),
        _ => {
            let place = XPosition::new(X(x), unit).to_string();
            place
                .strip_prefix(unit.name())
                .unwrap_or(&place)
                .trim()
                .to_owned()
        }
    }
}
