//! A check as JUnit XML, as Jenkins' schema has it and GitLab and the GitHub reporters read it.
//!
//! A suite for each run, or one for all repeats, and one for the baseline; a test case for each gate.
//! An undecided gate is a skipped test, unless `--undecided` says what it counts as.

mod xml;

use leveloff_classifier::gate::CheckOutcome;
use leveloff_text::gate::gate_title;
use leveloff_text::page::Page;
use leveloff_text::paint::Paint;

use crate::check::report::{CheckReport, CheckedRun};
use crate::check::results::{CheckResult, Scope};
use crate::check::words::{outcome_words, reason};
use crate::verdict::text::block;
use xml::Xml;

/// The document.
pub fn document(report: &CheckReport) -> String {
    let suites = suites(report);
    let mut xml = Xml::document();
    let all = Counts::of(suites.iter().flat_map(|suite| &suite.cases), report);
    xml.open(
        "testsuites",
        &[
            ("name", &format!("leveloff {}", report.name)),
            ("tests", &all.tests.to_string()),
            ("failures", &all.failures.to_string()),
            ("errors", &all.errors.to_string()),
            ("time", &seconds(suites.iter().map(Suite::time).sum())),
        ],
    );
    for suite in &suites {
        write_suite(suite, report, &mut xml);
    }
    xml.close("testsuites");
    xml.into_text()
}

/// Test cases about the same.
struct Suite<'a> {
    scope: Scope<'a>,
    cases: Vec<CheckResult<'a>>,
}

struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Suite<'_> {
    /// How long the runs took that it is about; a baseline takes no time.
    fn time(&self) -> f64 {
        match self.scope {
            Scope::Run(run) => run_time(run),
            Scope::Repeats(report) => report.runs.iter().map(run_time).sum(),
            Scope::Baseline(_) => 0.0,
        }
    }
}

impl Counts {
    fn of<'a>(cases: impl Iterator<Item = &'a CheckResult<'a>>, report: &CheckReport) -> Counts {
        let outcomes: Vec<CheckOutcome> = cases
            .map(|result| result.outcome.counted(report.open_counts_as))
            .collect();
        let count = |outcome| outcomes.iter().filter(|is| **is == outcome).count();
        Counts {
            tests: outcomes.len(),
            failures: count(CheckOutcome::Failed),
            errors: count(CheckOutcome::Broken),
            skipped: count(CheckOutcome::Open),
        }
    }
}

fn suites(report: &CheckReport) -> Vec<Suite<'_>> {
    let mut suites: Vec<Suite> = Vec::new();
    for result in CheckResult::of(report) {
        let same = |suite: &&mut Suite| suite.scope.is(&result.scope);
        match suites.iter_mut().find(same) {
            Some(suite) => suite.cases.push(result),
            None => suites.push(Suite {
                scope: result.scope,
                cases: vec![result],
            }),
        }
    }
    suites
}

fn write_suite(suite: &Suite, report: &CheckReport, xml: &mut Xml) {
    let counts = Counts::of(suite.cases.iter(), report);
    xml.open(
        "testsuite",
        &[
            ("name", suite.scope.name()),
            ("tests", &counts.tests.to_string()),
            ("failures", &counts.failures.to_string()),
            ("errors", &counts.errors.to_string()),
            ("skipped", &counts.skipped.to_string()),
            ("time", &seconds(suite.time())),
        ],
    );
    write_properties(report, xml);
    for (place, result) in suite.cases.iter().enumerate() {
        // The run was made once: its time is that of the first question.
        let time = if place == 0 { suite.time() } else { 0.0 };
        write_case(result, time, report, xml);
    }
    xml.text_element("system-out", &[], &verdicts(suite.scope));
    xml.close("testsuite");
}

fn write_properties(report: &CheckReport, xml: &mut Xml) {
    let outcome = outcome_words(report.outcome());
    let versions = report.held().map(|held| held.report.tool.as_str());
    xml.open("properties", &[]);
    let mut property =
        |name: &str, value: &str| xml.empty("property", &[("name", name), ("value", value)]);
    property("check", &report.name);
    property("outcome", &format!("{outcome}: {}", reason(report)));
    if let Some(version) = versions.into_iter().next() {
        property("leveloff", version);
    }
    xml.close("properties");
}

fn write_case(result: &CheckResult, time: f64, report: &CheckReport, xml: &mut Xml) {
    let title = result.gate.map_or("the run can be read", gate_title);
    let class = class_name(result, report);
    xml.open(
        "testcase",
        &[
            ("name", title),
            ("classname", &class),
            ("time", &seconds(time)),
        ],
    );
    let message = ("message", result.sentence.as_str());
    // Most viewers show what is inside a failure, and not what the suite printed.
    let details = || format!("{}\n\n{}", result.sentence, verdicts(result.scope));
    let kind = match result.outcome {
        CheckOutcome::Open => "undecided",
        _ => result.name(),
    };
    match result.outcome.counted(report.open_counts_as) {
        CheckOutcome::Passed => {}
        CheckOutcome::Open => xml.empty("skipped", &[message]),
        CheckOutcome::Failed => {
            xml.text_element("failure", &[message, ("type", kind)], &details());
        }
        CheckOutcome::Broken => {
            xml.text_element("error", &[message, ("type", kind)], &result.sentence);
        }
    }
    xml.text_element("system-out", &[], &result.sentence);
    xml.close("testcase");
}

/// `leveloff.fine-tune.run_jsonl`: what is before the last dot, viewers take for a package.
fn class_name(result: &CheckResult, report: &CheckReport) -> String {
    let part = |text: &str| text.replace('.', "_");
    let about = part(&result.lasting_name(report));
    format!("leveloff.{}.{about}", part(&report.name))
}

/// What `judge` says of every run that the suite is about.
fn verdicts(scope: Scope) -> String {
    let block = |run: &CheckedRun| match &run.result {
        Ok(held) => block(&held.report.judged(), Paint::Plain),
        Err(error) => format!("{}: {error}\n", run.input),
    };
    match scope {
        Scope::Run(run) => block(run),
        Scope::Repeats(report) => {
            let blocks: Vec<String> = report.runs.iter().map(block).collect();
            blocks.join("\n")
        }
        Scope::Baseline(baseline) => {
            let mut page = Page::new();
            crate::comparison::text::write_differences(&baseline.comparison, &mut page);
            page.into_text()
        }
    }
}

fn run_time(run: &CheckedRun) -> f64 {
    let held = run.result.as_ref().ok();
    let duration = held.and_then(|held| held.report.verdict.duration);
    duration.map_or(0.0, |duration| duration.0)
}

fn seconds(seconds: f64) -> String {
    format!("{:.3}", seconds.max(0.0))
}

#[cfg(test)]
mod tests;
