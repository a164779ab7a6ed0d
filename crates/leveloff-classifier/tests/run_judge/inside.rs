//! The counters of the training show what holds the growing memory.

use leveloff_classifier::finding::{Finding, NativeEvidence, Retention, TensorGrowth};
use leveloff_classifier::observation::Observation;
use leveloff_classifier::verdict::{RunVerdict, Subject};
use leveloff_model::process::{Rank, Role};
use leveloff_model::training_counters::{GrownTensors, TrainingCounter};
use leveloff_model::units::Bytes;

use crate::made_up::{MIB, finding, judged, moment, process, trainer, wobble};

/// Counted at every so many steps only, as it really is.
const COUNTED_EVERY: u32 = 17;
const STEPS: u32 = 900;

/// A run that grows by 2 MiB a step, with what it counts inside.
fn growing(counted: impl Fn(u32, &mut Observation)) -> RunVerdict {
    judged((0..STEPS).map(|step| {
        let mut observation = trainer(step, 500.0 + 2.0 * f64::from(step) + wobble(step));
        counted(step / COUNTED_EVERY * COUNTED_EVERY, &mut observation);
        observation
    }))
}

fn set(observation: &mut Observation, facts: &[(TrainingCounter, f64)]) {
    for (fact, value) in facts {
        observation.counters.set(*fact, *value as u64);
    }
}

/// 2 MiB for each step.
fn growth(step: u32) -> f64 {
    2.0 * f64::from(step) * MIB
}

const LEVEL: f64 = 400.0 * MIB;
const TRIMMED: u64 = 800 << 20;

fn native_evidence(verdict: &RunVerdict) -> NativeEvidence {
    match finding(verdict, "native-growth") {
        Some(Finding::NativeGrowth { evidence, .. }) => *evidence,
        _ => panic!("{:?}", verdict.findings),
    }
}

#[test]
fn what_malloc_has_in_use_is_native() {
    let verdict = growing(|step, observation| {
        set(
            observation,
            &[
                (TrainingCounter::Tensors, 6529.0),
                (TrainingCounter::MallocUsed, LEVEL + growth(step)),
                (
                    TrainingCounter::MallocFree,
                    20e6 + 1e5 * f64::from(step % 5),
                ),
                // The loop's own log entries.
                (
                    TrainingCounter::PythonBlocks,
                    900_000.0 + 2.0 * f64::from(step),
                ),
            ],
        );
    });
    assert_eq!(verdict.verdict.name(), "leak");
    let NativeEvidence::MallocInUse {
        more,
        tensors: Some(6529),
        ..
    } = native_evidence(&verdict)
    else {
        panic!("{:?}", verdict.findings);
    };
    assert_eq!(more.to_string(), "1.7 GiB");
    assert_eq!(finding(&verdict, "allocator-retention"), None);
    assert_eq!(finding(&verdict, "python-objects"), None);
}

#[test]
fn arrays_that_python_keeps_are_mallocs_too() {
    let verdict = growing(|step, observation| {
        set(
            observation,
            &[
                (TrainingCounter::Tensors, 6529.0),
                (TrainingCounter::MallocUsed, LEVEL + growth(step)),
                (TrainingCounter::MallocFree, 20e6),
                (
                    TrainingCounter::PythonBlocks,
                    900_000.0 + 200.0 * f64::from(step),
                ),
            ],
        );
    });
    let evidence = native_evidence(&verdict);
    let rise = matches!(
        evidence,
        NativeEvidence::MallocInUse {
            python_blocks: Some(1..),
            ..
        }
    );
    assert!(rise, "{evidence:?}");
}

#[test]
fn what_malloc_keeps_is_retention_and_a_trim_proves_it() {
    let verdict = growing(|step, observation| {
        set(
            observation,
            &[
                (TrainingCounter::Tensors, 6529.0),
                (
                    TrainingCounter::MallocUsed,
                    LEVEL + 1e6 * f64::from(step % 7),
                ),
                (TrainingCounter::MallocFree, 20e6 + growth(step)),
            ],
        );
        if step > 600 {
            set(observation, &[(TrainingCounter::Trimmed, TRIMMED as f64)]);
        }
    });
    let found = finding(&verdict, "allocator-retention");
    let is_level = matches!(
        found,
        Some(Finding::AllocatorRetention(Retention::MallocFree {
            in_use_rose: None,
            trimmed: Some(Bytes(TRIMMED)),
            ..
        }))
    );
    assert!(is_level, "{found:?}");
    assert_eq!(finding(&verdict, "native-growth"), None);
}

#[test]
fn python_objects_are_neither_tensors_nor_mallocs() {
    let verdict = growing(|step, observation| {
        set(
            observation,
            &[
                (TrainingCounter::Tensors, 6529.0),
                (TrainingCounter::MallocUsed, LEVEL),
                (TrainingCounter::MallocFree, 20e6),
                (
                    TrainingCounter::PythonBlocks,
                    900_000.0 + growth(step) / 80.0,
                ),
            ],
        );
    });
    assert!(finding(&verdict, "python-objects").is_some());
    assert_eq!(finding(&verdict, "native-growth"), None);
    assert_eq!(finding(&verdict, "allocator-retention"), None);
}

#[test]
fn memory_that_no_counter_explains_is_mapped() {
    let verdict = growing(|step, observation| {
        set(
            observation,
            &[
                (TrainingCounter::MallocUsed, LEVEL),
                (TrainingCounter::MallocFree, 20e6),
                (
                    TrainingCounter::PythonBlocks,
                    900_000.0 + f64::from(step % 5),
                ),
            ],
        );
    });
    let uncounted = NativeEvidence::OutsideMalloc { tensors: None };
    assert_eq!(native_evidence(&verdict), uncounted);
}

#[test]
fn tensors_that_become_larger_are_held_references() {
    let verdict = growing(|step, observation| {
        set(
            observation,
            &[
                (TrainingCounter::Tensors, 6529.0),
                (TrainingCounter::TensorBytes, LEVEL + growth(step)),
                (TrainingCounter::MallocUsed, LEVEL + growth(step)),
                (TrainingCounter::MallocFree, 20e6),
            ],
        );
    });
    let found = finding(&verdict, "held-references");
    let Some(Finding::HeldReferences { tensors, .. }) = found else {
        panic!("{:?}", verdict.findings);
    };
    assert!(
        matches!(tensors, TensorGrowth::Size { tensors: 6529, .. }),
        "{tensors:?}"
    );
    assert_eq!(finding(&verdict, "native-growth"), None);
}

#[test]
fn tensors_on_a_device_explain_no_host_memory() {
    let verdict = growing(|step, observation| {
        set(
            observation,
            &[
                (TrainingCounter::Tensors, 6529.0),
                (TrainingCounter::TensorBytes, LEVEL + growth(step)),
                (TrainingCounter::DeviceTensorBytes, growth(step)),
                (TrainingCounter::MallocUsed, LEVEL + growth(step)),
                (TrainingCounter::MallocFree, 20e6),
            ],
        );
    });
    assert_eq!(finding(&verdict, "held-references"), None);
    assert!(finding(&verdict, "native-growth").is_some());
}

#[test]
fn the_sorts_of_tensors_that_became_more_are_named() {
    let verdict = growing(|step, observation| {
        set(
            observation,
            &[(TrainingCounter::Tensors, 6529.0 + f64::from(step))],
        );
        observation.grown = vec![GrownTensors {
            what: "float32[512, 1024] cpu".to_owned(),
            more: u64::from(step),
            more_bytes: Bytes(growth(step) as u64),
        }];
    });
    let found = finding(&verdict, "held-references").expect("named");
    assert_eq!(found.grown_tensors()[0].what, "float32[512, 1024] cpu");
}

#[test]
fn uncounted_tensors_are_not_ruled_out() {
    let verdict = growing(|step, observation| {
        set(
            observation,
            &[
                (TrainingCounter::MallocUsed, LEVEL + growth(step)),
                (TrainingCounter::MallocFree, 20e6),
            ],
        );
    });
    let evidence = native_evidence(&verdict);
    let uncounted = matches!(evidence, NativeEvidence::MallocInUse { tensors: None, .. });
    assert!(uncounted, "{evidence:?}");
}

/// 47 seconds of a leak in which tensors were counted once.
#[test]
fn one_count_repeated_is_no_trend() {
    let verdict = growing(|_, observation| {
        set(
            observation,
            &[
                (TrainingCounter::Tensors, 106.0),
                (TrainingCounter::TensorCounts, 1.0),
                (TrainingCounter::MallocUsed, LEVEL),
                (TrainingCounter::MallocFree, 20e6),
            ],
        );
    });
    assert_eq!(verdict.verdict.name(), "leak");
    assert_eq!(verdict.findings, []);
}

/// Four counts in the first three quarters of it: what came later is not held against them.
#[test]
fn few_counts_are_compared_with_the_memory_of_their_time() {
    let verdict = growing(|step, observation| {
        let counted = (step / 160).min(4);
        let used = LEVEL + growth(counted * 160);
        set(
            observation,
            &[
                (TrainingCounter::Tensors, 106.0),
                (TrainingCounter::TensorCounts, f64::from(counted) + 1.0),
                (TrainingCounter::MallocUsed, used),
                (
                    TrainingCounter::MallocFree,
                    20e6 + 64.0 * f64::from(counted),
                ),
            ],
        );
    });
    let NativeEvidence::MallocInUse { more, .. } = native_evidence(&verdict) else {
        panic!("{:?}", verdict.findings);
    };
    assert_eq!(more.to_string(), "1.2 GiB");
}

#[test]
fn one_rank_does_not_speak_for_another() {
    let two_ranks = |leaking: u32| {
        judged((0..STEPS).map(move |step| {
            let ranks = (0..2).map(|rank| {
                let leak = if rank == leaking { 2.0 } else { 0.0 };
                let memory = 500.0 + leak * f64::from(step) + wobble(step + rank);
                let mut process = process(rank, Role::Trainer, memory);
                process.rank = Some(Rank(rank));
                process
            });
            let mut observation = moment(step, ranks.collect());
            set(&mut observation, &[(TrainingCounter::Tensors, 6529.0)]);
            observation
        }))
    };
    assert!(finding(&two_ranks(0), "native-growth").is_some());
    let other = two_ranks(1);
    assert_eq!(other.verdict.name(), "leak");
    assert_eq!(finding(&other, "native-growth"), None);
}

#[test]
fn a_pinned_pool_that_grows_is_a_leak_of_its_own() {
    let verdict = judged((0..STEPS).map(|step| {
        let mut observation = trainer(step, 4000.0 + wobble(step));
        let pinned = (200.0 + 0.5 * f64::from(step)) * MIB;
        set(&mut observation, &[(TrainingCounter::Pinned, pinned)]);
        observation
    }));
    assert_eq!(verdict.verdict.name(), "leak");
    assert_eq!(verdict.decisive, Subject::Counter(TrainingCounter::Pinned));
    assert!(finding(&verdict, "pinned-pool").is_some());
}

#[test]
fn a_trim_that_ended_the_growth_is_reported() {
    let verdict = judged((0..STEPS).map(|step| {
        let grown = if step < 400 {
            2.0 * f64::from(step)
        } else {
            0.0
        };
        let mut observation = trainer(step, 500.0 + grown + wobble(step));
        if step >= 400 {
            set(
                &mut observation,
                &[(TrainingCounter::Trimmed, TRIMMED as f64)],
            );
        }
        observation
    }));
    let trimmed = Finding::AllocatorRetention(Retention::Trimmed {
        trimmed: Bytes(TRIMMED),
    });
    assert_eq!(finding(&verdict, "allocator-retention"), Some(&trimmed));
}

/// A fast run in which tensors were counted at its start and once later, when they held so much more.
fn counted_twice(more_mib: f64) -> RunVerdict {
    growing(|step, observation| {
        let (counts, tensors, more) = match step >= 600 {
            true => (2.0, 674.0, more_mib),
            false => (1.0, 24.0, 0.0),
        };
        set(
            observation,
            &[
                (TrainingCounter::Tensors, tensors),
                (TrainingCounter::TensorBytes, (4.0 + more) * MIB),
                (TrainingCounter::TensorCounts, counts),
                (TrainingCounter::MallocUsed, LEVEL + growth(step)),
                (TrainingCounter::MallocFree, 20e6),
            ],
        );
    })
}

#[test]
fn two_counts_show_tensors_that_grew_by_as_much_as_memory() {
    let verdict = counted_twice(1000.0);
    assert!(finding(&verdict, "held-references").is_some());
    assert_eq!(finding(&verdict, "native-growth"), None);
}

#[test]
fn more_tensors_in_two_counts_that_do_not_explain_the_growth_name_nothing() {
    let verdict = counted_twice(100.0);
    assert_eq!(finding(&verdict, "held-references"), None);
    assert_eq!(finding(&verdict, "native-growth"), None);
}
