//! The two tables of a comparison, as cells that every format lays out.

use leveloff_classifier::compare::{CONFIDENCE, ChangeFinding, Comparison, Difference};
use leveloff_classifier::profile::Quantity;
use leveloff_classifier::units::X;
use leveloff_text::comparison::{change_words, finding_words, quantity_words, value_words};
use leveloff_text::rate::{amount, change};
use leveloff_text::x_position::XPosition;

use crate::comparison::compared::Compared;

/// The columns of [`differences`].
pub(crate) const DIFFERENCES: [&str; 5] = ["", "before", "after", "change", "more than noise?"];

/// The columns of [`positions`].
pub(crate) const POSITIONS: [&str; 4] = ["memory at", "before", "after", "change"];

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
            finding_words(difference.finding).to_owned(),
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
