//! The guard's messages.

use std::time::Duration;

use leveloff_model::process::printable;
use leveloff_model::units::{Bytes, Seconds};
use leveloff_sampler::signalling::StopSignal;
use serde_json::{Value, json};

use super::limit_usage::LimitUsage;
use super::policy::{Forecast, Reason};
use super::stop_report::{Checkpoint, StopReport};
use super::stop_sequence::Stage;

/// Why a run is stopped.
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Limit(usage) | Reason::Gpu(usage) => {
            format!(
                "{} is {}, the limit is {}",
                usage.measure, usage.used, usage.limit
            )
        }
        Reason::Ceiling(usage) => format!(
            "{} is {} of {}, where the kernel's OOM killer takes over",
            usage.measure, usage.used, usage.limit
        ),
        Reason::Forecast {
            left,
            stop_before,
            ceiling,
        } => format!(
            "at the judged rate it meets its ceiling of {ceiling} in {left}, less than --stop-before {}",
            seconds(*stop_before)
        ),
        Reason::TrialOver => "the trial has seen enough of it".to_owned(),
    }
}

/// The limit is near.
pub fn warning(usage: &LimitUsage, limit: Bytes, forecast: Forecast) -> String {
    let when = match forecast {
        Forecast::Met { left, .. } => format!(", in about {left} at the present rate"),
        Forecast::Open => String::new(),
    };
    format!(
        "warning: {} is {}; the guard stops the run at {limit}{when}",
        usage.measure, usage.used
    )
}

/// A summary of a stop.
pub fn stop_summary(report: &StopReport) -> Vec<String> {
    let at = report
        .step
        .map_or_else(String::new, |step| format!(" at step {step}"));
    let stages = report.stages.iter();
    let stages: Vec<String> = stages
        .map(|(stage, after)| stage_after(*stage, *after, report.signal))
        .collect();
    let end = match report.left.as_slice() {
        [] => format!("all processes exited after {}", precise(report.took)),
        left => {
            let left: Vec<String> = left.iter().map(ToString::to_string).collect();
            format!(
                "still running, even after SIGKILL: process {}",
                left.join(", ")
            )
        }
    };
    vec![
        format!("the guard stopped the run{at}: {}", reason(&report.reason)),
        format!("{}; {end}", stages.join(", ")),
        match &report.checkpoint {
            Some(checkpoint) => saved(checkpoint),
            None => "the training reported no checkpoint since; look for its own".to_owned(),
        },
    ]
}

/// The same for programs: `stop.json` of a bundle.
pub fn stop_json(report: &StopReport) -> Value {
    let (reason_name, used, limit) = match report.reason {
        Reason::Limit(usage) => ("limit", Some(usage.used), Some(usage.limit)),
        Reason::Ceiling(usage) => ("ceiling", Some(usage.used), Some(usage.limit)),
        Reason::Gpu(usage) => ("gpu-limit", Some(usage.used), Some(usage.limit)),
        Reason::Forecast { ceiling, .. } => ("forecast", None, Some(ceiling)),
        Reason::TrialOver => ("trial", None, None),
    };
    let stages = report.stages.iter();
    let stages: Vec<Value> = stages
        .map(|(stage, after)| json!({"stage": stage_name(*stage), "after_s": after.as_secs_f64()}))
        .collect();
    json!({
        "reason": reason_name,
        "text": reason(&report.reason),
        "used_bytes": used.map(|used| used.0),
        "limit_bytes": limit.map(|limit| limit.0),
        "memory_bytes": report.memory.0,
        "peak_bytes": report.peak.0,
        "step": report.step.map(|step| step.0),
        "stages": stages,
        "took_s": report.took.as_secs_f64(),
        "checkpoint": report.checkpoint.as_ref().map(|checkpoint| json!({
            "step": checkpoint.step.map(|step| step.0),
            "path": checkpoint.path,
        })),
        "left": report.left.iter().map(|pid| pid.0).collect::<Vec<_>>(),
    })
}

/// The message at the begin of a stage. The request has its own, once it was written.
pub fn stage(stage: Stage, signal: StopSignal, grace: Duration) -> Option<String> {
    let grace = seconds(grace);
    match stage {
        Stage::Signal => Some(format!(
            "sending {signal}, so that the training saves and stops; it has {grace}"
        )),
        Stage::Terminate => Some(format!(
            "sending SIGTERM to every process of the run; they have {grace}"
        )),
        Stage::Kill => Some("sending SIGKILL to every process of the run that is left".to_owned()),
        Stage::Request | Stage::Over => None,
    }
}

/// A stage's name in marks and files.
pub fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Request => "request",
        Stage::Signal => "signal",
        Stage::Terminate => "terminate",
        Stage::Kill => "kill",
        Stage::Over => "over",
    }
}

/// A time, to be printed.
pub fn seconds(time: Duration) -> Seconds {
    Seconds(time.as_secs_f64())
}

/// Below ten seconds, with tenths.
fn precise(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 10.0 => format!("{short:.1} s"),
        _ => seconds(time).to_string(),
    }
}

fn stage_after(stage: Stage, after: Duration, signal: StopSignal) -> String {
    let action = match stage {
        Stage::Request => "asked to save and stop".to_owned(),
        Stage::Signal => format!("sent {signal}"),
        Stage::Terminate => "sent SIGTERM to every process".to_owned(),
        Stage::Kill => "sent SIGKILL to every process".to_owned(),
        Stage::Over => String::new(),
    };
    match after.as_secs_f64() {
        at_once if at_once < 0.5 => action,
        _ => format!("after {} {action}", precise(after)),
    }
}

fn saved(checkpoint: &Checkpoint) -> String {
    let step = checkpoint
        .step
        .map_or_else(String::new, |step| format!(" of step {step}"));
    match &checkpoint.path {
        Some(path) => format!("checkpoint{step}: {}", printable(path.as_bytes())),
        None => format!("the training saved a checkpoint{step} and reported no path"),
    }
}
