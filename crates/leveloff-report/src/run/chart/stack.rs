//! Who holds the memory: areas, the biggest at the bottom.

use leveloff_classifier::run_curves::Series;
use leveloff_model::folded::Reach;
use plotters::backend::DrawingBackend;
use plotters::style::RGBColor;

use super::columns::Column;
use super::frame::Frame;
use super::palette;
use super::sheet::Sheet;
use crate::run_report::RunReport;

/// Roles with an area of their own; all others share one.
const MOST: usize = 5;

/// Less than this share of the run is not seen.
const SEEN: f64 = 0.005;

/// How strongly an area is coloured: the grid and the curve are seen through it.
const STRENGTH: f64 = 0.45;

/// An area.
pub(crate) struct Layer {
    /// Who.
    pub(crate) name: &'static str,
    /// Its colour.
    pub(crate) colour: RGBColor,
    /// Places, and from where to where it reaches there.
    points: Vec<(f64, Reach)>,
}

/// The areas of a run; none when there is one role only, which is the curve itself.
pub(crate) fn stack(report: &RunReport, columns: &[Column]) -> Vec<Layer> {
    let all = report
        .series(Series::Memory)
        .map_or(0.0, |part| part.peak.0);
    let is_role = |series: &Series| matches!(series, Series::Role(_));
    let parts = report.series.iter().filter(|part| is_role(&part.series));
    let mut roles: Vec<_> = parts.filter(|part| part.peak.0 > SEEN * all).collect();
    if roles.len() < 2 {
        return Vec::new();
    }
    roles.sort_by(|one, other| other.settled.0.total_cmp(&one.settled.0));
    let roles: Vec<Series> = roles.iter().map(|part| part.series).collect();
    let (named, rest) = roles.split_at(roles.len().min(MOST));
    let mut groups: Vec<(&'static str, Vec<Series>)> = named
        .iter()
        .map(|role| (leveloff_text::subject::series_words(*role), vec![*role]))
        .collect();
    if !rest.is_empty() {
        groups.push(("others", rest.to_vec()));
    }
    let mut tops = vec![0.0; columns.len()];
    let colours = palette::ROLES.into_iter();
    let layers = groups.into_iter().zip(colours);
    layers
        .map(|((name, roles), colour)| layer(name, colour, &roles, columns, &mut tops))
        .collect()
}

/// Draws one area.
pub(super) fn draw<B: DrawingBackend>(layer: &Layer, frame: &Frame, sheet: &mut Sheet<B>) {
    let upper = layer
        .points
        .iter()
        .map(|(x, reach)| frame.at(*x, reach.high));
    let lower = layer
        .points
        .iter()
        .rev()
        .map(|(x, reach)| frame.at(*x, reach.low));
    let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
    sheet.area(&outline, layer.colour, STRENGTH);
}

/// Half-way between the lowest and the highest value of each column: areas can be put on one another,
/// extremes cannot.
fn layer(
    name: &'static str,
    colour: RGBColor,
    roles: &[Series],
    columns: &[Column],
    tops: &mut [f64],
) -> Layer {
    let amount = |column: &Column| -> f64 {
        let values = roles.iter().filter_map(|role| column.span.value(*role));
        values.map(Reach::middle).sum()
    };
    let points = columns.iter().zip(tops).map(|(column, top)| {
        let low = *top;
        *top += amount(column);
        (column.x, Reach { low, high: *top })
    });
    Layer {
        name,
        colour,
        points: points.collect(),
    }
}
