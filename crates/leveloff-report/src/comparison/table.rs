//! The two tables of a comparison, as cells that every format lays out.

use leveloff_classifier::compare::{
    CONFIDENCE, ChangeFinding, Comparison, Difference, LineChange, LineRate,
};
use leveloff_classifier::profile::Quantity;
use leveloff_classifier::units::X;
use leveloff_text::allocation::site_place;
use leveloff_text::comparison::{
    change_words, difference_words, finding_words, quantity_words, value_words,
};
use leveloff_text::rate::{amount, change, change_with_interval};
use leveloff_text::x_position::XPosition;

use crate::comparison::compared::Compared;

/// The columns of [`differences`].
pub(crate) const DIFFERENCES: [&str; 5] = ["", "before", "after", "change", "more than noise?"];

/// The columns of [`positions`].
pub(crate) const POSITIONS: [&str; 4] = ["memory at", "before", "after", "change"];

/// Lines of the program that are listed, at most.
const MOST_LINES: usize = 8;

/// The columns of [`lines`].
pub(crate) fn lines_head(compared: &Compared) -> [String; 5] {
    let unit = compared.comparison.after.unit.name();
    let first = format!("kept per {unit}, made by");
    [first.as_str(), "before", "after", "change", ""].map(str::to_owned)
}

/// Which lines of the program make more or less than before; empty without `--blame`.
pub(crate) fn lines(compared: &Compared) -> Vec<[String; 5]> {
    let rate = |rate: Option<LineRate>| rate.map_or_else(|| "–".to_owned(), |it| amount(it.rate.0));
    let cells = |line: &LineChange| {
        [
            site_place(&line.site),
            rate(line.before),
            rate(line.after),
            change_with_interval(line.change.0, line.low.0, line.high.0),
            finding_words(line.finding).to_owned(),
        ]
    };
    let lines = compared.lines.unwrap_or_default().iter();
    lines.take(MOST_LINES).map(cells).collect()
}

/// What [`lines`] are.
pub(crate) const LINES_LEGEND: &str =
    "lines of the program, from sampled blocks; in brackets: 95 % interval of the sampling error";

/// What changed: the run's own quantities, and of roles and kinds those that changed by more than noise.
pub(crate) fn differences(comparison: &Comparison) -> Vec<[String; 5]> {
    let unit = comparison.unit.unwrap_or(comparison.after.unit);
    let cells = |difference: &Difference| {
        let quantity = difference.quantity;
        let value = |value| value_words(quantity, value, unit);
        [
            quantity_words(quantity, unit),
            value(difference.before.mean),
            value(difference.after.mean),
            change_words(difference, unit),
            difference_words(difference).to_owned(),
        ]
    };
    let shown = comparison.differences.iter().filter(|it| is_shown(it));
    shown.map(cells).collect()
}

/// Memory at positions on the x axis that all runs have reached, at most `most` of them.
pub(crate) fn positions(compared: &Compared, most: usize) -> Vec<[String; 4]> {
    let unit = compared.comparison.after.unit;
    let cells = |place: crate::comparison::compared::CommonPosition| {
        [
            XPosition::new(X(place.x), unit).to_string(),
            amount(place.before),
            amount(place.after),
            change(place.after - place.before),
        ]
    };
    let places = compared.common_places(most).into_iter();
    places.map(cells).collect()
}

/// What the brackets and the last column of [`differences`] mean.
pub(crate) fn legend() -> String {
    let confidence = 100.0 * CONFIDENCE;
    format!("in brackets: {confidence:.1} % confidence interval; noise: it includes no change")
}

fn is_shown(difference: &Difference) -> bool {
    let is_part = matches!(difference.quantity, Quantity::Role(_) | Quantity::Kind(_));
    let is_noise = matches!(
        difference.finding,
        ChangeFinding::Noise | ChangeFinding::Immaterial
    );
    !is_part || !is_noise
}
