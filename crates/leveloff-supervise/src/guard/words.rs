//! What a guard says.

use std::time::Duration;

use leveloff_model::process::printable;
use leveloff_model::units::{Bytes, Seconds, Step};
use leveloff_sampler::signalling::StopSignal;
use serde_json::{Value, json};

use super::gauge::Gauge;
use super::stop::Stage;
use super::watchman::{Forecast, Why};
use super::{Checkpoint, Stopped};

/// Why a run is stopped.
pub fn why(why: &Why) -> String {
    match why {
        Why::Limit(gauge) | Why::Gpu(gauge) => {
            format!(
                "{} is {}, the limit is {}",
                gauge.measure, gauge.used, gauge.limit
            )
        }
        Why::Ceiling(gauge) => format!(
            "{} is {} of {}, and the kernel kills when that is reached",
            gauge.measure, gauge.used, gauge.limit
        ),
        Why::Forecast {
            left,
            asked,
            ceiling,
        } => format!(
            "at the judged rate its ceiling of {ceiling} is met in {left}, and {} were to be left",
            seconds(*asked)
        ),
    }
}

/// That the limit is near.
pub fn warning(gauge: &Gauge, limit: Bytes, forecast: Forecast) -> String {
    let soon = match forecast {
        Forecast::Met { left, .. } => format!(", in about {left} if it goes on as now"),
        Forecast::Open => String::new(),
    };
    format!(
        "warning: {} is {}; the guard stops the run at {limit}{soon}",
        gauge.measure, gauge.used
    )
}

/// What was done, in the order of doing, for the end.
pub fn stopped(stopped: &Stopped) -> Vec<String> {
    let at = stopped
        .step
        .map_or_else(String::new, |step| format!(" at step {step}"));
    let mut lines = vec![format!(
        "the guard stopped the run{at}: {}",
        why(&stopped.why)
    )];
    let did = stopped
        .did
        .iter()
        .map(|(stage, after)| stage_at(*stage, *after, stopped));
    let did: Vec<String> = did.collect();
    let ended = match stopped.left.as_slice() {
        [] => format!("all of it ended after {}", precise(stopped.took)),
        left => {
            let left: Vec<String> = left.iter().map(ToString::to_string).collect();
            format!(
                "still there: process {}, which even SIGKILL does not end",
                left.join(", ")
            )
        }
    };
    lines.push(format!("{}; {ended}", did.join(", ")));
    lines.push(match &stopped.checkpoint {
        Some(checkpoint) => saved(checkpoint),
        None => "no checkpoint was told of since; look for the training's own".to_owned(),
    });
    lines
}

/// The same for programs.
pub fn facts(stopped: &Stopped) -> Value {
    let (reason, used, limit) = match stopped.why {
        Why::Limit(gauge) => ("limit", Some(gauge.used), Some(gauge.limit)),
        Why::Ceiling(gauge) => ("ceiling", Some(gauge.used), Some(gauge.limit)),
        Why::Gpu(gauge) => ("gpu-limit", Some(gauge.used), Some(gauge.limit)),
        Why::Forecast { ceiling, .. } => ("forecast", None, Some(ceiling)),
    };
    let did: Vec<Value> = stopped
        .did
        .iter()
        .map(|(stage, after)| json!({"stage": name(*stage), "after_s": after.as_secs_f64()}))
        .collect();
    json!({
        "reason": reason,
        "text": why(&stopped.why),
        "used_bytes": used.map(|used| used.0),
        "limit_bytes": limit.map(|limit| limit.0),
        "memory_bytes": stopped.memory.0,
        "peak_bytes": stopped.peak.0,
        "step": stopped.step.map(|step| step.0),
        "stages": did,
        "took_s": stopped.took.as_secs_f64(),
        "checkpoint": stopped.checkpoint.as_ref().map(|checkpoint| json!({
            "step": checkpoint.step.map(|step| step.0),
            "path": checkpoint.path,
        })),
        "left": stopped.left.iter().map(|pid| pid.0).collect::<Vec<_>>(),
    })
}

/// The message at the begin of a stage. The request has its own, once it was written.
pub fn stage(stage: Stage, signal: StopSignal, grace: Duration) -> Option<String> {
    let grace = seconds(grace);
    match stage {
        Stage::Signal => Some(format!(
            "sending {signal}, on which trainings stop; it has {grace}"
        )),
        Stage::Terminate => Some(format!(
            "sending SIGTERM to every process of the run; they have {grace}"
        )),
        Stage::Kill => Some("sending SIGKILL to every process of the run that is left".to_owned()),
        Stage::Request | Stage::Over => None,
    }
}

/// A stage's name in marks and files.
pub fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Request => "request",
        Stage::Signal => "signal",
        Stage::Terminate => "terminate",
        Stage::Kill => "kill",
        Stage::Over => "over",
    }
}

/// A time, for people.
pub fn seconds(time: Duration) -> Seconds {
    Seconds(time.as_secs_f64())
}

/// Below ten seconds, tenths matter.
fn precise(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 10.0 => format!("{short:.1} s"),
        _ => seconds(time).to_string(),
    }
}

fn stage_at(stage: Stage, after: Duration, stopped: &Stopped) -> String {
    let did = match stage {
        Stage::Request => "asked to save and stop".to_owned(),
        Stage::Signal => format!("sent {}", stopped.signal),
        Stage::Terminate => "sent SIGTERM to every process".to_owned(),
        Stage::Kill => "sent SIGKILL to every process".to_owned(),
        Stage::Over => String::new(),
    };
    match after.as_secs_f64() {
        at_once if at_once < 0.5 => did,
        _ => format!("after {} {did}", precise(after)),
    }
}

fn saved(checkpoint: &Checkpoint) -> String {
    let step =
        |step: Option<Step>| step.map_or_else(String::new, |step| format!(" of step {step}"));
    match &checkpoint.path {
        Some(path) => format!(
            "checkpoint{}: {}",
            step(checkpoint.step),
            printable(path.as_bytes())
        ),
        None => format!(
            "a checkpoint{} was saved where the training saves",
            step(checkpoint.step)
        ),
    }
}
