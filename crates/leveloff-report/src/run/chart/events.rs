//! What happened in the training, as small marks.

use leveloff_classifier::run_curves::RunEventKind;
use plotters::backend::DrawingBackend;
use plotters::style::RGBColor;

use super::content::ChartContent;
use super::frame::Frame;
use super::palette;
use super::sheet::{Point, Sheet};

/// How an event is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Triangle,
    Square,
    Tick,
    Diamond,
}

/// Small marks along the lower border.
pub(super) fn draw<B: DrawingBackend>(
    content: &ChartContent<'_>,
    frame: &Frame,
    sheet: &mut Sheet<B>,
) {
    let mut drawn: Vec<(Shape, f64)> = Vec::new();
    for (x, event) in content.events() {
        let (shape, colour, _) = look(&event.kind);
        let x = frame.column(x);
        let is_covered = drawn
            .iter()
            .any(|(other, at)| *other == shape && (x - at).abs() < 3.0);
        if !is_covered {
            draw_shape(shape, (x, frame.down.end - 8.0), colour, sheet);
            drawn.push((shape, x));
        }
    }
}

/// How an event is marked, and what it is called.
pub(super) fn look(kind: &RunEventKind) -> (Shape, RGBColor, &'static str) {
    match kind {
        RunEventKind::Evaluation => (Shape::Triangle, palette::EVALUATION, "evaluation"),
        RunEventKind::Checkpoint => (Shape::Square, palette::CHECKPOINT, "checkpoint"),
        RunEventKind::Epoch(_) => (Shape::Tick, palette::INK, "epoch begins"),
        RunEventKind::Named(_) | RunEventKind::Clock(_) => {
            (Shape::Diamond, palette::NAMED_EVENT, "other event")
        }
    }
}

/// Draws a mark around a place.
pub(super) fn draw_shape<B: DrawingBackend>(
    shape: Shape,
    (x, y): Point,
    colour: RGBColor,
    sheet: &mut Sheet<B>,
) {
    match shape {
        Shape::Triangle => sheet.area(
            &[(x, y - 5.0), (x + 5.0, y + 4.0), (x - 5.0, y + 4.0)],
            colour,
            1.0,
        ),
        Shape::Square => sheet.fill((x - 4.0, y - 4.0), (x + 4.0, y + 4.0), colour),
        Shape::Tick => sheet.path(&[(x, y - 7.0), (x, y + 7.0)], colour, 2.0),
        Shape::Diamond => {
            sheet.area(
                &[(x, y - 5.0), (x + 5.0, y), (x, y + 5.0), (x - 5.0, y)],
                colour,
                1.0,
            );
        }
    }
}
