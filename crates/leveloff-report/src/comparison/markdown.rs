//! A comparison for a pull request or a job's summary.

use leveloff_classifier::compare::{CONFIDENCE, Comparison, Difference};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::X;
use leveloff_text::comparison::{
    because, change_words, finding_words, outcome_words, quantity_words, remarks, value_words,
};
use leveloff_text::rate::{amount, change};
use leveloff_text::x_position::XPosition;

use crate::comparison::compared::Compared;
use crate::comparison::text::told;
use crate::markdown::{code, prose, table};

/// Rows of memory at common places.
const MOST_PLACES: usize = 8;

/// The whole document.
pub fn document(compared: &Compared) -> String {
    let comparison = compared.comparison;
    let mut text = format!(
        "### {}: {}\n\n",
        outcome_words(comparison.outcome),
        prose(&because(comparison))
    );
    text += &format!("Before: {}  \n", names(compared.before_names));
    text += &format!("After: {}\n\n", names(compared.after_names));
    text += &differences(comparison);
    text += &places(compared);
    let remarks = remarks(comparison);
    let notes = compared.notes.iter().chain(&remarks);
    let notes: String = notes.map(|note| format!("- {}\n", prose(note))).collect();
    if !notes.is_empty() {
        text += &format!("\n{notes}");
    }
    text
}

/// What changed in numbers, as a table with its legend.
pub fn differences(comparison: &Comparison) -> String {
    let unit = comparison.unit.unwrap_or(comparison.after.unit);
    let rows: Vec<[String; 5]> = told(comparison).map(|d| row(d, unit)).collect();
    let head = ["", "before", "after", "change", "more than noise?"];
    let sure = 100.0 * CONFIDENCE;
    format!(
        "{}\nIn brackets: where the change lies, {sure:.1} % sure.\n",
        table(&head, &rows)
    )
}

fn row(difference: &Difference, unit: XUnit) -> [String; 5] {
    let quantity = difference.quantity;
    let value = |value| value_words(quantity, value, unit);
    [
        prose(&quantity_words(quantity, unit)),
        value(difference.before.mean),
        value(difference.after.mean),
        change_words(difference, unit),
        finding_words(difference.finding).to_owned(),
    ]
}

fn places(compared: &Compared) -> String {
    let places = compared.common_places(MOST_PLACES);
    if places.is_empty() {
        return String::new();
    }
    let unit = compared.comparison.after.unit;
    let rows: Vec<[String; 4]> = places
        .iter()
        .map(|place| {
            [
                XPosition::new(X(place.x), unit).to_string(),
                amount(place.before),
                amount(place.after),
                change(place.after - place.before),
            ]
        })
        .collect();
    format!(
        "\n{}",
        table(&["memory at", "before", "after", "change"], &rows)
    )
}

fn names(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| code(name)).collect();
    names.join(", ")
}
