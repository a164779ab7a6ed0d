//! Where it ran, and what the user stated.

use leveloff_model::recording::{End, EndReason, StatedFacts};
use leveloff_model::units::Limit;
use serde_json::Value;

use crate::json::object;
use crate::run_report::{Group, RunReport};

/// Every key is present, with null for an unknown value.
pub(super) fn row(report: &RunReport) -> Value {
    let background = &report.background;
    let software = background.software.as_ref();
    object! {
        input_format: report.format,
        command: background.command,
        joined_pid: background.joined,
        started_unix_s: background.started_unix,
        host: background.host,
        kernel: background.kernel,
        machine_memory_bytes: background.machine_memory.map(|memory| memory.0),
        cgroup: background.cgroup.as_ref().map(group_row),
        python: software.and_then(|software| software.python.as_ref()),
        packages: software.and_then(|software| software.packages.as_ref()),
        variables: software.and_then(|software| software.variables.as_ref()),
        interval_s: background.interval.map(|interval| interval.0),
        recorder: background.recorder,
        own_cost_percent: background.own_cost_percent,
        end: background.end.as_ref().map(end_row),
        stated: stated_row(&report.stated),
        gaps: background.gaps,
        gaps_left_out: background.gaps_left_out,
    }
}

fn group_row(group: &Group) -> Value {
    object! {
        version: group.version,
        path: group.path,
        limit_bytes: group.limit.map(|limit| limit.0),
    }
}

/// `code` is the exit code or the number of the signal.
fn end_row(end: &End) -> Value {
    let (reason, code) = match end.reason {
        EndReason::Exited(code) => ("exited", Some(code)),
        EndReason::Signalled(signal) => ("signalled", Some(signal)),
        EndReason::TargetGone => ("target_gone", None),
        EndReason::Duration => ("duration", None),
        EndReason::Stopped => ("stopped", None),
        EndReason::Other => ("other", None),
    };
    object! { t_s: end.t.0, reason: reason, code: code }
}

fn stated_row(stated: &StatedFacts) -> Value {
    let (size, share) = match stated.limit {
        Some(Limit::Size(size)) => (Some(size.0), None),
        Some(Limit::Share(share)) => (None, Some(share)),
        None => (None, None),
    };
    object! {
        level_by: stated.level_by.map(|step| step.0),
        limit_bytes: size,
        limit_share: share,
        planned_steps: stated.planned_steps.map(|step| step.0),
        epoch_steps: stated.epoch_steps.map(|step| step.0),
        level_by_s: stated.level_by_time.map(|time| time.0),
    }
}
