//! The chart: true memory over steps or time, what was fitted to it, and where that leads.
//!
//! Read in this order: `content` (what is to be seen), `axis_map` (where the places of a verdict are),
//! `areas` (where the parts stand), `plot` (where a moment and an amount are), `curve` (the samples),
//! `canvas` (dots), `overlay` (words and lines), `cells` (what is put first stays). The numbers of the
//! axes and what the verdict says of the curve are those of the reports.

mod areas;
mod axis_map;
mod canvas;
mod cells;
mod content;
mod curve;
mod events;
mod overlay;
mod plot;

use leveloff_text::memory_axis::MemoryAxis;
use leveloff_text::outlook::{ForecastPoint, Outlook};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use self::areas::ChartAreas;
use self::canvas::{Canvas, Layer, Pen};
use self::cells::Cells;
use self::content::ChartContent;
use self::overlay::Overlay;
use self::plot::Plot;
use crate::dashboard::Dashboard;
use crate::theme::{Paint, Styles};

/// Dashes, so that the fit differs from the measured curve without colour too.
const FITTED: Pen = Pen { on: 4, off: 4 };
/// One dot in three, for what may come.
const EXPECTED: Pen = Pen { on: 1, off: 2 };
/// One dot in six, for how far that may be wrong.
const POSSIBLE: Pen = Pen { on: 1, off: 5 };

/// Draws the chart of what the dashboard shows.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let mut cells = Cells::new(area, buffer);
    match ChartContent::of(dashboard) {
        Some(content) => draw_content(&content, styles, area, &mut cells),
        None => {
            let style = styles.get(Paint::Faint);
            cells.write(area.x.into(), area.y, "no samples yet", style);
        }
    }
}

/// Where the limit is met first, then the curve: nothing covers them.
fn draw_content(content: &ChartContent<'_>, styles: &Styles, area: Rect, cells: &mut Cells<'_>) {
    let areas = ChartAreas::of(area);
    let Some(amounts) = content.amounts() else {
        return;
    };
    let axis = MemoryAxis::new(amounts, areas.curve.height);
    let widest = axis.numbers.iter().map(|(_, text)| text.len()).max();
    let plot = Plot {
        area: areas.beside_numbers(widest.unwrap_or(0)),
        x: content.range.clone(),
        memory: axis.range.clone(),
        charset: styles.charset,
    };
    let overlay = Overlay {
        content,
        areas: &areas,
        plot: &plot,
        axis: &axis,
        styles,
    };
    overlay.mark_meeting(cells);
    dots(content, &plot).paint(styles, content.paint(), cells);
    overlay.draw(cells);
}

fn dots(content: &ChartContent<'_>, plot: &Plot) -> Canvas {
    let mut canvas = Canvas::new(plot.area, plot.charset);
    let columns = content.columns(plot.columns());
    if content.rss.is_some() {
        curve::draw(&mut canvas, plot, Layer::Rss, &columns, |column| column.rss);
    }
    curve::draw(&mut canvas, plot, Layer::Line, &columns, |column| {
        column.memory
    });
    draw_outlook(&mut canvas, plot, &content.outlook);
    canvas
}

fn draw_outlook(canvas: &mut Canvas, plot: &Plot, outlook: &Outlook) {
    let mut line = |layer, from: ForecastPoint, to: ForecastPoint, pen| {
        let point = |spot: ForecastPoint| plot.point(spot.x, spot.memory);
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
