//! A comparison for people: what it comes to, then the table, then what a reader must know.

use leveloff_classifier::compare::{CONFIDENCE, ChangeFinding, Comparison, Difference, Outcome};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::profile::Quantity;
use leveloff_classifier::units::X;
use leveloff_model::process::printable;
use leveloff_text::comparison::{
    because, change_words, finding_words, outcome_words, quantity_words, remarks, value_words,
};
use leveloff_text::page::{Page, WIDTH, columns};
use leveloff_text::paint::Paint;
use leveloff_text::rate::{amount, change};
use leveloff_text::x_position::XPosition;

use crate::comparison::compared::{CommonPlace, Compared};

/// Rows of memory at common places; more would push the rest off the screen.
const MOST_PLACES: usize = 8;

/// The whole screen.
pub fn page(compared: &Compared, paint: Paint) -> String {
    let comparison = compared.comparison;
    let mut page = Page::new();
    write_headline(comparison, paint, &mut page);
    page.gap();
    page.row("before", &names(compared.before_names));
    page.row("after", &names(compared.after_names));
    page.gap();
    write_differences(comparison, &mut page);
    write_places(compared, &mut page);
    page.gap();
    for note in compared.notes {
        page.row("note", &printable(note.as_bytes()));
    }
    for remark in remarks(comparison) {
        page.row("note", &remark);
    }
    page.into_text()
}

/// What changed in numbers: those that decide, then roles and kinds that really changed.
pub fn write_differences(comparison: &Comparison, page: &mut Page) {
    let unit = comparison.unit.unwrap_or(comparison.after.unit);
    let mut rows = vec![["", "before", "after", "change", ""].map(str::to_owned)];
    rows.extend(told(comparison).map(|difference| row(difference, unit)));
    write_columns(&rows, page);
    let sure = 100.0 * CONFIDENCE;
    page.line(format!(
        "  in brackets: where the change lies, {sure:.1} % sure; noise: it may be none"
    ));
}

/// The differences worth a row: the run's own, and of its parts those that are more than noise.
pub fn told(comparison: &Comparison) -> impl Iterator<Item = &Difference> {
    comparison.differences.iter().filter(|difference| {
        let is_part = matches!(difference.quantity, Quantity::Role(_) | Quantity::Kind(_));
        !is_part
            || matches!(
                difference.finding,
                ChangeFinding::More | ChangeFinding::Less
            )
    })
}

fn write_headline(comparison: &Comparison, paint: Paint, page: &mut Page) {
    let words = painted(comparison.outcome, paint);
    let because = because(comparison);
    let room = WIDTH - columns(outcome_words(comparison.outcome)) - 2;
    let (first, rest) = broken_at_a_comma(&because, room);
    page.line(format!("{words}: {first}"));
    if !rest.is_empty() {
        page.row("", rest);
    }
}

/// As much as fits up to a comma, since many read the first line alone, and what is left.
fn broken_at_a_comma(text: &str, room: usize) -> (&str, &str) {
    if columns(text) <= room {
        return (text, "");
    }
    let ends = text.match_indices(", ").map(|(at, _)| at + 1);
    let last = ends.filter(|&end| columns(&text[..end]) <= room).last();
    let end = last.or_else(|| text.find(", ").map(|at| at + 1));
    let (first, rest) = text.split_at(end.unwrap_or(text.len()));
    (first, rest.trim_start())
}

fn painted(outcome: Outcome, paint: Paint) -> String {
    let words = outcome_words(outcome);
    match outcome {
        Outcome::Worse => paint.error(words),
        Outcome::Better | Outcome::Same => paint.good(words),
        Outcome::Undecided => paint.open(words),
    }
}

fn names(names: &[String]) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| printable(name.as_bytes()))
        .collect();
    names.join(", ")
}

fn row(difference: &Difference, unit: XUnit) -> [String; 5] {
    let quantity = difference.quantity;
    let value = |value| value_words(quantity, value, unit);
    [
        quantity_words(quantity, unit),
        value(difference.before.mean),
        value(difference.after.mean),
        change_words(difference, unit),
        finding_words(difference.finding).to_owned(),
    ]
}

fn write_places(compared: &Compared, page: &mut Page) {
    let places = compared.common_places(MOST_PLACES);
    if places.is_empty() {
        return;
    }
    page.gap();
    let unit = compared.comparison.after.unit;
    let mut rows = vec![["memory at", "before", "after", "change"].map(str::to_owned)];
    rows.extend(places.iter().map(|place| place_row(place, unit)));
    write_columns(&rows, page);
}

fn place_row(place: &CommonPlace, unit: XUnit) -> [String; 4] {
    [
        XPosition::new(X(place.x), unit).to_string(),
        amount(place.before),
        amount(place.after),
        change(place.after - place.before),
    ]
}

/// Columns two apart: the first to the left, numbers to the right, the rest as it comes.
fn write_columns<const N: usize>(rows: &[[String; N]], page: &mut Page) {
    let width = |column: usize| rows.iter().map(|row| columns(&row[column])).max();
    let widths: Vec<usize> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            line += "  ";
            match column {
                1 | 2 => line += &format!("{cell:>width$}"),
                _ => line += &format!("{cell:<width$}"),
            }
        }
        page.line(line.trim_end().to_owned());
    }
}

#[cfg(test)]
mod tests;
