//! A check for GitHub: annotations beside the job's log, and the summary of the job.

use leveloff_classifier::gate::GateOutcome;
use leveloff_text::gate::{failure_words, gate_label, gate_title};
use leveloff_text::verdict::blame_words;

use crate::check::report::{CheckOutcome, CheckReport, Held, Runs};
use crate::check::results::{About, Answer, Asked};
use crate::check::words::{next_steps, outcome_words, reason, run_outcome, telling_run};
use crate::comparison::markdown;
use crate::markdown::{code, fenced, prose, table};
use crate::run::text_chart::text_chart;
use crate::run_report::RunReport;

/// GitHub shows this many annotations of a kind for a step, and drops the rest in silence.
const MOST_OF_A_KIND: usize = 10;

/// Rows of the summary; a summary above 1 MiB is dropped as a whole.
const MOST_ROWS: usize = 200;

/// Those who grew most.
const MOST_BLAMED: usize = 3;

/// Workflow commands, one a line: what failed as an error, what is open as a warning, and that all
/// is fine as a notice.
pub fn annotations(report: &CheckReport) -> String {
    let asked = Asked::of(report);
    let level = |asked: &Asked| match asked.counts_as(report.open_counts_as) {
        CheckOutcome::Failed | CheckOutcome::Broken => Some("error"),
        CheckOutcome::Open => Some("warning"),
        CheckOutcome::Passed => (asked.answer == Answer::Open).then_some("notice"),
    };
    let mut text = String::new();
    for kind in ["error", "warning", "notice"] {
        let of_kind = asked.iter().filter(|asked| level(asked) == Some(kind));
        let of_kind: Vec<&Asked> = of_kind.collect();
        text += &some(kind, &of_kind, report);
    }
    if report.outcome() == CheckOutcome::Passed {
        let title = format!("leveloff: {}", report.name);
        let words = format!("{}: {}", outcome_words(report.outcome()), reason(report));
        text += &command("notice", &title, &words);
    }
    text
}

/// Markdown for the job's summary: the outcome, what was asked, what changed, the curve, what is next.
pub fn step_summary(report: &CheckReport) -> String {
    let mut text = format!(
        "## {} {}: {}\n\nleveloff check {}\n\n{}",
        sign(report.outcome()),
        outcome_words(report.outcome()),
        prose(&reason(report)),
        code(&report.name),
        asked_table(report)
    );
    if let Some(baseline) = &report.baseline {
        text += &format!("\n### Against {}\n\n", code(&baseline.path));
        text += &comparison_markdown::differences(&baseline.comparison);
    }
    let telling = telling_run(report).map(|(_, held)| held);
    if let Some(held) = telling.or_else(|| report.held().next()) {
        let chart = chart(&held.report).map(|chart| format!("\n{}", fenced("text", &chart)));
        text += &chart.unwrap_or_default();
        text += &who(held);
    }
    let steps = next_steps(report);
    if !steps.is_empty() {
        let steps: Vec<String> = steps
            .iter()
            .map(|step| format!("- {}\n", prose(step)))
            .collect();
        text += &format!("\n**Next**\n\n{}", steps.concat());
    }
    // Another step's summary may follow.
    text + "\n"
}

/// The curve as text; the one place where a chart comes into the summary.
fn chart(report: &RunReport) -> Option<String> {
    Some(text_chart(report)).filter(|chart| !chart.trim().is_empty())
}

/// Who and what grew, if it failed.
fn who(held: &Held) -> String {
    let blame = &held.report.verdict.blame;
    if run_outcome(held) != GateOutcome::Failed || blame.is_empty() {
        return String::new();
    }
    let lines = blame.iter().take(MOST_BLAMED);
    let lines = lines.map(|blame| format!("- {}\n", prose(&blame_words(blame))));
    format!("\n**Who grew**\n\n{}", lines.collect::<String>())
}

fn some(kind: &str, asked: &[&Asked], report: &CheckReport) -> String {
    let (shown, rest) = match asked.len() {
        all if all > MOST_OF_A_KIND => asked.split_at(MOST_OF_A_KIND - 1),
        all => asked.split_at(all),
    };
    let mut text: String = shown
        .iter()
        .map(|asked| command(kind, &title(asked, report), &asked.sentence))
        .collect();
    if !rest.is_empty() {
        let title = format!("leveloff: {}", report.name);
        let words = format!("{} more; the log has them all", rest.len());
        text += &command(kind, &title, &words);
    }
    text
}

/// `leveloff fine-tune: memory leaks in run.jsonl`
fn title(asked: &Asked, report: &CheckReport) -> String {
    let what = match (asked.gate, asked.answer) {
        (None, _) => "cannot be read".to_owned(),
        (Some(gate), Answer::Open) => format!("{} undecided", gate_label(gate)),
        (Some(gate), _) => failure_words(gate).to_owned(),
    };
    let of = match asked.about {
        About::Run(run) if report.runs_are == Runs::Different => format!(": {}", run.input),
        _ => String::new(),
    };
    format!("leveloff {}: {what}{of}", report.name)
}

/// `::error title=…::…`
fn command(kind: &str, title: &str, message: &str) -> String {
    let title = escaped(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={title}::{}\n", escaped(message))
}

/// A line break would begin a new command, in the words of whoever named a file.
fn escaped(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn sign(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "✅",
        CheckOutcome::Open => "❔",
        CheckOutcome::Failed => "❌",
        CheckOutcome::Broken => "⚠️",
    }
}

fn asked_table(report: &CheckReport) -> String {
    let asked = Asked::of(report);
    let rows: Vec<[String; 4]> = asked
        .iter()
        .take(MOST_ROWS)
        .map(|asked| {
            let answer = match asked.answer {
                Answer::Passed => "✅ passed",
                Answer::Open => "❔ undecided",
                Answer::Failed => "❌ failed",
                Answer::Unreadable => "⚠️ not readable",
            };
            let title = asked.gate.map_or("the run can be read", gate_title);
            [
                code(asked.about.name()),
                title.to_owned(),
                answer.to_owned(),
                prose(&asked.sentence),
            ]
        })
        .collect();
    let mut text = table(&["run", "asked", "answer", ""], &rows);
    if asked.len() > MOST_ROWS {
        text += &format!("\n{} more are in the log.\n", asked.len() - MOST_ROWS);
    }
    text
}

#[cfg(test)]
mod tests;
