//! A trial for an issue or a pull request.

use leveloff_text::trial::answer;
use leveloff_text::verdict::capitalised;

use super::TrialReport;
use super::table::{columns, rows, unmeasured};
use crate::markdown::{code, prose, table};

/// The whole document.
pub fn document(trial: &TrialReport) -> String {
    let answer = answer(&trial.summary);
    let mut text = format!("### {}\n\n", prose(&capitalised(&answer.headline)));
    text += &format!("Command: {}\n\n", code(&trial.command));
    let rows: Vec<[String; 5]> = rows(trial)
        .into_iter()
        .map(|[name, cells @ ..]| {
            let [effect, growth, speed, runs] = cells.map(|cell| prose(&cell));
            [code(&name), effect, growth, speed, runs]
        })
        .collect();
    if !rows.is_empty() {
        let head = columns(trial);
        text += &table(&head.each_ref().map(String::as_str), &rows);
        text += "\n";
    }
    let unmeasured = unmeasured(trial);
    let items = answer
        .numbers
        .iter()
        .chain(&answer.follows)
        .chain(&answer.next);
    for item in items.chain(&unmeasured).chain(&trial.notes) {
        text += &format!("- {}\n", prose(item));
    }
    text
}
