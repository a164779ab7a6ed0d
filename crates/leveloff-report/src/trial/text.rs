//! A trial for a terminal: the answer, the table, and what follows.

use leveloff_classifier::trial::TrialOutcome;
use leveloff_model::process::printable;
use leveloff_text::page::{Page, WIDTH, columns};
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
    let paint = |words: &str| match trial.summary.outcome() {
        TrialOutcome::Stopped | TrialOutcome::NothingToCure => paint.good(words),
        TrialOutcome::NothingHelps => paint.error(words),
        _ => paint.open(words),
    };
    for line in broken(&headline) {
        page.line(paint(&line));
    }
    if let Some(numbers) = &answer.numbers {
        page.gap();
        page.row("effect", numbers);
    }
    page.gap();
    write_table(trial, &mut page);
    page.gap();
    for (place, text) in answer.follows.iter().enumerate() {
        page.row(
            if place == 0 { "so" } else { "" },
            &printable(text.as_bytes()),
        );
    }
    if let Some(text) = &answer.next {
        page.row("next", text);
    }
    let notes = unmeasured(trial);
    for (place, text) in notes.iter().chain(&trial.notes).enumerate() {
        page.row(
            if place == 0 { "notes" } else { "" },
            &printable(text.as_bytes()),
        );
    }
    page.row("recordings", &printable(trial.directory.as_bytes()));
    page.into_text()
}

/// Lines that fit.
fn broken(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a first line");
        if line.is_empty() {
            line.push_str(word);
        } else if columns(line) + 1 + columns(word) <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
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
