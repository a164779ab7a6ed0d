//! A run for programs: one JSON object.
//!
//! The keys of `leveloff judge --json` come first, under the same names; then what only a report has.
//! Amounts are bytes, times are seconds, and what is not known is null.

mod curves;
mod environment;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_analysis::SeriesAccount;
use leveloff_classifier::run_curves::{RunEvent, RunEventKind, Series};
use leveloff_model::training_counters::GrownTensors;
use leveloff_text::sizing::Sizing;
use serde_json::Value;

use crate::json::{list, merged, object};
use crate::run_report::{ListedProcess, RunReport};
use crate::verdict;

/// The name of this format.
pub const FORMAT: &str = "leveloff-report";

/// Its version: raised when a key is removed or changes its meaning, not when one is added.
pub const VERSION: u32 = 1;

/// The document, with the end of its line.
pub fn document(report: &RunReport) -> String {
    let (account, unit) = (&report.account, report.verdict.x_unit);
    let more = object! {
        growth_since_x: account.since.moment.x(unit),
        end_x: account.now.x(unit),
        end_bytes: account.memory.now.0,
        growth_bytes: account.memory.growth().0,
        parts: list(&report.series, part_row),
        tensors_grown: list(&report.grown, grown_row),
        trimmed_bytes: report.trimmed().map(|trimmed| trimmed.0),
        members: list(&report.processes, member_row),
        members_left_out: report.processes_left_out,
        sizing: object! {
            host: report.host_sizing.as_ref().map(sizing_row),
            gpu: report.gpu_sizing.as_ref().map(sizing_row),
        },
        environment: environment::row(report),
        events: list(report.curves.events(), event_row),
        events_are_thinned: report.curves.events_are_thinned(),
        curves: curves::row(&report.curves, report.verdict.x_unit == XUnit::Second),
        format: FORMAT,
        version: VERSION,
        tool: report.tool,
        steps_per_second: account.speed.map(verdict::json::speed_row),
    };
    merged([verdict::json::row(&report.judged()), more]).to_string() + "\n"
}

/// `bytes` or `count`.
fn unit(series: Series) -> &'static str {
    if series.is_bytes() { "bytes" } else { "count" }
}

fn part_row(part: &SeriesAccount) -> Value {
    object! {
        series: part.series.name(),
        unit: unit(part.series),
        baseline: part.baseline,
        onset: part.base,
        end: part.end,
        settled: part.settled,
        peak: part.peak,
        growth: part.growth(),
        rate: part.rate.map(|rate| rate.value),
        rate_low: part.rate.map(|rate| rate.low),
        rate_high: part.rate.map(|rate| rate.high),
        share: part.share,
        rss_bytes: part.rss.map(|rss| rss.0),
        processes: part.processes,
    }
}

fn grown_row(grown: &GrownTensors) -> Value {
    object! {
        what: grown.what,
        more: grown.more,
        more_bytes: grown.more_bytes.0,
    }
}

fn member_row(process: &ListedProcess) -> Value {
    let account = &process.account;
    object! {
        pid: account.pid.0,
        role: process.role_name(),
        why: process.role_reason(),
        rank: account.rank.map(|rank| rank.0),
        depth: process.depth,
        command: process.command(),
        first_bytes: account.first.0,
        newest_bytes: account.memory.now.0,
        peak_bytes: account.memory.peak.0,
        growth_bytes: account.growth().0,
        rss_bytes: account.rss.0,
        first_seen_s: account.seen.map(|seen| seen.0.0),
        last_seen_s: account.seen.map(|seen| seen.1.0),
        is_there: account.is_alive,
    }
}

fn sizing_row(sizing: &Sizing) -> Value {
    object! {
        baseline_bytes: sizing.baseline.round(),
        warmup_end_x: sizing.warmup_end_x,
        level_bytes: sizing.level.round(),
        peak_bytes: sizing.peak.round(),
        needed_bytes: sizing.needed.round(),
        comfortable_bytes: sizing.comfortable.round(),
    }
}

fn event_row(event: &RunEvent) -> Value {
    let (kind, epoch, name) = match &event.kind {
        RunEventKind::Evaluation => ("evaluation", None, None),
        RunEventKind::Checkpoint => ("checkpoint", None, None),
        RunEventKind::Epoch(epoch) => ("epoch", Some(*epoch), None),
        RunEventKind::Named(name) => ("named", None, Some(name.as_str())),
        RunEventKind::Clock(counter) => ("clock", None, Some(counter.as_str())),
    };
    object! {
        x: event.x,
        t_s: event.t.map(|t| t.0),
        kind: kind,
        epoch: epoch,
        name: name,
    }
}

#[cfg(test)]
mod tests;
