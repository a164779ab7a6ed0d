use leveloff_model::process::{Pid, ProcessIndex, Role};
use leveloff_model::progress::Phase;
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use leveloff_model::units::Bytes;

use super::*;
use crate::observation::ProcessShare;
use crate::verdict::Kind;

fn share(role: Role, memory: u64, shared: u64) -> ProcessShare {
    ProcessShare {
        shared: Bytes(shared),
        ..ProcessShare::with_memory(ProcessIndex(0), Pid(1), role, Bytes(memory))
    }
}

fn at(count: Option<f64>, t: f64, memory: u64) -> Observation {
    Observation {
        count,
        t: Some(Seconds(t)),
        memory: Bytes(memory),
        ..Observation::default()
    }
}

#[test]
fn every_series_has_a_place_of_its_own() {
    let mut places: Vec<usize> = Series::all().map(Series::index).collect();
    places.sort_unstable();
    assert_eq!(places, (0..Series::COUNT).collect::<Vec<_>>());
}

#[test]
fn roles_and_kinds_add_up_and_what_never_was_is_not_there() {
    let mut curves = RunCurves::new();
    curves.observe(&Observation {
        processes: vec![
            share(Role::Trainer, 100, 30),
            share(Role::DataloaderWorker, 20, 5),
            share(Role::DataloaderWorker, 10, 0),
        ],
        ..at(Some(1.0), 0.0, 130)
    });
    let role = |role| curves.settled(Series::Role(role));
    assert_eq!(role(Role::Trainer), Some(Amount(100.0)));
    assert_eq!(role(Role::DataloaderWorker), Some(Amount(30.0)));
    assert_eq!(role(Role::Launcher), None);
    let kind = |kind| curves.settled(Series::Kind(kind));
    assert_eq!(kind(Kind::Anonymous), Some(Amount(95.0)));
    assert_eq!(kind(Kind::Shared), Some(Amount(35.0)));
    assert_eq!(kind(Kind::DevShm), None);
    assert!(!curves.series().contains(&Series::Kind(Kind::Swap)));
}

#[test]
fn the_baseline_is_where_counting_began_and_a_spike_is_the_peak_but_not_the_level() {
    let mut curves = RunCurves::new();
    curves.observe(&at(None, 0.0, 7));
    for step in 0..100_000_u32 {
        let memory = if step == 99_000 { 900 } else { 50 };
        curves.observe(&at(Some(f64::from(step)), f64::from(step) + 1.0, memory));
    }
    assert_eq!(curves.baseline(Series::Memory), Some(Amount(50.0)));
    assert_eq!(curves.peak(Series::Memory), Some(Amount(900.0)));
    assert_eq!(curves.lasting_peak(), Some(Amount(50.0)));
    assert_eq!(curves.settled(Series::Memory), Some(Amount(50.0)));
    assert!(curves.spans().count() <= MOST_SPANS);
    assert!(curves.stride() > 1);
}

#[test]
fn what_is_counted_inside_begins_with_its_first_count_and_a_trim_is_no_curve() {
    let mut curves = RunCurves::new();
    for step in 0..40_u32 {
        let tensors: Option<u64> = (step >= 10).then_some(if step < 20 { 0 } else { 6529 });
        let counters = TrainingCounters::default()
            .with(TrainingCounter::Tensors, tensors)
            .with(TrainingCounter::Trimmed, (step == 30).then_some(1 << 20));
        curves.observe(&Observation {
            counters,
            ..at(Some(f64::from(step)), f64::from(step), 500)
        });
    }
    let [tensors, trimmed] =
        [TrainingCounter::Tensors, TrainingCounter::Trimmed].map(Series::Counter);
    assert_eq!(curves.baseline(tensors), Some(Amount(6529.0)));
    assert_eq!(curves.peak(trimmed), Some(Amount(f64::from(1 << 20))));
    assert_eq!(curves.series(), [Series::Memory, tensors]);
}

#[test]
fn a_run_that_shuts_down_at_its_last_step_settled_before() {
    let mut curves = RunCurves::new();
    for step in 0..50 {
        curves.observe(&at(Some(f64::from(step)), f64::from(step), 800));
    }
    for n in 0..40 {
        curves.observe(&at(Some(50.0), f64::from(50 + n), 10));
    }
    assert_eq!(curves.settled(Series::Memory), Some(Amount(800.0)));
    assert_eq!(
        curves.peak_until(Series::Memory, X(20.0), XUnit::Step),
        Some(Amount(800.0))
    );
}

#[test]
fn between_two_counts_lies_what_is_between_them() {
    let mut curves = RunCurves::new();
    for (step, memory) in [(10.0, 100), (20.0, 200), (30.0, 200)] {
        curves.observe(&at(Some(step), step, memory));
    }
    let around = |x| curves.around(Series::Memory, X(x), XUnit::Step);
    assert_eq!(around(10.0), Some(Amount(100.0)));
    assert_eq!(around(15.0), Some(Amount(150.0)));
    assert_eq!((around(9.0), around(31.0)), (None, None));
}

#[test]
fn a_checkpoint_is_reported_once_and_events_are_bounded() {
    let mut curves = RunCurves::new();
    let saved = vec![
        MarkKind::Phase(Phase::Checkpoint),
        MarkKind::Event("checkpoint".to_owned()),
        MarkKind::Phase(Phase::Train),
    ];
    for step in 0..5000 {
        curves.observe(&Observation {
            marks: saved.clone(),
            ..at(Some(f64::from(step)), f64::from(step), 1)
        });
        if step == 10 {
            assert_eq!(curves.events().len(), 11);
        }
    }
    assert!(curves.events().len() <= MOST_EVENTS && curves.events_are_thinned());
    assert!(curves.events().len() >= MOST_EVENTS / 2);
}
