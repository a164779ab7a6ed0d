//! Headline, axes, the limit, and what the verdict says of the curve.

use leveloff_classifier::observation::XUnit;
use leveloff_model::process::printable;
use leveloff_text::outlook::{Forecast, ForecastPoint};
use leveloff_text::progress_axis;
use leveloff_text::verdict::{Headline, bytes, growth_with_interval, short_risk_words};
use leveloff_text::x_position::XPosition;
use plotters::backend::DrawingBackend;

use super::content::{ChartContent, height_at};
use super::frame::Frame;
use super::palette;
use super::sheet::{Point, Sheet, Side};
use crate::run_report::RunReport;

/// Pixels that a digit takes, as the axis counts its room.
const DIGIT: f64 = 9.0;

/// Longer names are cut in their middle.
const NAME_LETTERS: usize = 48;

/// The title: the verdict.
pub(super) fn title(report: &RunReport) -> String {
    Headline::of(&report.verdict).whole()
}

/// Title, how fast it grows, and what was seen.
pub(super) fn headline<B: DrawingBackend>(report: &RunReport, sheet: &mut Sheet<B>) {
    let left = 24.0;
    sheet.text(
        &title(report),
        (left, 30.0),
        Side::Right,
        24.0,
        palette::INK,
    );
    let mut facts = vec![shortened(&printable(report.input.as_bytes()))];
    facts.extend(growth_with_interval(&report.verdict));
    facts.extend(Headline::of(&report.verdict).facts());
    sheet.text(
        &facts.join(" · "),
        (left, 60.0),
        Side::Right,
        15.0,
        palette::QUIET,
    );
}

/// Said where a curve would be.
pub(super) fn nothing<B: DrawingBackend>(sheet: &mut Sheet<B>) {
    let middle = (
        f64::from(super::SIZE.0) / 2.0,
        f64::from(super::SIZE.1) / 2.0,
    );
    sheet.text(
        "nothing was measured",
        middle,
        Side::Middle,
        18.0,
        palette::QUIET,
    );
}

/// Round amounts and places, and lines through the amounts.
pub(super) fn grid<B: DrawingBackend>(
    content: &ChartContent<'_>,
    frame: &Frame,
    sheet: &mut Sheet<B>,
) {
    let (left, right) = (frame.across.start, frame.across.end);
    let bottom = frame.down.end;
    for (amount, text) in &content.amounts.numbers {
        let y = frame.row(*amount);
        sheet.path(&[(left, y), (right, y)], palette::GRID, 1.0);
        sheet.text(text, (left - 10.0, y), Side::Left, 14.0, palette::QUIET);
    }
    let caption = content.amounts.caption();
    sheet.text(
        &caption,
        (left - 54.0, frame.down.start - 16.0),
        Side::Right,
        14.0,
        palette::QUIET,
    );
    let columns = ((right - left) / DIGIT) as u16;
    for (x, text) in progress_axis::places(content.unit, &content.x, columns) {
        let x = frame.column(x);
        sheet.path(&[(x, bottom), (x, bottom + 5.0)], palette::QUIET, 1.0);
        sheet.text(
            &text,
            (x, bottom + 18.0),
            Side::Middle,
            14.0,
            palette::QUIET,
        );
    }
    sheet.path(&[(left, bottom), (right, bottom)], palette::QUIET, 1.0);
    sheet.text(
        axis_words(content.unit),
        (right, bottom + 40.0),
        Side::Left,
        14.0,
        palette::QUIET,
    );
}

/// What was fitted, and where that leads.
pub(super) fn outlook<B: DrawingBackend>(
    content: &ChartContent<'_>,
    frame: &Frame,
    sheet: &mut Sheet<B>,
) {
    let point = |spot: ForecastPoint| frame.at(spot.x, spot.memory);
    if let Some((from, to)) = content.outlook.fit {
        sheet.dashes(&[point(from), point(to)], palette::FIT, 2.0, (9.0, 4.0));
    }
    let Some(forecast) = &content.outlook.forecast else {
        return;
    };
    let [main, fastest, slowest] = [forecast.to, forecast.fastest, forecast.slowest]
        .map(|to| leading(forecast.from, to, content, frame));
    let mut fan = vec![point(forecast.from), fastest, main];
    if main.0 < slowest.0 {
        // Along the limit, from where it is met to where the chart ends.
        fan.push((slowest.0, main.1));
    }
    fan.push(slowest);
    sheet.area(&fan, palette::FIT, 0.12);
    sheet.dashes(&[point(forecast.from), main], palette::FIT, 2.0, (3.0, 5.0));
    tell_meeting(content, forecast, main, frame, sheet);
}

/// The limit, with its amount.
pub(super) fn limit<B: DrawingBackend>(
    content: &ChartContent<'_>,
    frame: &Frame,
    sheet: &mut Sheet<B>,
) {
    let Some(limit) = content.limit else {
        return;
    };
    let y = frame.row(limit);
    sheet.path(
        &[(frame.across.start, y), (frame.across.end, y)],
        palette::LIMIT,
        2.0,
    );
    let words = format!("limit {}", bytes(limit));
    sheet.text(
        &words,
        (frame.across.start + 8.0, y - 12.0),
        Side::Right,
        14.0,
        palette::LIMIT,
    );
}

/// Where growth began or ended.
pub(super) fn mark<B: DrawingBackend>(
    content: &ChartContent<'_>,
    frame: &Frame,
    sheet: &mut Sheet<B>,
) {
    let Some((at, words)) = &content.mark else {
        return;
    };
    let x = frame.column(*at);
    let (top, bottom) = (frame.down.start, frame.down.end);
    sheet.dashes(&[(x, top), (x, bottom)], palette::INK, 1.0, (2.0, 4.0));
    let side = if x < f64::from(super::SIZE.0) * 0.75 {
        Side::Right
    } else {
        Side::Left
    };
    let beside = if side == Side::Right { 7.0 } else { -7.0 };
    sheet.text(words, (x + beside, bottom - 30.0), side, 14.0, palette::INK);
}

/// Where a line leaves the chart, or meets the limit.
fn leading(
    from: ForecastPoint,
    to: ForecastPoint,
    content: &ChartContent<'_>,
    frame: &Frame,
) -> Point {
    let x = to.x.min(content.x.end);
    frame.at(x, height_at(from, to, x))
}

fn tell_meeting<B: DrawingBackend>(
    content: &ChartContent<'_>,
    forecast: &Forecast,
    end: Point,
    frame: &Frame,
    sheet: &mut Sheet<B>,
) {
    let run = &content.report.verdict;
    let (Some(crossing), Some(risk)) = (&forecast.crossing, &run.risk) else {
        return;
    };
    if content.x.contains(&crossing.x) {
        let place =
            XPosition::new(risk.at_x, run.x_unit).with_range(risk.earliest_x, risk.latest_x);
        sheet.disc(end, 5.0, palette::FIT);
        let words = format!("reached at {place}");
        // Above the limit's line, whose own words stand on the left.
        let at = (end.0.max(frame.across.start + 420.0), end.1 - 14.0);
        sheet.text(&words, at, Side::Left, 14.0, palette::INK);
    } else {
        let [_, words] = short_risk_words(risk, run);
        sheet.text(
            &words,
            (frame.across.end, frame.down.start - 16.0),
            Side::Left,
            14.0,
            palette::INK,
        );
    }
}

fn axis_words(unit: XUnit) -> &'static str {
    match unit {
        XUnit::Step => "training step",
        XUnit::Iteration => "iteration",
        XUnit::Epoch => "epoch",
        XUnit::Sample => "sample",
        XUnit::Second => "time",
        XUnit::Timestep | XUnit::Episode | XUnit::TrainingSample | XUnit::Token => unit.name(),
    }
}

fn shortened(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= NAME_LETTERS {
        return name.to_owned();
    }
    let half = NAME_LETTERS / 2;
    let (head, tail) = (&letters[..half], &letters[letters.len() - half..]);
    format!("{}…{}", String::from_iter(head), String::from_iter(tail))
}
