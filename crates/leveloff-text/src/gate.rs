//! The words of each gate, the same in text, JUnit, GitHub and GitLab. A new gate needs them here only.

use leveloff_classifier::compare::Comparison;
use leveloff_classifier::gate::{
    CheckOutcome, Gate, GateNumbers, GateReason, GateResult, MeasuredAndBound,
};
use leveloff_classifier::units::{Amount, AmountPerX, X};
use leveloff_classifier::verdict::{RunVerdict, WhyUnknown, WillFinish};

use crate::comparison;
use crate::rate::{MemoryRate, amount};
use crate::steps;
use crate::subject::things;
use crate::verdict::{finishing_words, hidden, line, short_reason};
use crate::x_position::XPosition;

/// What the gate requires, in a few words.
pub fn gate_title(gate: Gate) -> &'static str {
    match gate {
        Gate::Leak => "memory does not leak",
        Gate::LevelBy => "memory levels off in time",
        Gate::MaxLevel => "level is not too high",
        Gate::MaxGrowth => "growth is not too fast",
        Gate::MaxPeak => "peak is not too high",
        Gate::WillFinish => "the run finishes below the limit",
        Gate::Baseline => "no worse than the baseline",
    }
}

/// The gate as a label.
pub fn gate_label(gate: Gate) -> &'static str {
    match gate {
        Gate::Leak => "leak",
        Gate::LevelBy => "level by",
        Gate::MaxLevel => "level",
        Gate::MaxGrowth => "growth",
        Gate::MaxPeak => "peak",
        Gate::WillFinish => "finishes",
        Gate::Baseline => "baseline",
    }
}

/// What is wrong when the gate fails.
pub fn failure_words(gate: Gate) -> &'static str {
    match gate {
        Gate::Leak => "memory leaks",
        Gate::LevelBy => "memory levels off too late",
        Gate::MaxLevel => "level too high",
        Gate::MaxGrowth => "growth too fast",
        Gate::MaxPeak => "peak too high",
        Gate::WillFinish => "meets the limit before the planned end",
        Gate::Baseline => "worse than the baseline",
    }
}

/// What is open when the gate is undecided.
pub fn open_words(gate: Gate) -> &'static str {
    match gate {
        Gate::Leak => "it is not decided whether memory leaks",
        Gate::LevelBy => "no steps were read, and --level-by is a step",
        Gate::MaxGrowth => "growth may be above its bound",
        Gate::MaxLevel | Gate::MaxPeak => "no memory was measured",
        Gate::WillFinish => "it is not known whether the run finishes",
        Gate::Baseline => "some runs leak, but not more than half",
    }
}

/// What to do when the gate fails; `None` for a leak, whose findings say more. `baseline` is its file.
pub fn failure_step(gate: Gate, baseline: &str) -> Option<String> {
    Some(match gate {
        Gate::Leak => return None,
        Gate::LevelBy => {
            "find what still grows after warmup; if warmup takes that long by design, state it: \
             --level-by STEPS"
                .to_owned()
        }
        Gate::WillFinish => "raise the limit, shorten the run, or find what grows".to_owned(),
        Gate::Baseline => format!(
            "find the change that needs more memory; if it is intended, rewrite the baseline with \
             --update-baseline --baseline {baseline} and commit it"
        ),
        Gate::MaxLevel | Gate::MaxGrowth | Gate::MaxPeak => {
            format!("if this is intended, raise the bound: --{} …", gate.name())
        }
    })
}

/// The unit of a result's numbers, for programs; `None` for a baseline, which has a table instead.
pub fn gate_unit(gate: Gate, verdict: &RunVerdict) -> Option<String> {
    let x = verdict.x_unit.name();
    match gate {
        Gate::Leak => {
            let what = things(verdict.decisive).map_or("bytes", |_| "count");
            Some(format!("{what}/{x}"))
        }
        Gate::LevelBy => Some(x.to_owned()),
        Gate::MaxLevel | Gate::MaxPeak | Gate::WillFinish => Some("bytes".to_owned()),
        Gate::MaxGrowth => Some(format!("bytes/{x}")),
        Gate::Baseline => None,
    }
}

/// The result with its numbers.
pub fn gate_sentence(result: &GateResult, verdict: &RunVerdict) -> String {
    match (result.outcome, result.reason) {
        (CheckOutcome::Open, _) if result.gate == Gate::WillFinish => finishing(verdict),
        (CheckOutcome::Open, GateReason::NotDecided) => not_decided(verdict),
        (CheckOutcome::Open, GateReason::NotMeasured) => not_measured(result.gate).to_owned(),
        _ => measured(result, verdict),
    }
}

/// The result of a comparison with a baseline.
pub fn baseline_sentence(comparison: &Comparison, is_replaced: bool) -> String {
    let headline = comparison::headline(comparison);
    match is_replaced {
        true => format!("replaced; against the old one: {headline}"),
        false => headline,
    }
}

fn not_decided(verdict: &RunVerdict) -> String {
    let judgement = &verdict.judgement;
    let why = format!("undecided: {}", short_reason(judgement.reason));
    match judgement.decide_by {
        Some(by) => {
            let leak = XPosition::new(by.if_it_goes_on, verdict.x_unit);
            format!("{why}; a leak from {leak} on if it continues")
        }
        None => hidden(verdict).map_or(why, |hidden| format!("undecided: {hidden}")),
    }
}

fn finishing(verdict: &RunVerdict) -> String {
    let why = match verdict.will_finish {
        WillFinish::Unknown(why) => why,
        WillFinish::Yes(_) | WillFinish::No(_) => WhyUnknown::Open,
    };
    let unknown = match why {
        WhyUnknown::NoPlan => "how far the run will go is not known: --planned-steps states it",
        WhyUnknown::NoLimit => "no limit is known: --limit states one",
        WhyUnknown::WasAtLimit => "memory was at the limit already",
        WhyUnknown::Open => "the evidence allows both",
    };
    finishing_words(verdict).unwrap_or_else(|| format!("undecided: {unknown}"))
}

fn not_measured(gate: Gate) -> &'static str {
    match gate {
        Gate::MaxGrowth => "undecided: too few points for a growth rate",
        _ => "undecided: no memory was measured",
    }
}

fn measured(result: &GateResult, verdict: &RunVerdict) -> String {
    match (result.gate, result.numbers) {
        (Gate::Leak, _) => line(verdict),
        (Gate::WillFinish, _) => finishing(verdict),
        (Gate::MaxLevel, Some(GateNumbers::Memory(numbers))) => {
            at_most("memory in the last fifth of the run:", numbers, result)
        }
        (Gate::MaxPeak, Some(GateNumbers::Memory(numbers))) => at_most("peak", numbers, result),
        (_, Some(GateNumbers::Position(numbers))) => level_by(numbers, result, verdict),
        (_, Some(GateNumbers::Growth(numbers))) => growth(numbers, result, verdict),
        // Only for a run's own results, among which there is no baseline: see baseline_sentence.
        (gate, _) => gate_title(gate).to_owned(),
    }
}

/// `peak 22.4 GiB, 2.40 GiB above the 20.0 GiB allowed`: with the excess, since a bound missed by
/// little would otherwise read as `20.0 GiB, more than 20.0 GiB`.
fn at_most(what: &str, numbers: MeasuredAndBound<Amount>, result: &GateResult) -> String {
    let (Some(measured), Some(bound)) = (numbers.measured, numbers.bound) else {
        return what.to_owned();
    };
    let (is, allowed) = (measured.bytes(), bound.bytes());
    match result.outcome {
        CheckOutcome::Failed => {
            let above = amount((measured - bound).0);
            format!("{what} {is}, {above} above the {allowed} allowed")
        }
        _ => format!("{what} {is} of at most {allowed}"),
    }
}

fn growth(
    numbers: MeasuredAndBound<AmountPerX>,
    result: &GateResult,
    verdict: &RunVerdict,
) -> String {
    let words = |rate: AmountPerX| MemoryRate::exact(rate, verdict.x_unit).alone();
    let Some(allowed) = numbers.bound.map(words) else {
        return other_unit(numbers.measured.map(words), verdict);
    };
    let interval = verdict.memory.rate.map_or_else(String::new, |rate| {
        MemoryRate::new(rate, verdict.x_unit).with_interval()
    });
    match result.outcome {
        CheckOutcome::Failed => format!("grows {interval}, more than the {allowed} allowed"),
        CheckOutcome::Open | CheckOutcome::Broken => {
            format!("undecided: grows {interval}, which may be more than the {allowed} allowed")
        }
        CheckOutcome::Passed => match numbers.measured.filter(|rate| rate.0 > 0.0) {
            Some(measured) => format!("grows {} of at most {allowed}", words(measured)),
            None => format!("does not grow; {allowed} is allowed"),
        },
    }
}

fn level_by(numbers: MeasuredAndBound<X>, result: &GateResult, verdict: &RunVerdict) -> String {
    let place = |x: X| XPosition::new(x, verdict.x_unit);
    match (numbers.measured, numbers.bound) {
        (_, Some(X(step))) if result.reason == GateReason::NoSteps => {
            format!("undecided: {}", steps::horizon_without_steps(step as u64))
        }
        (Some(since), Some(by)) if result.outcome == CheckOutcome::Failed => {
            format!("level since {}, later than {}", place(since), place(by))
        }
        (Some(since), Some(by)) if since <= by => {
            format!("level since {}, by {}", place(since), place(by))
        }
        (_, Some(by)) => format!("no lasting growth after {}", place(by)),
        _ => "level".to_owned(),
    }
}

fn other_unit(rate: Option<String>, verdict: &RunVerdict) -> String {
    let unit = verdict.x_unit.name();
    let grows = rate.map_or_else(String::new, |rate| format!("grows {rate}; "));
    format!(
        "undecided: {grows}the run counts {unit}s, the bound another unit: state it per {unit}, or state \
         --epoch-steps"
    )
}

#[cfg(test)]
mod tests;
