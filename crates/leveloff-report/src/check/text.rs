//! A check for people: what it came to and why, each run with its gates, what changed against the
//! baseline, who grew, and what to do next. Fits into 80 columns.

use leveloff_classifier::gate::CheckOutcome;
use leveloff_model::process::printable;
use leveloff_text::comparison::remarks;
use leveloff_text::finding::finding_words;
use leveloff_text::gate::{failure_words, gate_label};
use leveloff_text::page::{Page, WIDTH, columns};
use leveloff_text::paint::Paint;
use leveloff_text::verdict::{Headline, brief, growth};

use crate::check::report::{BaselineCheck, CheckReport, CheckedRun, GatedRun};
use crate::check::results::{CheckResult, Scope};
use crate::check::words::{explaining_run, mark, next_steps, outcome_words, reason, run_outcome};
use crate::comparison::text::write_differences;
use crate::verdict::text::write_culprits;

/// Names up to this long stand in a column of their own; a longer one keeps its end.
const NAME_COLUMNS: usize = 28;

/// The whole screen.
pub fn page(report: &CheckReport, paint: Paint) -> String {
    let mut page = Page::new();
    write_headline(report, paint, &mut page);
    page.gap();
    write_runs(report, &mut page);
    for result in CheckResult::of(report) {
        write_result(&result, report, &mut page);
    }
    if let Some(baseline) = &report.baseline {
        page.gap();
        write_baseline(baseline, &mut page);
    }
    page.gap();
    write_explaining_run(report, &mut page);
    page.gap();
    write_next_steps(report, &mut page);
    page.into_text()
}

fn write_headline(report: &CheckReport, paint: Paint, page: &mut Page) {
    let outcome = report.outcome();
    let words = outcome_words(outcome);
    let painted = match outcome {
        CheckOutcome::Passed => paint.good(words),
        CheckOutcome::Open => paint.open(words),
        CheckOutcome::Failed | CheckOutcome::Broken => paint.error(words),
    };
    let (name, reason) = (printable(report.name.as_bytes()), reason(report));
    if columns(words) + columns(&name) + columns(&reason) + 4 <= WIDTH {
        page.line(format!("{painted}  {name}: {reason}"));
    } else {
        page.line(format!("{painted}  {reason}"));
        page.line(format!("  {name}"));
    }
}

/// One run with what was seen of it, or several with a line each.
fn write_runs(report: &CheckReport, page: &mut Page) {
    match report.runs.as_slice() {
        [run] => {
            let name = printable(run.input.as_bytes());
            let facts = run.result.as_ref().ok().map(|held| {
                let facts = Headline::of(&held.report.verdict).facts();
                format!(" · {}", facts.join(" · "))
            });
            page.row("run", &(name + &facts.unwrap_or_default()));
            let held = run.result.as_ref().ok();
            if let Some(speed) = held.and_then(|held| held.report.speed_words()) {
                page.row("speed", &speed);
            }
        }
        runs => {
            let names = runs.iter().map(|run| columns(&shown_name(run)));
            let width = names.max().unwrap_or_default();
            for run in runs {
                page.line(run_line(run, width));
            }
            page.gap();
        }
    }
}

fn shown_name(run: &CheckedRun) -> String {
    last_columns(&printable(run.input.as_bytes()), NAME_COLUMNS)
}

fn run_line(run: &CheckedRun, width: usize) -> String {
    let (mark, words) = match &run.result {
        Ok(held) => (mark(run_outcome(held)), run_words(held)),
        Err(_) => (
            mark(CheckOutcome::Broken),
            vec!["could not be checked".to_owned()],
        ),
    };
    let line = |words: &str| format!("  {mark} {:<width$}  {words}", shown_name(run));
    // Rather without how fast it grows than with half of it.
    let mut ways = words.iter().map(|words| line(words));
    let fits = ways.clone().find(|line| columns(line) <= WIDTH);
    let line = fits.or_else(|| ways.next_back()).unwrap_or_default();
    first_columns(line.trim_end(), WIDTH)
}

/// What failed, unless that is the leak, which the verdict describes better; the longest form
/// first.
fn run_words(held: &GatedRun) -> Vec<String> {
    let verdict = &held.report.verdict;
    let leaks = verdict.verdict.is_alarm();
    let failed = held.gates.iter();
    let failed = failed.filter(|result| result.outcome == CheckOutcome::Failed);
    let failed: Vec<&str> = failed.map(|result| failure_words(result.gate)).collect();
    let brief = brief(verdict);
    match growth(verdict) {
        Some(growth) if leaks => vec![format!("{brief}, {growth}"), brief],
        _ if failed.is_empty() || leaks => vec![brief],
        _ => vec![format!("{}; {brief}", failed.join(", ")), failed.join(", ")],
    }
}

/// A gate of one run or of all repeats. Of many different runs, only the gates that did not pass: the
/// line of each run is enough for the others.
fn write_result(result: &CheckResult, report: &CheckReport, page: &mut Page) {
    let is_one_of_many = matches!(result.scope, Scope::Run(_)) && report.runs.len() > 1;
    let is_summed_up = is_one_of_many && result.outcome == CheckOutcome::Passed;
    if is_summed_up || matches!(result.scope, Scope::Baseline(_)) {
        return;
    }
    let mark = mark(result.outcome);
    let label = result.gate.map_or("error", gate_label);
    let mut sentence = printable(result.sentence.as_bytes());
    // An error names its file itself.
    if is_one_of_many && result.gate.is_some() {
        sentence = format!("{}: {sentence}", printable(result.scope.name().as_bytes()));
    }
    page.row(&format!("{mark} {label}"), &sentence);
}

fn write_baseline(baseline: &BaselineCheck, page: &mut Page) {
    let mark = mark(baseline.result.outcome);
    let headline = leveloff_text::comparison::headline(&baseline.comparison);
    page.row(&format!("{mark} baseline"), &headline);
    let runs = match baseline.comparison.before.runs {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    };
    let path = printable(baseline.path.as_bytes());
    page.row("", &format!("before: {runs} in {path}"));
    page.gap();
    write_differences(&baseline.comparison, page);
    for remark in remarks(&baseline.comparison) {
        page.row("note", &remark);
    }
}

/// Who and what grew in the run that explains a failure.
fn write_explaining_run(report: &CheckReport, page: &mut Page) {
    let Some((run, held)) = explaining_run(report) else {
        return;
    };
    if run_outcome(held) != CheckOutcome::Failed {
        return;
    }
    if report.runs.len() > 1 {
        page.row("in", &printable(run.input.as_bytes()));
    }
    write_culprits(&held.report.judged(), page);
}

/// The next steps that are not already printed with a finding.
fn write_next_steps(report: &CheckReport, page: &mut Page) {
    let is_printed = |step: &String| {
        explaining_run(report).is_some_and(|(_, held)| {
            let mut findings = held.report.verdict.findings.iter();
            run_outcome(held) == CheckOutcome::Failed
                && findings.any(|found| finding_words(found).next == *step)
        })
    };
    let mut label = "next";
    for step in next_steps(report).iter().filter(|step| !is_printed(step)) {
        page.hanging(label, &format!("→ {}", printable(step.as_bytes())), 2);
        label = "";
    }
}

fn first_columns(text: &str, most: usize) -> String {
    match columns(text) {
        all if all <= most => text.to_owned(),
        _ => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

fn last_columns(text: &str, most: usize) -> String {
    match columns(text) {
        all if all <= most => text.to_owned(),
        all => ['…']
            .into_iter()
            .chain(text.chars().skip(all - most + 1))
            .collect(),
    }
}

#[cfg(test)]
mod tests;
