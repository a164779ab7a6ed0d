//! How a gate went, in a sentence. Text, JUnit, GitHub and GitLab say the same.

use leveloff_classifier::compare::Comparison;
use leveloff_classifier::gate::{Gate, GateOutcome, GateReason, GateResult};
use leveloff_classifier::units::{AmountPerX, X};
use leveloff_classifier::verdict::RunVerdict;

use crate::comparison;
use crate::rate::{MemoryRate, amount};
use crate::subject::things;
use crate::verdict::{bytes, line, short_reason};
use crate::x_position::XPosition;

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

/// The same in one word or two, as a label.
pub fn gate_label(gate: Gate) -> &'static str {
    match gate {
        Gate::Leak => "leak",
        Gate::LevelBy => "level by",
        Gate::MaxLevel => "level",
        Gate::MaxGrowth => "growth",
        Gate::MaxPeak => "peak",
        Gate::Baseline => "baseline",
    }
}

/// What is wrong when it fails.
pub fn failure_words(gate: Gate) -> &'static str {
    match gate {
        Gate::Leak => "memory leaks",
        Gate::LevelBy => "memory levels off too late",
        Gate::MaxLevel => "level too high",
        Gate::MaxGrowth => "growth too fast",
        Gate::MaxPeak => "peak too high",
        Gate::Baseline => "worse than the baseline",
    }
}

/// What the numbers of a result count, for programs; `None` for a baseline, whose differences tell.
pub fn gate_unit(gate: Gate, verdict: &RunVerdict) -> Option<String> {
    let x = verdict.x_unit.name();
    match gate {
        Gate::Leak => {
            let what = things(verdict.decisive).map_or("bytes", |_| "count");
            Some(format!("{what}/{x}"))
        }
        Gate::LevelBy => Some(x.to_owned()),
        Gate::MaxLevel | Gate::MaxPeak => Some("bytes".to_owned()),
        Gate::MaxGrowth => Some(format!("bytes/{x}")),
        Gate::Baseline => None,
    }
}

/// How it went, with the numbers.
pub fn gate_sentence(result: &GateResult, verdict: &RunVerdict) -> String {
    match (result.outcome, result.because) {
        (GateOutcome::Open, GateReason::NotDecided) => not_decided(verdict),
        (GateOutcome::Open, GateReason::NotMeasured) => not_measured(result.gate).to_owned(),
        (_, GateReason::OtherUnit) => other_unit(result, verdict),
        _ => measured(result, verdict),
    }
}

/// How it compares with what was before. The numbers of the result alone do not tell of what they are.
pub fn baseline_sentence(comparison: &Comparison, is_replaced: bool) -> String {
    let headline = comparison::headline(comparison);
    match is_replaced {
        true => format!("replaced; against the old one: {headline}"),
        false => headline,
    }
}

fn not_decided(verdict: &RunVerdict) -> String {
    let judgement = &verdict.judgement;
    let why = format!("undecided: {}", short_reason(judgement.because));
    match judgement.decide_by {
        Some(by) => {
            let first = by.earliest();
            let place = XPosition::new(first, verdict.x_unit);
            format!("{why}; cannot be decided before about {place}")
        }
        None => why,
    }
}

fn not_measured(gate: Gate) -> &'static str {
    match gate {
        Gate::MaxGrowth => "undecided: too little was seen to tell how fast it grows",
        _ => "undecided: no memory was measured",
    }
}

fn measured(result: &GateResult, verdict: &RunVerdict) -> String {
    match result.gate {
        Gate::Leak => line(verdict),
        Gate::LevelBy => level_by(result, verdict),
        Gate::MaxLevel => at_most("level", result),
        Gate::MaxPeak => at_most("peak", result),
        Gate::MaxGrowth => growth(result, verdict),
        // Only for a run's own results, among which there is none: see baseline_sentence.
        Gate::Baseline => gate_title(Gate::Baseline).to_owned(),
    }
}

/// `peak 22.4 GiB, 2.40 GiB above the 20.0 GiB allowed`: by how much is told, since a bound that is
/// missed by little would else read as `20.0 GiB, more than 20.0 GiB`.
fn at_most(what: &str, result: &GateResult) -> String {
    let (Some(measured), Some(bound)) = (result.measured, result.bound) else {
        return what.to_owned();
    };
    let (is, allowed) = (bytes(measured), bytes(bound));
    match result.outcome {
        GateOutcome::Failed => {
            let above = amount(measured - bound);
            format!("{what} {is}, {above} above the {allowed} allowed")
        }
        _ => format!("{what} {is} of at most {allowed}"),
    }
}

fn growth(result: &GateResult, verdict: &RunVerdict) -> String {
    let told = |value: f64| MemoryRate::exact(AmountPerX(value), verdict.x_unit).alone();
    let allowed = result.bound.map_or_else(String::new, told);
    let interval = verdict.memory.rate.map_or_else(String::new, |rate| {
        MemoryRate::new(rate, verdict.x_unit).with_interval()
    });
    match result.outcome {
        GateOutcome::Failed => format!("grows {interval}, more than the {allowed} allowed"),
        GateOutcome::Open => {
            format!("undecided: grows {interval}, which may be more than the {allowed} allowed")
        }
        GateOutcome::Passed => match result.measured.filter(|measured| *measured > 0.0) {
            Some(measured) => format!("grows {} of at most {allowed}", told(measured)),
            None => format!("does not grow; {allowed} is allowed"),
        },
    }
}

fn level_by(result: &GateResult, verdict: &RunVerdict) -> String {
    let place = |x: f64| XPosition::new(X(x), verdict.x_unit);
    match (result.measured, result.bound) {
        (Some(since), Some(by)) if result.outcome == GateOutcome::Failed => {
            format!("level since {}, later than {}", place(since), place(by))
        }
        (Some(since), Some(by)) if since <= by => {
            format!("level since {}, by {}", place(since), place(by))
        }
        (_, Some(by)) => format!("no gradual growth that lasts after {}", place(by)),
        _ => "level".to_owned(),
    }
}

fn other_unit(result: &GateResult, verdict: &RunVerdict) -> String {
    let unit = verdict.x_unit.name();
    let grows = result.measured.map_or_else(String::new, |rate| {
        let rate = MemoryRate::exact(AmountPerX(rate), verdict.x_unit);
        format!("grows {}; ", rate.alone())
    });
    format!(
        "undecided: {grows}the run counts {unit}s and the bound is for something else: state it per \
         {unit}, or how many an epoch has (--epoch-steps)"
    )
}

#[cfg(test)]
mod tests;
