//! What each line and colour stands for.

use leveloff_classifier::run_curves::RunEventKind;
use leveloff_model::folded::Reach;
use leveloff_text::verdict::bytes;
use plotters::backend::DrawingBackend;
use plotters::style::RGBColor;

use super::content::ChartContent;
use super::events::{self, Shape, draw_shape};
use super::palette;
use super::sheet::{Point, Sheet, Side};

/// Where the first row stands, and how far below it the next.
const FIRST_ROW: f64 = 92.0;
const ROW: f64 = 22.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 1166.0;
const SIZE: f64 = 14.0;

/// How something is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sample {
    Line(RGBColor),
    Dashes(RGBColor, f64),
    Area(RGBColor),
    Event(Shape, RGBColor),
}

/// What is shown, most telling first.
pub(super) fn entries(content: &ChartContent<'_>) -> Vec<(Sample, String)> {
    let mut entries = vec![(Sample::Line(palette::MEMORY), memory_words(content))];
    let layers = content.stack.iter();
    entries.extend(layers.map(|layer| (Sample::Area(layer.colour), layer.name.to_owned())));
    let dashed = Sample::Dashes(palette::RSS, 1.5);
    if content.shows_rss {
        entries.push((dashed, "sum of RSS".to_owned()));
    }
    if let Some(rss) = content.rss_above {
        let words = format!("sum of RSS: {}, far above this chart", bytes(rss));
        entries.push((dashed, words));
    }
    if content.outlook.forecast.is_some() {
        entries.push((
            Sample::Dashes(palette::FIT, 2.0),
            "fitted growth, and where it leads".to_owned(),
        ));
    } else if content.outlook.fit.is_some() {
        entries.push((Sample::Dashes(palette::FIT, 2.0), "level".to_owned()));
    }
    let kinds = [
        RunEventKind::Evaluation,
        RunEventKind::Checkpoint,
        RunEventKind::Epoch(0),
        RunEventKind::Named(String::new()),
    ];
    for kind in &kinds {
        let is_there =
            |event: &RunEventKind| std::mem::discriminant(event) == std::mem::discriminant(kind);
        if content.events().any(|(_, event)| is_there(&event.kind)) {
            let (shape, colour, words) = events::look(kind);
            entries.push((Sample::Event(shape, colour), words.to_owned()));
        }
    }
    entries
}

/// Draws them, and returns where the last row ends.
pub(super) fn draw<B: DrawingBackend>(entries: &[(Sample, String)], sheet: &mut Sheet<B>) -> f64 {
    let (mut x, mut y) = (LEFT, FIRST_ROW);
    for (sample, words) in entries {
        let width = 34.0 + sheet.width(words, SIZE);
        if x > LEFT && x + width > RIGHT {
            (x, y) = (LEFT, y + ROW);
        }
        draw_sample(*sample, (x, y), sheet);
        sheet.text(words, (x + 32.0, y), Side::Right, SIZE, palette::QUIET);
        x += width + 20.0;
    }
    y + ROW / 2.0
}

fn memory_words(content: &ChartContent<'_>) -> String {
    let is_single = |reach: Option<Reach>| reach.is_none_or(|reach| reach.low == reach.high);
    let memory = leveloff_classifier::run_curves::Series::Memory;
    let is_line = content
        .columns
        .iter()
        .all(|column| is_single(column.span.value(memory)));
    if is_line {
        "memory".to_owned()
    } else {
        "memory, lowest to highest".to_owned()
    }
}

fn draw_sample<B: DrawingBackend>(sample: Sample, (x, y): Point, sheet: &mut Sheet<B>) {
    let line = [(x, y), (x + 26.0, y)];
    match sample {
        Sample::Line(colour) => sheet.path(&line, colour, 3.0),
        Sample::Dashes(colour, width) => sheet.dashes(&line, colour, width, (6.0, 4.0)),
        Sample::Area(colour) => {
            let corners = [
                (x, y - 6.0),
                (x + 26.0, y - 6.0),
                (x + 26.0, y + 6.0),
                (x, y + 6.0),
            ];
            sheet.area(&corners, colour, 0.6);
        }
        Sample::Event(shape, colour) => draw_shape(shape, (x + 16.0, y), colour, sheet),
    }
}
