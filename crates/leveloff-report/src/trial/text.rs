//! A trial for a terminal: the answer, the table, and what follows.

use leveloff_classifier::trial::TrialOutcome;
use leveloff_model::process::printable;
use leveloff_text::page::{Page, WIDTH, columns};
use leveloff_text::paint::Paint;
use leveloff_text::verdict::capitalised;

use super::TrialReport;
use super::table::{self, CELLS, rows, unmeasured};

/// The whole screen.
pub fn page(trial: &TrialReport, paint: Paint) -> String {
    let answer = trial.answer();
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
    write_list("so", &answer.follows, &mut page);
    if let Some(text) = &answer.next {
        page.row("next", text);
    }
    if let Some(command) = &answer.next_command {
        let label = if answer.next.is_none() { "next" } else { "" };
        page.hanging(label, &format!("$ {}", printable(command.as_bytes())), 2);
    }
    let notes = [unmeasured(trial), trial.notes.clone()].concat();
    write_list("notes", &notes, &mut page);
    page.row("recordings", &printable(trial.directory.as_bytes()));
    page.row(
        "",
        "answer.html there has all curves, answer.md is for an issue",
    );
    page.into_text()
}

fn write_list(label: &'static str, texts: &[String], page: &mut Page) {
    let mut label = label;
    for text in texts {
        page.row(label, &printable(text.as_bytes()));
        label = "";
    }
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

/// Without the number of runs, which a screen has no room for.
const SHOWN: usize = CELLS - 1;

fn write_table(trial: &TrialReport, page: &mut Page) {
    let rows = rows(trial);
    if rows.is_empty() {
        return;
    }
    let rows: Vec<[String; CELLS]> = [table::columns(trial)].into_iter().chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| columns(&row[column])).max();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().take(SHOWN).enumerate() {
            let room = width(column).unwrap_or(0) - columns(cell);
            line += &format!("  {}{:room$}", printable(cell.as_bytes()), "");
        }
        page.line(line.trim_end().to_owned());
    }
}
