//! One run's curve, on any frame: charts of two runs draw it twice.

use leveloff_classifier::run_curves::Series;
use plotters::backend::DrawingBackend;
use plotters::style::RGBColor;

use super::columns::Column;
use super::content::ChartContent;
use super::frame::Frame;
use super::palette;
use super::sheet::{Point, Sheet};

/// Points up to this many are seen one by one.
const FEW: usize = 60;

/// Memory: a line where a column is one sample, a band from the lowest to the highest where it is
/// several.
pub(super) fn memory<B: DrawingBackend>(
    columns: &[Column],
    colour: RGBColor,
    frame: &Frame,
    sheet: &mut Sheet<B>,
) {
    let edges = edges(columns, Series::Memory, frame);
    let upper: Vec<Point> = edges.iter().map(|edge| edge.0).collect();
    let lower: Vec<Point> = edges.iter().map(|edge| edge.1).collect();
    if upper != lower {
        let outline: Vec<Point> = upper.iter().chain(lower.iter().rev()).copied().collect();
        sheet.area(&outline, colour, 0.75);
        sheet.path(&lower, colour, 1.5);
        sheet.path(&upper, colour, 1.5);
    } else {
        sheet.path(&upper, colour, 2.5);
    }
    if edges.len() <= FEW {
        for (upper, _) in edges {
            sheet.disc(upper, 3.5, colour);
        }
    }
}

/// The sum of RSS: thin and dashed, since it is not what the run holds.
pub(super) fn rss<B: DrawingBackend>(
    content: &ChartContent<'_>,
    frame: &Frame,
    sheet: &mut Sheet<B>,
) {
    let edges = edges(&content.columns, Series::RssSum, frame);
    let upper: Vec<Point> = edges.into_iter().map(|edge| edge.0).collect();
    sheet.dashes(&upper, palette::RSS, 1.5, (6.0, 4.0));
}

/// The highest and the lowest amounts of each column.
fn edges(columns: &[Column], series: Series, frame: &Frame) -> Vec<(Point, Point)> {
    let known = columns
        .iter()
        .filter_map(|column| Some((column.x, column.span.value(series)?)));
    known
        .map(|(x, reach)| (frame.at(x, reach.high), frame.at(x, reach.low)))
        .collect()
}
