use leveloff_classifier::gate::{Gates, GrowthBound, Horizon};
use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::run_curves::RunCurves;
use leveloff_classifier::units::{Amount, X};
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Bytes, Seconds, Step};

use super::*;
const MIB: f64 = 1048576.0;

/// The sentence of each gate, for a run with this memory in MiB at each step.
fn gate_texts(gates: &Gates, steps: u32, memory: impl Fn(f64) -> f64) -> Vec<String> {
    let stated = StatedFacts {
        level_by: Some(Step(90)),
        ..StatedFacts::default()
    };
    let mut judge = RunJudge::new(XUnit::Step, &stated);
    let mut curves = RunCurves::default();
    for step in 0..steps {
        let noise = f64::from(step * 7919 % 13) * 0.2;
        let observation = Observation {
            count: Some(f64::from(step)),
            t: Some(Seconds(2.0 * f64::from(step))),
            memory: Bytes(((memory(f64::from(step)) + noise) * MIB) as u64),
            ..Observation::default()
        };
        judge.observe(&observation);
        curves.observe(&observation);
    }
    let verdict = judge.verdict();
    let results = gates.hold(&verdict, &curves);
    results.iter().map(|r| gate_sentence(r, &verdict)).collect()
}

/// Warms up until step 60 and stays level, at about this many MiB.
fn healthy(level: f64) -> impl Fn(f64) -> f64 {
    move |step| level - 240.0 + 4.0 * step.min(60.0)
}

fn leaky(step: f64) -> f64 {
    1000.0 + 2.0 * step
}

fn growth(mib: f64, per: XUnit) -> Gates {
    let amount = Amount(mib * MIB);
    Gates {
        max_growth: Some(GrowthBound { amount, per }),
        ..Gates::default()
    }
}

#[test]
fn a_bound_that_is_missed_by_little_says_by_how_much() {
    let gates = Gates {
        max_peak: Some(Bytes(2000 << 20)),
        max_level: Some(Bytes(3000 << 20)),
        ..Gates::default()
    };
    let texts = gate_texts(&gates, 400, healthy(2000.0));
    assert_eq!(
        texts[1],
        "memory in the last fifth of the run: 2.0 GiB of at most 2.9 GiB"
    );
    assert_eq!(texts[2], "peak 2.0 GiB, 2.40 MiB above the 2.0 GiB allowed");
}

#[test]
fn growth_is_printed_with_its_base_and_bound() {
    let fails = &gate_texts(&growth(1.0, XUnit::Step), 900, leaky)[1];
    assert!(fails.starts_with("grows 2.00 MiB per step ("), "{fails}");
    assert!(
        fails.ends_with("), more than the 1.00 MiB per step allowed"),
        "{fails}"
    );
    let passes = &gate_texts(&growth(3.0, XUnit::Step), 900, leaky)[1];
    assert_eq!(
        passes,
        "grows 2.00 MiB per step of at most 3.00 MiB per step"
    );
    let other = &gate_texts(&growth(1.0, XUnit::Epoch), 900, leaky)[1];
    assert!(other.contains("state it per step"), "{other}");
}

#[test]
fn what_is_open_says_until_when() {
    let text = &gate_texts(&Gates::default(), 30, leaky)[0];
    assert!(text.starts_with("undecided: growing"), "{text}");
    assert!(text.contains("; a leak from step "), "{text}");
}

#[test]
fn a_late_level_is_printed_with_both_steps() {
    let gates = Gates {
        level_by: Some(Horizon::Step(X(90.0))),
        ..Gates::default()
    };
    let late = |step: f64| 500.0 + 4.0 * step.min(150.0);
    let texts = gate_texts(&gates, 900, late);
    assert!(
        texts[1].starts_with("level since step 1") && texts[1].ends_with("later than step 90"),
        "{texts:?}"
    );
}
