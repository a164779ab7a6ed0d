//! How a gate went, in a sentence. Text, JUnit, GitHub and GitLab say the same.

use leveloff_classifier::gate::{Gate, GateOutcome, GateReason, GateResult};
use leveloff_classifier::verdict::{Rate, RunVerdict};

use crate::judge_text;
use crate::place::Place;
use crate::rate::MemoryRate;
use crate::words::{bytes, short_reason};

/// What is asked, in a few words.
pub fn gate_title(gate: Gate) -> &'static str {
    match gate {
        Gate::Leak => "memory does not leak",
        Gate::LevelBy => "memory levels off in time",
        Gate::MaxLevel => "level is not too high",
        Gate::MaxGrowth => "growth is not too fast",
        Gate::MaxPeak => "peak is not too high",
        Gate::Baseline => "no worse than the baseline",
    }
}

/// How it went, with the numbers.
pub fn gate_sentence(result: &GateResult, verdict: &RunVerdict) -> String {
    let open = |why: &str| format!("cannot be told: {why}");
    match (result.outcome, result.because) {
        (GateOutcome::Open, GateReason::NotDecided) => {
            open(short_reason(verdict.judgement.because))
        }
        (GateOutcome::Open, GateReason::NotMeasured) => open("nothing was measured"),
        (_, GateReason::OtherUnit) => other_unit(result, verdict),
        _ => measured(result, verdict),
    }
}

fn measured(result: &GateResult, verdict: &RunVerdict) -> String {
    let relation = match result.outcome {
        GateOutcome::Failed => "more than",
        GateOutcome::Passed => "within",
        GateOutcome::Open => "perhaps more than",
    };
    let amount =
        |value: Option<f64>| value.map_or_else(|| "?".to_owned(), |v| bytes(v).to_string());
    let rate = |value: Option<f64>| {
        let value = value.unwrap_or(0.0);
        let rate = Rate {
            value,
            low: value,
            high: value,
        };
        MemoryRate::new(rate, verdict.x_unit).alone()
    };
    match result.gate {
        Gate::Leak => judge_text::line(verdict),
        Gate::LevelBy => level_by(result, verdict),
        Gate::MaxLevel => format!(
            "level {}, {relation} {}",
            amount(result.measured),
            amount(result.bound)
        ),
        Gate::MaxPeak => format!(
            "peak {}, {relation} {}",
            amount(result.measured),
            amount(result.bound)
        ),
        Gate::MaxGrowth => format!(
            "grows {}, {relation} {}",
            rate(result.measured),
            rate(result.bound)
        ),
        Gate::Baseline => format!(
            "{} now, {} in the baseline",
            amount(result.measured),
            amount(result.bound)
        ),
    }
}

fn level_by(result: &GateResult, verdict: &RunVerdict) -> String {
    let place = |x: f64| Place::new(x, verdict.x_unit);
    match (result.measured, result.bound) {
        (Some(since), Some(by)) if result.outcome == GateOutcome::Failed => {
            format!("level since {}, later than {}", place(since), place(by))
        }
        (Some(since), Some(by)) if since <= by => {
            format!("level since {}, by {}", place(since), place(by))
        }
        (_, Some(by)) => format!("no late growth after {}", place(by)),
        _ => "level".to_owned(),
    }
}

fn other_unit(result: &GateResult, verdict: &RunVerdict) -> String {
    let unit = verdict.x_unit.name();
    match result.gate {
        Gate::LevelBy => format!("not asked: the run counts {unit}s, not steps"),
        _ => format!("cannot be told: the run counts {unit}s, and the bound is for something else"),
    }
}
