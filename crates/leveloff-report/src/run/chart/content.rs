//! What a chart of one run shows, independent of how it is drawn.

use std::ops::Range;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_curves::{RunEvent, Series};
use leveloff_classifier::verdict::{Subject, Verdict};
use leveloff_model::folded::Reach;
use leveloff_text::memory_axis::MemoryAxis;
use leveloff_text::outlook::{ForecastPoint, Outlook};
use leveloff_text::verdict::is_from_the_start;
use leveloff_text::x_position::XPosition;

use super::columns::{Column, columns};
use super::stack::{Layer, stack};
use crate::run_report::RunReport;

/// A sum of RSS is shown when it says so many times more than the run holds.
const RSS_MISLEADS: f64 = 1.5;

/// What reaches higher than so many times the run's own memory would press its curve flat.
const FITS: f64 = 4.0;

/// A limit up to so many times the run's highest amount is shown, though nothing grows towards it.
const LIMIT_IS_NEAR: f64 = 1.6;

/// The limit is shown if it is met within so many times the length that was seen.
const FORESEEN: f64 = 1.5;

/// Where the limit is further away, a hint of where it leads is enough.
const HINT: f64 = 0.25;

/// Who holds it is shown from zero up, which would hide growth of less than this share.
const SEEN_FROM_ZERO: f64 = 0.25;

/// ... unless others than the biggest role hold so much of it.
const OTHERS_MATTER: f64 = 0.15;

/// How much there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// The run's memory, who holds it, and what a sum of RSS says.
    ForAll,
    /// The run's memory alone: dots have no colours.
    ForMemory,
}

/// What is to be seen.
pub(crate) struct ChartContent<'a> {
    /// Of this run.
    pub(crate) report: &'a RunReport,
    /// Over steps or time.
    pub(crate) unit: XUnit,
    /// From the first to the last place shown.
    pub(crate) x: Range<f64>,
    /// Amounts.
    pub(crate) amounts: MemoryAxis,
    /// The samples.
    pub(crate) columns: Vec<Column>,
    /// Who holds it: the biggest at the bottom.
    pub(crate) stack: Vec<Layer>,
    /// Whether the sum of RSS is shown.
    pub(crate) shows_rss: bool,
    /// Its peak, where it is too high to be drawn and only the number is printed.
    pub(crate) rss_above: Option<f64>,
    /// What the verdict says of the curve.
    pub(crate) outlook: Outlook,
    /// The limit, if it is shown.
    pub(crate) limit: Option<f64>,
    /// Where growth began or ended, and what that is called.
    pub(crate) mark: Option<(f64, String)>,
}

impl ChartContent<'_> {
    /// What is to be seen of a run in so many columns, with numbers on so many rows; `None` when
    /// nothing was measured.
    pub(crate) fn of(
        report: &RunReport,
        most_columns: usize,
        rows: u16,
        room: Room,
    ) -> Option<ChartContent<'_>> {
        let run = &report.verdict;
        let unit = run.x_unit;
        let columns = columns(&report.curves, unit, most_columns);
        let seen = columns.first()?.x..columns.last()?.x;
        let outlook = Outlook::of(run, |x| Some(x.0));
        let x = seen.start..end(&seen, &outlook);
        let memory = reach(&columns, Series::Memory)?;
        let rss = reach(&columns, Series::RssSum).filter(|_| room == Room::ForAll);
        let misleading = rss.filter(|rss| rss.high > RSS_MISLEADS * memory.high);
        let shows_rss = misleading.is_some_and(|rss| rss.high <= FITS * memory.high);
        let rss_above = misleading.map(|rss| rss.high).filter(|_| !shows_rss);
        let limit = outlook.limit;
        let limit = limit.filter(|limit| is_shown(*limit, memory, &outlook, &x));
        let mut stack = stack(report, &columns);
        if room == Room::ForMemory || !is_worth_a_stack(report, memory) {
            stack.clear();
        }
        let shown = [
            misleading.filter(|_| shows_rss),
            limit.map(Reach::at),
            ahead(&outlook, &x, limit),
            (!stack.is_empty()).then_some(Reach::at(0.0)),
        ];
        let shown = shown.into_iter().flatten().fold(memory, Reach::and);
        Some(ChartContent {
            report,
            unit,
            amounts: MemoryAxis::new(shown, rows),
            stack,
            mark: mark(report).filter(|(at, _)| x.contains(at)),
            x,
            columns,
            shows_rss,
            rss_above,
            outlook,
            limit,
        })
    }

    /// What happened within what is shown, and where.
    pub(crate) fn events(&self) -> impl Iterator<Item = (f64, &RunEvent)> {
        let place = |event: &RunEvent| match self.unit {
            XUnit::Second => event.t.map(|t| t.0),
            _ => event.x.map(|x| x.0),
        };
        let events = self.report.curves.events().iter();
        events
            .filter_map(move |event| Some((place(event)?, event)))
            .filter(|(x, _)| self.x.contains(x))
    }
}

/// The amounts that a series has over all columns.
fn reach(columns: &[Column], series: Series) -> Option<Reach> {
    let values = columns
        .iter()
        .filter_map(|column| column.span.value(series));
    values.reduce(Reach::and)
}

/// Growth that would hardly be seen from zero up is worth more than who holds how much.
fn is_worth_a_stack(report: &RunReport, memory: Reach) -> bool {
    let roles = report.series.iter();
    let roles = roles.filter(|part| matches!(part.series, Series::Role(_)));
    let amounts: Vec<f64> = roles.map(|part| part.settled.0).collect();
    let biggest = amounts.iter().copied().fold(0.0, f64::max);
    let others = amounts.iter().sum::<f64>() - biggest;
    memory.low <= (1.0 - SEEN_FROM_ZERO) * memory.high || others >= OTHERS_MATTER * memory.high
}

/// How far the chart goes: up to the limit, if growth meets it soon.
fn end(seen: &Range<f64>, outlook: &Outlook) -> f64 {
    let length = seen.end - seen.start;
    // One moment has a place, but no length.
    let room = if length > 0.0 { 0.02 * length } else { 1.0 };
    let Some(crossing) = outlook
        .forecast
        .as_ref()
        .and_then(|forecast| forecast.crossing.as_ref())
    else {
        return seen.end + room;
    };
    if crossing.x <= seen.end + FORESEEN * length {
        crossing.x.max(seen.end) + 0.06 * length
    } else {
        seen.end + HINT * length
    }
}

fn is_shown(limit: f64, memory: Reach, outlook: &Outlook, x: &Range<f64>) -> bool {
    let crossing = outlook
        .forecast
        .as_ref()
        .and_then(|forecast| forecast.crossing.as_ref());
    let is_met = crossing.is_some_and(|crossing| x.contains(&crossing.x));
    is_met || limit <= LIMIT_IS_NEAR * memory.high
}

/// The amounts that are expected within what is shown.
fn ahead(outlook: &Outlook, x: &Range<f64>, limit: Option<f64>) -> Option<Reach> {
    let forecast = outlook.forecast.as_ref()?;
    let top = height_at(forecast.from, forecast.to, x.end);
    Some(Reach::at(limit.map_or(top, |limit| top.min(limit))))
}

/// How high a line through two spots is at a place.
pub(crate) fn height_at(from: ForecastPoint, to: ForecastPoint, x: f64) -> f64 {
    let length = to.x - from.x;
    if length <= 0.0 {
        return to.memory;
    }
    from.memory + (to.memory - from.memory) * (x - from.x) / length
}

/// Where growth began, or since when it is level.
fn mark(report: &RunReport) -> Option<(f64, String)> {
    let run = &report.verdict;
    let judgement = match run.decisive {
        Subject::Memory => &run.judgement,
        _ if run.verdict.is_level() => &run.memory,
        _ => &run.judgement,
    };
    let place = |x| XPosition::new(x, run.x_unit);
    match run.verdict {
        Verdict::Level(_) if is_from_the_start(judgement) => None,
        Verdict::Level(_) => judgement
            .level_since_x
            .map(|x| (x.0, format!("level since {}", place(x)))),
        Verdict::Leak(_) | Verdict::WarmingUp => judgement
            .onset_x
            .map(|x| (x.0, format!("grows since {}", place(x)))),
        Verdict::Undecided => None,
    }
}
