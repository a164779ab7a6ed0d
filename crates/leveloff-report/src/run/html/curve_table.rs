//! The curves as a table, for those who read rather than look.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_curves::{CurveSpan, Series};
use leveloff_classifier::units::X;
use leveloff_model::folded::Reach;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Seconds;
use leveloff_text::number::thousands;
use leveloff_text::subject::series_words;
use leveloff_text::verdict::bytes;
use leveloff_text::x_position::XPosition;

use crate::html::markup::Markup;
use crate::run_report::RunReport;

/// Rows that are read at one sitting.
const ROWS: usize = 24;

/// Columns that fit beside the place and the time.
const COLUMNS: usize = 6;

/// Writes it, folded away.
pub fn write(report: &RunReport, page: &mut Markup) {
    let spans: Vec<&CurveSpan> = report.curves.spans().collect();
    let series = columns(report);
    let mut head = vec![("", "At")];
    head.extend(series.iter().map(|series| ("n", series_words(*series))));
    page.raw(
        "<details class=\"curve-table\"><summary id=\"curves\">The curves as a table</summary>\n",
    );
    page.table(
        "curves",
        "Rows are spaced evenly over the run. A row that stands for several samples has the lowest and the \
         highest of them.",
        &head,
    );
    for span in evenly(&spans) {
        let cell = |series: &Series| {
            let value = span
                .value(*series)
                .map(|reach| amount_words(*series, reach));
            value.unwrap_or_default()
        };
        let cells: Vec<String> = series.iter().map(cell).collect();
        page.row(&position(span, report.verdict.x_unit), &cells);
    }
    page.end_table().raw("</details>\n");
}

/// The whole and what is largest beside it.
fn columns(report: &RunReport) -> Vec<Series> {
    let mut series = report.curves.series();
    let size = |series: &Series| match series {
        Series::Memory => f64::INFINITY,
        Series::Counter(TrainingCounter::Tensors) => f64::MAX,
        series if !series.is_bytes() => 0.0,
        series => report.curves.peak(*series).unwrap_or_default().0,
    };
    series.sort_by(|a, b| size(b).total_cmp(&size(a)));
    series.truncate(COLUMNS);
    series.sort();
    series
}

/// First and last included.
fn evenly<'a>(spans: &[&'a CurveSpan]) -> Vec<&'a CurveSpan> {
    if spans.len() <= ROWS {
        return spans.to_vec();
    }
    let last = spans.len() - 1;
    (0..ROWS)
        .map(|row| spans[row * last / (ROWS - 1)])
        .collect()
}

fn position(span: &CurveSpan, unit: XUnit) -> String {
    let count = span.x.filter(|_| unit != XUnit::Second);
    match (count, span.t.or(span.x)) {
        (Some(x), _) => XPosition::new(X(x.high), unit).to_string(),
        (None, Some(t)) => Seconds(t.high).to_string(),
        (None, None) => "?".to_owned(),
    }
}

fn amount_words(series: Series, reach: Reach) -> String {
    let one = |value: f64| {
        if series.is_bytes() {
            bytes(value).to_string()
        } else {
            thousands(value.max(0.0).round() as u64)
        }
    };
    let (low, high) = (one(reach.low), one(reach.high));
    if low == high {
        high
    } else {
        format!("{low} … {high}")
    }
}
