use leveloff_model::units::{Bytes, Seconds, Step};

use super::*;
use crate::observation::{Observation, XUnit};
use crate::run_curves::RunCurves;
use crate::units::X;

const MIB: f64 = 1048576.0;
const STRETCH: Stretch = Stretch {
    from: X(200.0),
    to: X(400.0),
};

/// A run whose memory is `memory(step)` MiB, with `pace` seconds for a step.
fn run_with(memory: impl Fn(f64) -> f64, pace: f64) -> RunOver {
    let mut curves = RunCurves::new();
    for step in 1..=400_u64 {
        let x = step as f64;
        let mut observation =
            Observation::at_step(Step(step), Bytes((memory(x) * MIB).round() as u64));
        observation.t = Some(Seconds(x * pace));
        curves.observe(&observation);
    }
    RunOver::of(&curves, XUnit::Step, STRETCH).unwrap()
}

fn growing(rate: f64) -> RunOver {
    run_with(|x| 600.0 + rate * x, 0.05)
}

fn effect_of(control: &[RunOver], arm: &[RunOver]) -> Effect {
    ArmResult::of(control, arm, 30).unwrap().effect
}

#[test]
fn growth_and_pace_are_measured() {
    let run = growing(1.0);
    assert!((run.growth.value / MIB - 1.0).abs() < 0.01, "{run:?}");
    assert!((run.pace.unwrap().value - 0.05).abs() < 1e-6, "{run:?}");
}

#[test]
fn a_change_that_ends_the_growth_stops_it() {
    assert_eq!(effect_of(&[growing(1.0)], &[growing(0.0)]), Effect::Stops);
    assert_eq!(effect_of(&[growing(1.0)], &[growing(0.05)]), Effect::Stops);
}

#[test]
fn a_change_without_effect_is_not_credited() {
    let result = ArmResult::of(&[growing(1.0)], &[growing(1.0)], 30).unwrap();
    assert_eq!(result.effect, Effect::None);
    assert!(result.change.low.0 < 0.0 && result.change.high.0 > 0.0);
}

#[test]
fn half_of_the_growth_is_a_reduction() {
    assert_eq!(effect_of(&[growing(1.0)], &[growing(0.5)]), Effect::Reduces);
}

#[test]
fn more_growth_is_no_cure() {
    assert_eq!(effect_of(&[growing(1.0)], &[growing(2.0)]), Effect::None);
}

#[test]
fn a_control_that_does_not_grow_decides_nothing() {
    assert_eq!(
        effect_of(&[growing(0.0)], &[growing(0.0)]),
        Effect::Undecided
    );
}

#[test]
fn slow_growth_in_much_memory_is_undecided() {
    let slow = run_with(|x| 8000.0 + 0.02 * x, 0.05);
    let none = run_with(|_| 8000.0, 0.05);
    assert_eq!(effect_of(&[slow], &[none]), Effect::Undecided);
}

#[test]
fn a_control_run_is_long_enough_when_effects_can_be_told_apart() {
    assert!(is_long_enough(growing(1.0), 30));
    assert!(!is_long_enough(run_with(|x| 8000.0 + 0.02 * x, 0.05), 30));
}

#[test]
fn repeats_that_differ_widen_the_interval() {
    let alike = ArmResult::of(&[growing(1.0); 2], &[growing(0.5); 2], 30).unwrap();
    let apart = [growing(0.1), growing(0.9)];
    let apart = ArmResult::of(&[growing(1.0); 2], &apart, 30).unwrap();
    assert!(apart.change.high.0 - apart.change.low.0 > alike.change.high.0 - alike.change.low.0);
    assert_eq!(apart.effect, Effect::Undecided);
}

#[test]
fn a_warmup_before_the_stretch_does_not_count() {
    let warmup = run_with(|x| 600.0 + x.min(150.0), 0.05);
    assert_eq!(effect_of(&[growing(1.0)], &[warmup]), Effect::Stops);
}

#[test]
fn a_longer_step_is_a_lower_speed() {
    let slow = run_with(|_| 600.0, 0.10);
    let speed = ArmResult::of(&[growing(1.0)], &[slow], 1).unwrap().speed;
    let speed = speed.unwrap();
    assert!((speed.value + 0.5).abs() < 1e-6, "{speed:?}");
    assert!(speed.low < speed.value && speed.value < speed.high && speed.high < 0.0);
}

#[test]
fn a_run_that_ended_before_the_stretch_is_not_measured() {
    let mut curves = RunCurves::new();
    for step in 1..=210 {
        curves.observe(&Observation::at_step(Step(step), Bytes(1 << 30)));
    }
    assert!(RunOver::of(&curves, XUnit::Step, STRETCH).is_none());
}

#[test]
fn every_change_is_listed_once_under_a_name_of_its_own() {
    let names: std::collections::BTreeSet<&str> =
        BuiltInArm::ALL.iter().map(|arm| arm.name()).collect();
    assert_eq!(names.len(), BuiltInArm::ALL.len());
    assert_eq!(BuiltInArm::ExpandableSegments as usize + 1, names.len());
}

#[test]
fn what_the_evidence_suggests_is_tried_first() {
    use crate::finding::{Growth, SharedKind};
    use crate::units::Position;
    let growth = Growth {
        bytes: Bytes(1 << 30),
        since: Position {
            x: X(50.0),
            unit: XUnit::Step,
        },
    };
    let shared = crate::finding::Finding::SharedMemoryGrowth {
        growth,
        kind: SharedKind::LoaderBatches,
    };
    let ordered = BuiltInArm::ordered_by(&[shared]);
    let first = [BuiltInArm::NoWorkers, BuiltInArm::SwapPersistentWorkers];
    assert_eq!(ordered[..2], first);
    assert_eq!(BuiltInArm::ordered_by(&[]), BuiltInArm::ALL);
}
