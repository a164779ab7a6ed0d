//! Where it ran, and what was stated.

use std::collections::BTreeMap;

use leveloff_model::recording::EndReason;
use leveloff_model::units::Limit;
use serde::Serialize;

use crate::run_report::{Group, RunReport};
use crate::verdict::json::Plain;

/// Everything is there, and null where it is not known.
#[derive(Serialize)]
pub(super) struct EnvironmentRow<'a> {
    input_format: &'a str,
    command: Option<&'a [String]>,
    joined_pid: Option<i32>,
    started_unix_s: Plain,
    host: Option<&'a str>,
    kernel: Option<&'a str>,
    machine_memory_bytes: Option<u64>,
    cgroup: Option<GroupRow<'a>>,
    python: Option<&'a str>,
    packages: Option<&'a BTreeMap<String, String>>,
    variables: Option<&'a BTreeMap<String, String>>,
    interval_s: Plain,
    recorder: Option<&'a str>,
    own_cost_percent: Plain,
    end: Option<EndRow>,
    stated: StatedRow,
    gaps: &'a [String],
    gaps_left_out: u64,
}

#[derive(Serialize)]
struct GroupRow<'a> {
    version: u8,
    path: &'a str,
    limit_bytes: Option<u64>,
}

#[derive(Serialize)]
struct EndRow {
    t_s: Plain,
    reason: &'static str,
    /// The exit code or the number of the signal.
    code: Option<i32>,
}

#[derive(Serialize)]
struct StatedRow {
    level_by: Option<u64>,
    limit_bytes: Option<u64>,
    limit_share: Plain,
    planned_steps: Option<u64>,
    epoch_steps: Option<u64>,
}

impl EnvironmentRow<'_> {
    pub(super) fn of(report: &RunReport) -> EnvironmentRow<'_> {
        let background = &report.background;
        let software = background.software.as_ref();
        EnvironmentRow {
            input_format: &report.format,
            command: background.command.as_deref(),
            joined_pid: background.joined,
            started_unix_s: Plain(background.started_unix),
            host: background.host.as_deref(),
            kernel: background.kernel.as_deref(),
            machine_memory_bytes: background.machine_memory.map(|memory| memory.0),
            cgroup: background.cgroup.as_ref().map(GroupRow::of),
            python: software.and_then(|software| software.python.as_deref()),
            packages: software.and_then(|software| software.packages.as_ref()),
            variables: software.and_then(|software| software.variables.as_ref()),
            interval_s: Plain(background.interval.map(|interval| interval.0)),
            recorder: background.recorder.as_deref(),
            own_cost_percent: Plain(background.own_cost_percent),
            end: background
                .end
                .as_ref()
                .map(|end| EndRow::of(end.t.0, end.reason)),
            stated: StatedRow::of(report),
            gaps: &background.gaps,
            gaps_left_out: background.gaps_left_out,
        }
    }
}

impl GroupRow<'_> {
    fn of(group: &Group) -> GroupRow<'_> {
        GroupRow {
            version: group.version,
            path: &group.path,
            limit_bytes: group.limit.map(|limit| limit.0),
        }
    }
}

impl EndRow {
    fn of(t: f64, reason: EndReason) -> EndRow {
        let (reason, code) = match reason {
            EndReason::Exited(code) => ("exited", Some(code)),
            EndReason::Signalled(signal) => ("signalled", Some(signal)),
            EndReason::TargetGone => ("target_gone", None),
            EndReason::Duration => ("duration", None),
            EndReason::Stopped => ("stopped", None),
            EndReason::Other => ("other", None),
        };
        EndRow {
            t_s: Plain(Some(t)),
            reason,
            code,
        }
    }
}

impl StatedRow {
    fn of(report: &RunReport) -> StatedRow {
        let stated = &report.stated;
        let (size, share) = match stated.limit {
            Some(Limit::Size(size)) => (Some(size.0), None),
            Some(Limit::Share(share)) => (None, Some(share)),
            None => (None, None),
        };
        StatedRow {
            level_by: stated.level_by.map(|step| step.0),
            limit_bytes: size,
            limit_share: Plain(share),
            planned_steps: stated.planned_steps.map(|step| step.0),
            epoch_steps: stated.epoch_steps.map(|step| step.0),
        }
    }
}
