//! Where it ran, how to see it again, and how it was judged.

use std::collections::BTreeMap;

use leveloff_model::units::Limit;
use leveloff_text::verdict::end_words;

use super::document::Document;
use crate::markdown::code;
use crate::run_report::{Background, RunReport};

/// Writes what is known of the surroundings.
pub(super) fn write_environment(report: &RunReport, page: &mut Document) {
    let items = environment(&report.background);
    page.heading("Environment");
    let mut all = vec![format!(
        "input: {} ({})",
        code(&report.input),
        report.format
    )];
    all.extend(items);
    page.list(&all);
    let background = &report.background;
    let mut missing = background.gaps.clone();
    missing.extend(report.notes.iter().cloned());
    if !missing.is_empty() {
        page.paragraph("What was not measured, left out or guessed:");
        let lines: Vec<String> = missing
            .iter()
            .map(|line| leveloff_model::process::printable(line.as_bytes()))
            .collect();
        page.fence("text", &lines.join("\n"));
    }
}

/// Writes what to run.
pub(super) fn write_reproduction(report: &RunReport, page: &mut Document) {
    page.heading("How to reproduce");
    let background = &report.background;
    let facts = facts(report);
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
        None => "Memory is what the input tells. ",
    };
    page.heading("Method");
    page.paragraph(&format!(
        "leveloff {}. {memory}A rate is the slope of a straight line (least squares), with an interval that may be looked at again and \
         again; growth is called a leak only when it has outlived healthy warmups or a stated horizon. \
         1 GiB is 1024 MiB.",
        report.tool
    ));
}

fn environment(background: &Background) -> Vec<String> {
    let mut items = Vec::new();
    let mut tell = |name: &str, value: Option<String>| {
        items.extend(value.map(|value| format!("{name}: {value}")));
    };
    tell(
        "command",
        background
            .command
            .as_ref()
            .map(|command| code(&shell(command))),
    );
    tell("joined", background.joined.map(|pid| format!("pid {pid}")));
    tell("host", background.host.as_deref().map(code));
    tell("kernel", background.kernel.as_deref().map(code));
    tell(
        "memory of the machine",
        background.machine_memory.map(|memory| memory.to_string()),
    );
    tell(
        "control group",
        background.cgroup.as_ref().map(|group| {
            let limit = group
                .limit
                .map_or_else(|| "no limit".to_owned(), |limit| format!("limit {limit}"));
            format!("{limit} (version {}, {})", group.version, code(&group.path))
        }),
    );
    if let Some(software) = &background.software {
        tell("Python", software.python.as_deref().map(code));
        tell("packages", listed(software.packages.as_ref(), " "));
        tell("variables", listed(software.variables.as_ref(), "="));
    }
    tell(
        "sampled every",
        background.interval.map(|interval| interval.to_string()),
    );
    tell(
        "recorded by",
        background
            .recorder
            .as_ref()
            .map(|tool| format!("leveloff {}", code(tool))),
    );
    tell(
        "cost of measuring",
        background
            .own_cost_percent
            .map(|cost| format!("{cost:.2} % of one core")),
    );
    tell(
        "end",
        background
            .end
            .as_ref()
            .map(|end| format!("{} after {}", end_words(end.reason), end.t)),
    );
    items
}

/// `torch 2.8.0`, `numpy 2.4.6`; `None` for what is not known or empty.
fn listed(values: Option<&BTreeMap<String, String>>, sign: &str) -> Option<String> {
    let values = values.filter(|values| !values.is_empty())?.iter();
    let values = values.map(|(name, value)| code(&format!("{name}{sign}{value}")));
    Some(values.collect::<Vec<_>>().join(", "))
}

/// What was stated, as flags.
fn facts(report: &RunReport) -> String {
    let stated = &report.stated;
    let limit = stated.limit.map(|limit| match limit {
        Limit::Size(size) => exactly(size.0),
        Limit::Share(share) => format!("{}%", share * 100.0),
    });
    let flags = [
        ("--level-by", stated.level_by.map(|step| step.to_string())),
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
    let told = flags
        .into_iter()
        .filter_map(|(flag, value)| Some(format!(" {flag} {}", value?)));
    told.collect()
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

/// A command as it may be typed. Words stand in quotes unless they are plain.
fn shell(command: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let quoted = |word: &String| {
        let word = leveloff_model::process::printable(word.as_bytes());
        if !word.is_empty() && word.chars().all(is_plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    command.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
