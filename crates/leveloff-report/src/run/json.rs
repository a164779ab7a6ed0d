//! A run for programs: one JSON object.
//!
//! What `judge` says of it comes first, under the same names; then what only a report knows. Amounts
//! are bytes, times are seconds, and what is not known is null.

mod curves;
mod environment;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_analysis::SeriesAccount;
use leveloff_classifier::run_curves::{RunEvent, RunEventKind};
use leveloff_model::training_counters::GrownTensors;
use leveloff_text::sizing::Sizing;
use serde::Serialize;

use crate::run_report::{ListedProcess, RunReport};
use crate::verdict::json::{Plain, Row, to_line};
use curves::CurvesRow;
use environment::EnvironmentRow;

/// What this document calls itself.
pub const FORMAT: &str = "leveloff-report";

/// Its version: raised when a name goes or changes its meaning, not when one is added.
pub const VERSION: u32 = 1;

/// The document, with the end of its line.
pub fn document(report: &RunReport) -> String {
    let judged = report.judged();
    let mut text = to_line(&ReportRow {
        judged: Row::of(&judged),
        growth_since_x: Plain(report.account.since.moment.x(report.verdict.x_unit)),
        end_x: Plain(report.account.now.x(report.verdict.x_unit)),
        end_bytes: report.account.memory.now.0,
        peak_bytes: report.account.memory.peak.0,
        parts: report.series.iter().map(PartRow::of).collect(),
        tensors_grown: report.grown.iter().map(GrownRow::of).collect(),
        trimmed_bytes: report.trimmed().map(|trimmed| trimmed.0),
        members: report.processes.iter().map(MemberRow::of).collect(),
        members_left_out: report.processes_left_out,
        sizing: SizingRow {
            host: report.host_sizing.as_ref().map(MachineRow::of),
            gpu: report.gpu_sizing.as_ref().map(MachineRow::of),
        },
        environment: EnvironmentRow::of(report),
        events: report.curves.events().iter().map(EventRow::of).collect(),
        events_are_thinned: report.curves.events_are_thinned(),
        curves: CurvesRow::of(&report.curves, report.verdict.x_unit == XUnit::Second),
        format: FORMAT,
        version: VERSION,
        tool: &report.tool,
    });
    text.push('\n');
    text
}

#[derive(Serialize)]
struct ReportRow<'a> {
    #[serde(flatten)]
    judged: Row<'a>,
    growth_since_x: Plain,
    end_x: Plain,
    end_bytes: u64,
    peak_bytes: u64,
    parts: Vec<PartRow>,
    tensors_grown: Vec<GrownRow<'a>>,
    trimmed_bytes: Option<u64>,
    members: Vec<MemberRow<'a>>,
    members_left_out: u64,
    sizing: SizingRow,
    environment: EnvironmentRow<'a>,
    events: Vec<EventRow<'a>>,
    events_are_thinned: bool,
    curves: CurvesRow,
    format: &'static str,
    version: u32,
    tool: &'a str,
}

#[derive(Serialize)]
struct PartRow {
    series: &'static str,
    unit: &'static str,
    baseline: Plain,
    onset: Plain,
    end: Plain,
    settled: Plain,
    peak: Plain,
    growth: Plain,
    rate: Plain,
    rate_low: Plain,
    rate_high: Plain,
    share: Plain,
    rss_bytes: Option<u64>,
    processes: Option<u32>,
}

#[derive(Serialize)]
struct GrownRow<'a> {
    what: &'a str,
    more: u64,
    more_bytes: u64,
}

#[derive(Serialize)]
struct MemberRow<'a> {
    pid: i32,
    role: &'static str,
    why: Option<&'a str>,
    rank: Option<u32>,
    depth: usize,
    command: Option<&'a [String]>,
    first_bytes: u64,
    newest_bytes: u64,
    peak_bytes: u64,
    rss_bytes: u64,
    growth_bytes: i64,
    first_seen_s: Plain,
    last_seen_s: Plain,
    is_there: bool,
}

#[derive(Serialize)]
struct SizingRow {
    host: Option<MachineRow>,
    gpu: Option<MachineRow>,
}

#[derive(Serialize)]
struct MachineRow {
    baseline_bytes: Plain,
    warmup_end_x: Plain,
    level_bytes: Plain,
    peak_bytes: Plain,
    needed_bytes: Plain,
    comfortable_bytes: Plain,
}

#[derive(Serialize)]
struct EventRow<'a> {
    x: Plain,
    t_s: Plain,
    kind: &'static str,
    epoch: Option<u64>,
    name: Option<&'a str>,
}

impl PartRow {
    fn of(part: &SeriesAccount) -> PartRow {
        PartRow {
            series: part.series.name(),
            unit: if part.series.is_bytes() {
                "bytes"
            } else {
                "count"
            },
            baseline: Plain(Some(part.baseline)),
            onset: Plain(Some(part.base)),
            end: Plain(Some(part.end)),
            settled: Plain(Some(part.settled)),
            peak: Plain(Some(part.peak)),
            growth: Plain(Some(part.growth())),
            rate: Plain(part.rate.map(|rate| rate.value)),
            rate_low: Plain(part.rate.map(|rate| rate.low)),
            rate_high: Plain(part.rate.map(|rate| rate.high)),
            share: Plain(part.share),
            rss_bytes: part.rss.map(|rss| rss.0),
            processes: part.processes,
        }
    }
}

impl GrownRow<'_> {
    fn of(grown: &GrownTensors) -> GrownRow<'_> {
        GrownRow {
            what: &grown.what,
            more: grown.more,
            more_bytes: grown.more_bytes.0,
        }
    }
}

impl MemberRow<'_> {
    fn of(process: &ListedProcess) -> MemberRow<'_> {
        let account = &process.account;
        MemberRow {
            pid: account.pid.0,
            role: account.role.name(),
            why: process.role_reason(),
            rank: account.rank.map(|rank| rank.0),
            depth: process.depth,
            command: process.command(),
            first_bytes: account.first.0,
            newest_bytes: account.memory.now.0,
            peak_bytes: account.memory.peak.0,
            rss_bytes: account.rss.0,
            growth_bytes: account.growth().0,
            first_seen_s: Plain(account.seen.map(|seen| seen.0.0)),
            last_seen_s: Plain(account.seen.map(|seen| seen.1.0)),
            is_there: account.is_alive,
        }
    }
}

impl MachineRow {
    fn of(sizing: &Sizing) -> MachineRow {
        let whole = |bytes: f64| Plain(Some(bytes.round()));
        MachineRow {
            baseline_bytes: whole(sizing.baseline),
            warmup_end_x: Plain(sizing.warmup_end_x),
            level_bytes: whole(sizing.level),
            peak_bytes: whole(sizing.peak),
            needed_bytes: whole(sizing.needed),
            comfortable_bytes: whole(sizing.comfortable),
        }
    }
}

impl EventRow<'_> {
    fn of(event: &RunEvent) -> EventRow<'_> {
        let (kind, epoch, name) = match &event.kind {
            RunEventKind::Evaluation => ("evaluation", None, None),
            RunEventKind::Checkpoint => ("checkpoint", None, None),
            RunEventKind::Epoch(epoch) => ("epoch", Some(*epoch), None),
            RunEventKind::Named(name) => ("named", None, Some(name.as_str())),
        };
        EventRow {
            x: Plain(event.x),
            t_s: Plain(event.t),
            kind,
            epoch,
            name,
        }
    }
}

#[cfg(test)]
mod tests;
