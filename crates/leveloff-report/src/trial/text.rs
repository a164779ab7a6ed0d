//! A trial for a terminal: the answer, the table, and what follows.

use leveloff_classifier::trial::TrialOutcome;
use leveloff_model::process::printable;
use leveloff_text::page::{Page, columns};
use leveloff_text::paint::Paint;
use leveloff_text::trial::answer;
use leveloff_text::verdict::capitalised;

use super::TrialReport;
use super::table::{self, rows, unmeasured};

/// The whole screen.
pub fn page(trial: &TrialReport, paint: Paint) -> String {
    let answer = answer(&trial.summary);
    let mut page = Page::new();
    let headline = capitalised(&printable(answer.headline.as_bytes()));
    let outcome = trial.summary.outcome();
    page.line(match outcome {
        TrialOutcome::Stopped | TrialOutcome::NothingToCure => paint.good(&headline),
        TrialOutcome::NothingHelps => paint.error(&headline),
        _ => paint.open(&headline),
    });
    page.gap();
    write_table(trial, &mut page);
    page.gap();
    for text in &answer.follows {
        page.row("so", text);
    }
    if let Some(text) = &answer.next {
        page.row("next", text);
    }
    for text in unmeasured(trial).iter().chain(&trial.notes) {
        page.row("note", &printable(text.as_bytes()));
    }
    page.row("recordings", &printable(trial.directory.as_bytes()));
    page.into_text()
}

fn write_table(trial: &TrialReport, page: &mut Page) {
    let rows = rows(trial);
    if rows.is_empty() {
        return;
    }
    let rows: Vec<[String; 5]> = [table::columns(trial)].into_iter().chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| columns(&row[column])).max();
    for row in &rows {
        let mut line = String::from(" ");
        for (column, cell) in row.iter().enumerate() {
            let room = width(column).unwrap_or(0) - columns(cell);
            line += &format!(" {}{:room$} ", printable(cell.as_bytes()), "");
        }
        page.line(line.trim_end().to_owned());
    }
}
