//! A comparison for people: what it comes to, then the table, then what a reader must know.

use leveloff_classifier::compare::{Comparison, Outcome};
use leveloff_model::process::printable;
use leveloff_text::comparison::{because, outcome_words, remarks};
use leveloff_text::page::{Page, WIDTH, columns};
use leveloff_text::paint::Paint;

use crate::comparison::compared::Compared;
use crate::comparison::table::{
    DIFFERENCES, LINES_LEGEND, POSITIONS, differences, legend, lines, lines_head, positions,
};

/// Rows of memory at the same positions; more would push the rest off the screen.
const MOST_POSITIONS: usize = 8;

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
    write_positions(compared, &mut page);
    write_lines(compared, &mut page);
    page.gap();
    for note in compared.notes {
        page.row("note", &printable(note.as_bytes()));
    }
    for remark in remarks(comparison) {
        page.row("note", &remark);
    }
    page.into_text()
}

/// What changed in numbers, with a legend.
pub(crate) fn write_differences(comparison: &Comparison, page: &mut Page) {
    let mut rows = vec![DIFFERENCES.map(str::to_owned)];
    rows[0][4].clear();
    rows.extend(differences(comparison));
    write_columns(&rows, page);
    page.line(format!("  {}", legend()));
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

fn write_positions(compared: &Compared, page: &mut Page) {
    let positions = positions(compared, MOST_POSITIONS);
    if !positions.is_empty() {
        page.gap();
        let mut rows = vec![POSITIONS.map(str::to_owned)];
        rows.extend(positions);
        write_columns(&rows, page);
    }
}

fn write_lines(compared: &Compared, page: &mut Page) {
    let lines = lines(compared);
    if !lines.is_empty() {
        page.gap();
        let mut rows = vec![lines_head(compared)];
        rows.extend(lines);
        write_columns(&rows, page);
        page.line(format!("  {LINES_LEGEND}"));
    }
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
