use leveloff_model::recording::StatedFacts;

use super::*;
use crate::observation::Observation;
use crate::run::RunJudge;

const MIB: f64 = 1048576.0;

/// A run of one number at each step, and what every gate says of it.
fn held(gates: &Gates, steps: u32, memory: impl Fn(f64) -> f64) -> Vec<(Gate, CheckOutcome)> {
    let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
    let mut curves = RunCurves::new();
    for step in 0..steps {
        let wobble = f64::from(step * 7919 % 13) * 0.2;
        let observation = Observation {
            count: Some(f64::from(step)),
            t: Some(Seconds(2.0 * f64::from(step))),
            memory: Bytes(((memory(f64::from(step)) + wobble) * MIB) as u64),
            ..Observation::default()
        };
        judge.observe(&observation);
        curves.observe(&observation);
    }
    let results = gates.hold(&judge.verdict(), &curves);
    results.iter().map(|r| (r.gate, r.outcome)).collect()
}

fn level_by(step: f64) -> Gates {
    Gates {
        level_by: Some(Horizon::Step(X(step))),
        ..Gates::default()
    }
}

fn growth(bytes: f64, per: XUnit) -> Gates {
    Gates {
        max_growth: Some(GrowthBound {
            amount: Amount(bytes),
            per,
        }),
        ..Gates::default()
    }
}

#[test]
fn a_leak_fails_and_what_is_too_young_is_open() {
    let line = |step: f64| 500.0 + 2.0 * step;
    assert_eq!(
        held(&Gates::default(), 1200, line),
        [(Gate::Leak, CheckOutcome::Failed)]
    );
    assert_eq!(
        held(&Gates::default(), 40, line),
        [(Gate::Leak, CheckOutcome::Open)]
    );
}

#[test]
fn a_warmup_may_end_by_the_stated_step_and_not_much_later() {
    let until_150 = |step: f64| 500.0 + 4.0 * step.min(150.0);
    let by = |step| held(&level_by(step), 600, until_150)[1];
    assert_eq!(by(90.0), (Gate::LevelBy, CheckOutcome::Failed));
    assert_eq!(by(160.0), (Gate::LevelBy, CheckOutcome::Passed));
}

#[test]
fn growth_between_distant_samples_is_not_called_late() {
    // Nothing was sampled from step 70 to step 100.
    let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
    let mut curves = RunCurves::new();
    for step in (0..=70).chain(100..=300).step_by(10) {
        let memory = (100.0 + 0.7 * f64::from(step).min(98.0)) * MIB;
        let observation = Observation {
            count: Some(f64::from(step)),
            memory: Bytes(memory as u64),
            ..Observation::default()
        };
        judge.observe(&observation);
        curves.observe(&observation);
    }
    let results = level_by(90.0).hold(&judge.verdict(), &curves);
    assert!(
        results
            .iter()
            .all(|result| result.outcome != CheckOutcome::Failed)
    );
}

#[test]
fn one_lasting_jump_is_no_late_warmup() {
    let evaluated = |step: f64| if step < 200.0 { 500.0 } else { 620.0 };
    let results = held(&level_by(90.0), 900, evaluated);
    assert!(
        results.contains(&(Gate::LevelBy, CheckOutcome::Passed)),
        "{results:?}"
    );
}

#[test]
fn growth_is_held_against_its_bound_in_steps_and_in_time() {
    let line = |step: f64| 500.0 + 2.0 * step;
    let outcome = |gates: &Gates| held(gates, 900, line)[1].1;
    assert_eq!(
        outcome(&growth(3.0 * MIB, XUnit::Step)),
        CheckOutcome::Passed
    );
    assert_eq!(
        outcome(&growth(1.0 * MIB, XUnit::Step)),
        CheckOutcome::Failed
    );
    // A step takes two seconds.
    assert_eq!(
        outcome(&growth(0.6 * MIB, XUnit::Second)),
        CheckOutcome::Failed
    );
    assert_eq!(
        outcome(&growth(1.4 * MIB, XUnit::Second)),
        CheckOutcome::Passed
    );
    assert_eq!(
        outcome(&growth(1.0 * MIB, XUnit::Epoch)),
        CheckOutcome::Open
    );
    let in_epochs = |bytes: f64| Gates {
        epoch_steps: Some(X(100.0)),
        ..growth(bytes, XUnit::Epoch)
    };
    assert_eq!(outcome(&in_epochs(100.0 * MIB)), CheckOutcome::Failed);
    assert_eq!(outcome(&in_epochs(300.0 * MIB)), CheckOutcome::Passed);
    let flat = held(&growth(1.0 * MIB, XUnit::Step), 300, |_| 500.0);
    assert_eq!(flat[1].1, CheckOutcome::Passed);
}

#[test]
fn levels_and_peaks_are_held_against_theirs() {
    let gates = Gates {
        max_level: Some(Bytes(600 << 20)),
        max_peak: Some(Bytes(600 << 20)),
        ..Gates::default()
    };
    let spike = |step: f64| if step == 100.0 { 700.0 } else { 500.0 };
    let results = held(&gates, 300, spike);
    assert!(results.contains(&(Gate::MaxLevel, CheckOutcome::Passed)));
    assert!(results.contains(&(Gate::MaxPeak, CheckOutcome::Failed)));
}
