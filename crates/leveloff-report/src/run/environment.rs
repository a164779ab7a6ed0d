//! Where and how a run was measured, as a list of facts that HTML and Markdown lay out.

use std::collections::BTreeMap;

use jiff::Timestamp;
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::Limit;
use leveloff_text::shell::shell;
use leveloff_text::verdict::{earlier_words, end_words};

use crate::run_report::{Background, Group, RunReport};

/// One fact.
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) kind: FactKind,
}

/// What the value of a fact is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactKind {
    /// A command line, which may be long.
    Command,
    /// Text that comes from the machine or the run.
    Foreign,
    /// Our own words and numbers.
    Own,
}

/// All facts that are known.
pub(crate) fn facts(report: &RunReport) -> Vec<Fact> {
    use FactKind::{Command, Foreign, Own};
    let around = &report.background;
    let software = around.software.as_ref();
    let joined = around
        .joined
        .map(|pid| format!("process {pid}, already running"));
    let ended = around.end.as_ref();
    let ended = ended.map(|end| format!("{} after {}", end_words(end.reason), end.t));
    let memory = around.machine_memory.map(|memory| memory.to_string());
    // A recording may say that there is none.
    let group = around
        .cgroup
        .as_ref()
        .filter(|group| !group.path.is_empty());
    let limit = report.verdict.limit.map(|limit| limit.to_string());
    let all = [
        ("input", Some(input(report)), Foreign),
        ("command", around.command.as_deref().map(shell), Command),
        ("joined", joined, Own),
        ("started", around.started_unix.and_then(moment), Own),
        ("ended", ended, Own),
        ("host", around.host.clone(), Foreign),
        ("kernel", around.kernel.clone(), Foreign),
        ("machine's memory", memory, Own),
        ("control group", group.map(group_words), Foreign),
        ("nearest limit", limit, Own),
        ("Python", software.and_then(|it| it.python.clone()), Foreign),
        (
            "packages",
            software.and_then(|it| listed(it.packages.as_ref(), " ")),
            Foreign,
        ),
        (
            "variables",
            software.and_then(|it| listed(it.variables.as_ref(), "=")),
            Foreign,
        ),
        ("stated", stated_words(&report.stated), Own),
        (
            "earlier runs",
            report.stated.earlier.as_ref().map(earlier_words),
            Own,
        ),
        ("sampled", sampled_words(around), Own),
    ];
    let known = all.into_iter().filter_map(|(name, value, kind)| {
        let value = value?;
        Some(Fact { name, value, kind })
    });
    known.collect()
}

fn input(report: &RunReport) -> String {
    format!("{} ({})", report.input, report.format)
}

fn moment(unix: f64) -> Option<String> {
    let moment = Timestamp::from_second(unix as i64).ok()?;
    Some(moment.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

fn group_words(group: &Group) -> String {
    let limit = group.limit.map(|limit| format!("limit {limit}"));
    let limit = limit.unwrap_or_else(|| "no limit".to_owned());
    format!("{} (version {}), {limit}", group.path, group.version)
}

/// `torch 2.8.0, numpy 2.4.6`; `None` for what is not known or empty.
fn listed(values: Option<&BTreeMap<String, String>>, sign: &str) -> Option<String> {
    let values = values?.iter();
    let values = values.map(|(name, value)| format!("{name}{sign}{value}"));
    joined(values.map(Some))
}

fn stated_words(stated: &StatedFacts) -> Option<String> {
    let steps = [
        ("level by step", stated.level_by),
        ("planned steps", stated.planned_steps),
        ("steps in an epoch", stated.epoch_steps),
    ];
    let steps = steps
        .into_iter()
        .map(|(what, step)| Some(format!("{what} {}", step?)));
    let limit = stated.limit.map(|limit| match limit {
        Limit::Size(size) => format!("limit {size}"),
        Limit::Share(share) => format!("limit {:.0} % of the machine", share * 100.0),
    });
    let time = stated.level_by_time.map(|time| format!("level by {time}"));
    joined(steps.chain([time, limit]))
}

fn sampled_words(around: &Background) -> Option<String> {
    let recorder = around.recorder.as_ref();
    let cost = around.own_cost_percent;
    joined([
        around
            .interval
            .map(|interval| format!("every {} s", interval.0)),
        recorder.map(|version| format!("by leveloff {version}")),
        cost.map(|percent| format!("at {percent:.2} % of one core")),
    ])
}

/// The known ones, with commas; `None` when there are none.
fn joined(texts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}
