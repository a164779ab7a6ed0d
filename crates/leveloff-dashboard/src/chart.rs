//! The chart: true memory over steps or time, what was fitted to it, and where that leads.
//!
//! Read in this order: `scene` (what is to be seen), `ruler` (where the places of a verdict are),
//! `frame` (where the parts stand), `plot` (where a moment and an amount are), `curve` (the samples),
//! `canvas` (dots), `overlay` (words and lines), `sheet` (what is put first stays). The numbers of the
//! axes and what the verdict says of the curve are those of the reports.

mod canvas;
mod curve;
mod events;
mod frame;
mod overlay;
mod plot;
mod ruler;
mod scene;
mod sheet;
mod style;

pub use style::{Charset, ChartStyle};

use leveloff_text::memory_axis::MemoryAxis;
use leveloff_text::outlook::{Outlook, Spot};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use self::canvas::{Canvas, Layer, Pen};
use self::frame::Frame;
use self::overlay::Overlay;
use self::plot::Plot;
use self::scene::Scene;
use self::sheet::Sheet;
use crate::dashboard::Dashboard;

/// Dashes: what was fitted is told from what was measured without colour too.
const FITTED: Pen = Pen { on: 4, off: 4 };
/// One dot in three, for what may come.
const EXPECTED: Pen = Pen { on: 1, off: 2 };
/// One dot in six, for how far that may be wrong.
const POSSIBLE: Pen = Pen { on: 1, off: 5 };

/// Draws the chart of what the dashboard shows.
pub fn draw(dashboard: &Dashboard, style: &ChartStyle, area: Rect, buffer: &mut Buffer) {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let mut sheet = Sheet::new(area, buffer);
    match Scene::of(dashboard) {
        Some(scene) => draw_scene(&scene, style, area, &mut sheet),
        None => {
            sheet.write(area.x.into(), area.y, "no samples yet", style.axis);
        }
    }
}

/// Where the limit is met first, then the curve: nothing covers them.
fn draw_scene(scene: &Scene<'_>, style: &ChartStyle, area: Rect, sheet: &mut Sheet<'_>) {
    let frame = Frame::of(area);
    let Some(amounts) = scene.amounts() else {
        return;
    };
    let axis = MemoryAxis::new(amounts, frame.curve.height);
    let widest = axis.numbers.iter().map(|(_, text)| text.len()).max();
    let plot = Plot {
        area: frame.beside_numbers(widest.unwrap_or(0)),
        x: scene.range.clone(),
        memory: axis.range.clone(),
        charset: style.charset,
    };
    let overlay = Overlay {
        scene,
        frame: &frame,
        plot: &plot,
        axis: &axis,
        style,
    };
    overlay.mark_meeting(sheet);
    dots(scene, &plot).paint(style, sheet);
    overlay.draw(sheet);
}

fn dots(scene: &Scene<'_>, plot: &Plot) -> Canvas {
    let mut canvas = Canvas::new(plot.area, plot.charset);
    let columns = scene.columns(plot.columns());
    if scene.rss.is_some() {
        curve::draw(&mut canvas, plot, Layer::Rss, &columns, |column| column.rss);
    }
    curve::draw(&mut canvas, plot, Layer::Line, &columns, |column| {
        column.memory
    });
    draw_outlook(&mut canvas, plot, &scene.outlook);
    canvas
}

fn draw_outlook(canvas: &mut Canvas, plot: &Plot, outlook: &Outlook) {
    let mut line = |layer, from: Spot, to: Spot, pen| {
        let point = |spot: Spot| plot.point(spot.x, spot.memory);
        canvas.line(layer, point(from), point(to), pen);
    };
    if let Some((from, to)) = outlook.fit {
        line(Layer::Fit, from, to, FITTED);
    }
    if let Some(forecast) = &outlook.forecast {
        line(Layer::Fan, forecast.from, forecast.fastest, POSSIBLE);
        line(Layer::Fan, forecast.from, forecast.slowest, POSSIBLE);
        line(Layer::Forecast, forecast.from, forecast.to, EXPECTED);
    }
}

/// What is on the screen, row by row, without blanks at the end.
#[cfg(test)]
fn lines(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width).max(1);
    let row = |cells: &[ratatui::buffer::Cell]| {
        let text: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        text.trim_end().to_owned()
    };
    buffer.content.chunks(width).map(row).collect()
}

#[cfg(test)]
mod tests;
