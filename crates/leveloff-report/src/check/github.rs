//! A check for GitHub: annotations beside the job's log, and the summary of the job.

use leveloff_classifier::gate::CheckOutcome;
use leveloff_text::gate::{failure_words, gate_label, gate_title};
use leveloff_text::verdict::blame_words;

use crate::check::report::{CheckReport, GatedRun, Runs};
use crate::check::results::{CheckResult, Scope};
use crate::check::words::{explaining_run, next_steps, outcome_words, reason, run_outcome};
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
    let results = CheckResult::of(report);
    let level = |result: &CheckResult| match result.outcome.counted(report.open_counts_as) {
        CheckOutcome::Failed | CheckOutcome::Broken => Some("error"),
        CheckOutcome::Open => Some("warning"),
        CheckOutcome::Passed => (result.outcome == CheckOutcome::Open).then_some("notice"),
    };
    let mut text = String::new();
    for kind in ["error", "warning", "notice"] {
        let of_kind = results.iter().filter(|result| level(result) == Some(kind));
        let of_kind: Vec<&CheckResult> = of_kind.collect();
        text += &some(kind, &of_kind, report);
    }
    if report.outcome() == CheckOutcome::Passed {
        let title = format!("leveloff: {}", report.name);
        let words = format!("{}: {}", outcome_words(report.outcome()), reason(report));
        text += &command("notice", &title, &words);
    }
    text
}

/// Markdown for the job's summary: the outcome, the results, what changed, the curve, what is next.
pub fn step_summary(report: &CheckReport) -> String {
    let mut text = format!(
        "## {} {}: {}\n\nleveloff check {}\n\n{}",
        sign(report.outcome()),
        outcome_words(report.outcome()),
        prose(&reason(report)),
        code(&report.name),
        result_table(report)
    );
    if let Some(baseline) = &report.baseline {
        text += &format!("\n### Against {}\n\n", code(&baseline.path));
        text += &markdown::differences(&baseline.comparison);
    }
    let telling = explaining_run(report).map(|(_, held)| held);
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
fn who(held: &GatedRun) -> String {
    let blame = &held.report.verdict.blame;
    if run_outcome(held) != CheckOutcome::Failed || blame.is_empty() {
        return String::new();
    }
    let lines = blame.iter().take(MOST_BLAMED);
    let lines = lines.map(|blame| format!("- {}\n", prose(&blame_words(blame))));
    format!("\n**Who grew**\n\n{}", lines.collect::<String>())
}

fn some(kind: &str, results: &[&CheckResult], report: &CheckReport) -> String {
    let (shown, rest) = match results.len() {
        all if all > MOST_OF_A_KIND => results.split_at(MOST_OF_A_KIND - 1),
        all => results.split_at(all),
    };
    let mut text: String = shown
        .iter()
        .map(|result| command(kind, &title(result, report), &result.sentence))
        .collect();
    if !rest.is_empty() {
        let title = format!("leveloff: {}", report.name);
        let words = format!("{} more; the log has them all", rest.len());
        text += &command(kind, &title, &words);
    }
    text
}

/// `leveloff fine-tune: memory leaks in run.jsonl`
fn title(result: &CheckResult, report: &CheckReport) -> String {
    let what = match (result.gate, result.outcome) {
        (None, _) => "cannot be read".to_owned(),
        (Some(gate), CheckOutcome::Open) => format!("{} undecided", gate_label(gate)),
        (Some(gate), _) => failure_words(gate).to_owned(),
    };
    let of = match result.scope {
        Scope::Run(run) if report.runs_are == Runs::Different => format!(": {}", run.input),
        _ => String::new(),
    };
    format!("leveloff {}: {what}{of}", report.name)
}

/// `::error title=…::…`
fn command(kind: &str, title: &str, message: &str) -> String {
    let title = escaped(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={title}::{}\n", escaped(message))
}

/// A line break in a file name would begin a new command.
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

fn result_table(report: &CheckReport) -> String {
    let results = CheckResult::of(report);
    let rows: Vec<[String; 4]> = results
        .iter()
        .take(MOST_ROWS)
        .map(|result| {
            let outcome = match result.outcome {
                CheckOutcome::Broken => "not readable",
                outcome => outcome.name(),
            };
            let title = result.gate.map_or("the run can be read", gate_title);
            [
                code(result.scope.name()),
                title.to_owned(),
                format!("{} {outcome}", sign(result.outcome)),
                prose(&result.sentence),
            ]
        })
        .collect();
    let mut text = table(&["run", "gate", "result", ""], &rows);
    if results.len() > MOST_ROWS {
        text += &format!("\n{} more are in the log.\n", results.len() - MOST_ROWS);
    }
    text
}

#[cfg(test)]
mod tests;
