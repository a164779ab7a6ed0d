//! A comparison for a pull request or a job's summary.

use leveloff_classifier::compare::Comparison;
use leveloff_text::comparison::{because, outcome_words, remarks};
use leveloff_text::verdict::capitalised;

use crate::comparison::compared::Compared;
use crate::comparison::table::{self, legend};
use crate::markdown::{code, prose, table};

/// Rows of memory at the same positions.
const MOST_POSITIONS: usize = 8;

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
    text += &positions(compared);
    text += &lines(compared);
    let remarks = remarks(comparison);
    let notes = compared.notes.iter().chain(&remarks);
    let notes: String = notes.map(|note| format!("- {}\n", prose(note))).collect();
    if !notes.is_empty() {
        text += &format!("\n{notes}");
    }
    text
}

/// What changed in numbers, as a table with its legend.
pub(crate) fn differences(comparison: &Comparison) -> String {
    let rows = table::differences(comparison).into_iter();
    let rows: Vec<_> = rows.map(|cells| cells.map(|cell| prose(&cell))).collect();
    let table = table(&table::DIFFERENCES, &rows);
    format!("{table}\n{}.\n", capitalised(&legend()))
}

fn positions(compared: &Compared) -> String {
    match table::positions(compared, MOST_POSITIONS) {
        rows if rows.is_empty() => String::new(),
        rows => format!("\n{}", table(&table::POSITIONS, &rows)),
    }
}

fn lines(compared: &Compared) -> String {
    let rows = table::lines(compared).into_iter();
    let rows: Vec<_> = rows
        .map(|[line, cells @ ..]| {
            let [before, after, change, found] = cells.map(|cell| prose(&cell));
            [code(&line), before, after, change, found]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = table::lines_head(compared);
    let head = head.each_ref().map(String::as_str);
    let legend = capitalised(table::LINES_LEGEND);
    format!("\n{}\n{legend}.\n", table(&head, &rows))
}

fn names(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| code(name)).collect();
    names.join(", ")
}
