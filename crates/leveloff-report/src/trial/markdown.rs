//! A trial for an issue or a pull request.

use leveloff_text::verdict::capitalised;

use super::TrialReport;
use super::table::{CELLS, columns, rows, unmeasured};
use crate::markdown::{code, prose, table};
use crate::run::environment::facts;

/// The whole document.
pub fn document(trial: &TrialReport) -> String {
    let answer = trial.answer();
    let mut text = format!("### {}\n\n", prose(&capitalised(&answer.headline)));
    text += &format!("Command: {}\n\n", code(&trial.command));
    let rows: Vec<[String; CELLS]> = rows(trial)
        .into_iter()
        .map(|[name, cells @ ..]| {
            let [effect, growth, level, speed, runs] = cells.map(|cell| prose(&cell));
            [code(&name), effect, growth, level, speed, runs]
        })
        .collect();
    if !rows.is_empty() {
        let head = columns(trial);
        text += &table(&head.each_ref().map(String::as_str), &rows);
        text += "\nIn brackets and behind ±: intervals. Speed: against the control runs.\n\n";
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
    if let Some(command) = &answer.next_command {
        text += &format!("- next: {}\n", code(command));
    }
    text + &setting(trial)
}

/// What a maintainer asks for first.
const ASKED_FOR: [&str; 5] = [
    "kernel",
    "machine's memory",
    "control group",
    "Python",
    "packages",
];

fn setting(trial: &TrialReport) -> String {
    let Some(report) = trial.control.iter().find_map(|run| run.report.as_ref()) else {
        return String::new();
    };
    let facts = facts(report).into_iter();
    let facts: String = facts
        .filter(|fact| ASKED_FOR.contains(&fact.name))
        .map(|fact| format!("- {}: {}\n", fact.name, code(&fact.value)))
        .collect();
    match facts.is_empty() {
        true => facts,
        false => format!("\n<details><summary>Environment</summary>\n\n{facts}\n</details>\n"),
    }
}
