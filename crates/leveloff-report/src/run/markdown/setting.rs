//! Where it ran, how to see it again, and how it was judged.

use leveloff_model::process::printable;
use leveloff_model::units::Limit;
use leveloff_text::shell::shell;

use super::document::Document;
use crate::markdown::{code, prose};
use crate::run::environment::{Fact, FactKind, facts};
use crate::run_report::RunReport;

/// Writes where it ran, and what is missing.
pub(super) fn write_environment(report: &RunReport, page: &mut Document) {
    page.heading("Environment");
    let item = |fact: Fact| {
        let value = match fact.kind {
            FactKind::Own => prose(&fact.value),
            FactKind::Command | FactKind::Foreign => code(&fact.value),
        };
        format!("{}: {value}", fact.name)
    };
    let items: Vec<String> = facts(report).into_iter().map(item).collect();
    page.list(&items);
    let missing = report.background.gaps.iter().chain(&report.notes);
    let missing: Vec<String> = missing.map(|line| printable(line.as_bytes())).collect();
    if !missing.is_empty() {
        page.paragraph("Not measured, left out or guessed:");
        page.fence("text", &missing.join("\n"));
    }
}

/// Writes what to run.
pub(super) fn write_reproduction(report: &RunReport, page: &mut Document) {
    page.heading("How to reproduce");
    let background = &report.background;
    let facts = flags(report);
    let lines = match (&background.command, background.joined) {
        (Some(command), _) => vec![
            format!("leveloff run{facts} -o run.jsonl -- {}", shell(command)),
            "leveloff report run.jsonl -o report.md".to_owned(),
        ],
        (None, Some(_)) => vec![
            format!("leveloff record{facts} --pid PID -o run.jsonl"),
            "leveloff report run.jsonl -o report.md".to_owned(),
        ],
        (None, None) => {
            let file = shell(std::slice::from_ref(&report.input));
            vec![format!("leveloff report {file}{facts} -o report.md")]
        }
    };
    page.fence("sh", &lines.join("\n"));
}

/// Writes how the verdict was found.
pub(super) fn write_method(report: &RunReport, page: &mut Document) {
    let memory = match report.background.recorder {
        Some(_) => "Memory is that of the whole process tree, shared pages counted once (PSS). ",
        None => "Memory is the number in the input. ",
    };
    page.heading("Method");
    page.paragraph(&format!(
        "leveloff {}. {memory}A rate is the slope of a straight line (least squares), with an interval that stays valid at \
         repeated looks; growth is called a leak only when it lasts longer than healthy warmups or than a \
         stated horizon. 1 GiB is 1024 MiB.",
        report.tool
    ));
}

/// What was stated, as flags.
fn flags(report: &RunReport) -> String {
    let stated = &report.stated;
    let limit = stated.limit.map(|limit| match limit {
        Limit::Size(size) => exactly(size.0),
        Limit::Share(share) => format!("{}%", share * 100.0),
    });
    let flags = [
        ("--level-by", stated.level_by.map(|step| step.to_string())),
        (
            "--level-by",
            stated.level_by_time.map(|time| format!("{}s", time.0)),
        ),
        ("--limit", limit),
        (
            "--planned-steps",
            stated.planned_steps.map(|step| step.to_string()),
        ),
        (
            "--epoch-steps",
            stated.epoch_steps.map(|step| step.to_string()),
        ),
    ];
    let texts = flags
        .into_iter()
        .filter_map(|(flag, value)| Some(format!(" {flag} {}", value?)));
    texts.collect()
}

/// A size in the largest unit that holds it exactly: `28GiB`.
fn exactly(bytes: u64) -> String {
    let units = [
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
    ];
    let fits = |(unit, _): &(u64, &str)| bytes > 0 && bytes.is_multiple_of(*unit);
    match units.into_iter().find(fits) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes}B"),
    }
}
