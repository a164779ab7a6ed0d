//! Compiled graphs, figures and objects that pile up inside the training, and what must not be blamed on them.

use leveloff_classifier::finding::{CompilationEvidence, Finding, ObjectFamily, Recompilation};
use leveloff_classifier::observation::Observation;
use leveloff_classifier::verdict::{ClockTick, RunVerdict};
use leveloff_model::training_counters::{
    GrownObjects, RecompileKind, RecompileReason, TrainingCounter,
};
use leveloff_model::units::Seconds;

use crate::made_up::{MIB, finding, judged, trainer, wobble};

const STEPS: u32 = 900;

/// A run whose memory in MiB and counts are said in one closure.
fn run(at: impl Fn(u32, &mut Observation) -> f64) -> RunVerdict {
    judged((0..STEPS).map(|step| {
        let mut observation = trainer(step, 0.0);
        let mib = 500.0 + at(step, &mut observation) + wobble(step);
        let counted = observation;
        observation = trainer(step, mib);
        observation.t = counted.t;
        observation.counters = counted.counters;
        observation.recompile_reasons = counted.recompile_reasons;
        observation.grown_objects = counted.grown_objects;
        observation
    }))
}

fn set(observation: &mut Observation, counts: &[(TrainingCounter, f64)]) {
    for (counter, value) in counts {
        observation.counters.set(*counter, *value as u64);
    }
}

/// Graphs compiled by some step: in bursts of different density, as lengths of sequences come.
fn compiled(step: u32) -> u32 {
    (0..=step).filter(|step| is_new_shape(*step)).count() as u32
}

fn is_new_shape(step: u32) -> bool {
    let often = if (step / 90).is_multiple_of(2) { 30 } else { 4 };
    (wobble(step) * 1000.0) as i32 % often == 0
}

/// Native memory for each graph.
fn count_graphs(graphs: u32, observation: &mut Observation) {
    let graphs = f64::from(graphs);
    set(
        observation,
        &[
            (TrainingCounter::Compilations, graphs),
            (TrainingCounter::Recompilations, graphs - 1.0),
            (
                TrainingCounter::MallocUsed,
                400.0 * MIB + 1.9 * graphs * MIB,
            ),
            (TrainingCounter::MallocFree, 20e6),
            (TrainingCounter::Tensors, 6529.0),
            (TrainingCounter::TensorBytes, 100.0 * MIB),
        ],
    );
    observation.recompile_reasons = vec![RecompileReason {
        kind: RecompileKind::Size,
        what: "args[0], dimension 1".to_owned(),
        count: graphs as u64,
    }];
}

fn recompilation(verdict: &RunVerdict) -> &Recompilation {
    match finding(verdict, "recompilation") {
        Some(Finding::Recompilation(found)) => found,
        _ => panic!("{:?} by {:?}", verdict.findings, verdict.clock),
    }
}

#[test]
fn memory_that_follows_compilations_is_theirs() {
    let verdict = run(|step, observation| {
        let graphs = compiled(step);
        count_graphs(graphs, observation);
        1.9 * f64::from(graphs)
    });
    let found = recompilation(&verdict);
    assert_eq!(found.evidence, CompilationEvidence::BestClock);
    let each = found.each.0 as f64 / MIB;
    assert!((1.6..2.2).contains(&each), "{each}");
    assert_eq!(found.reasons[0].kind, RecompileKind::Size);
    assert_eq!(
        verdict.clock.as_ref().map(|it| it.tick),
        Some(ClockTick::Compilation)
    );
    assert_eq!(finding(&verdict, "native-growth"), None);
}

#[test]
fn the_time_that_compilations_take_does_not_acquit_them() {
    let verdict = run(|step, observation| {
        let graphs = compiled(step);
        count_graphs(graphs, observation);
        observation.t = Some(Seconds(2.0 * f64::from(graphs) + 0.01 * f64::from(step)));
        1.9 * f64::from(graphs)
    });
    let found = recompilation(&verdict);
    assert_eq!(found.evidence, CompilationEvidence::BestClock);
}

#[test]
fn compilations_at_every_step_cannot_be_distinguished_from_steps() {
    let verdict = run(|step, observation| {
        count_graphs(step + 1, observation);
        1.9 * f64::from(step)
    });
    let found = recompilation(&verdict);
    assert_eq!(found.evidence, CompilationEvidence::AsEvenAsSteps);
}

#[test]
fn tensors_that_are_kept_are_not_blamed_on_compilations_that_come_as_often() {
    let verdict = run(|step, observation| {
        count_graphs(step + 1, observation);
        let kept = 1.9 * f64::from(step);
        let counts = [
            (TrainingCounter::Tensors, 6529.0 + f64::from(step)),
            (TrainingCounter::TensorBytes, (100.0 + kept) * MIB),
        ];
        set(observation, &counts);
        kept
    });
    assert!(
        finding(&verdict, "held-references").is_some(),
        "{:?}",
        verdict.findings
    );
    assert_eq!(finding(&verdict, "recompilation"), None);
}

#[test]
fn what_holds_memory_is_no_cause_while_compilations_may_be_it() {
    // Where nothing tells compilations from steps, for there are few of them and memory is noisy.
    let verdict = run(|step, observation| {
        let graphs = step / 40 + u32::from(step % 40 > 20 && step / 40 % 2 == 0);
        count_graphs(graphs, observation);
        let held = 9.0 * f64::from(graphs) + 0.2 * f64::from(step);
        let counts = [
            (TrainingCounter::PythonBlocks, 1e6 + 20e3 * held),
            (TrainingCounter::MallocUsed, 400.0 * MIB),
        ];
        set(observation, &counts);
        held + 30.0 * wobble(step)
    });
    assert_eq!(verdict.clock, None);
    assert_eq!(finding(&verdict, "python-objects"), None);
    assert_eq!(finding(&verdict, "native-growth"), None);
}

#[test]
fn a_leak_at_each_step_is_not_blamed_on_compilations_in_between() {
    let verdict = run(|step, observation| {
        count_graphs(compiled(step), observation);
        let leaked = 1.9 * f64::from(step);
        set(
            observation,
            &[(TrainingCounter::MallocUsed, (400.0 + leaked) * MIB)],
        );
        leaked
    });
    assert!(
        finding(&verdict, "native-growth").is_some(),
        "{:?}",
        verdict.findings
    );
    assert_eq!(finding(&verdict, "recompilation"), None);
}

#[test]
fn a_warmup_of_compilations_explains_no_later_leak() {
    let verdict = run(|step, observation| {
        count_graphs(step.min(12), observation);
        let leaked = 1.9 * f64::from(step);
        set(
            observation,
            &[(TrainingCounter::MallocUsed, (400.0 + leaked) * MIB)],
        );
        leaked
    });
    assert_eq!(finding(&verdict, "recompilation"), None);
}

/// What the training counts while it draws a figure at every fifth step.
fn count_figures(step: u32, open: u32, observation: &mut Observation) {
    let leaked = f64::from(step);
    set(
        observation,
        &[
            (TrainingCounter::OpenFigures, f64::from(open)),
            (TrainingCounter::MallocUsed, (400.0 + leaked) * MIB),
            (TrainingCounter::MallocFree, 20e6),
            (TrainingCounter::PythonBlocks, 900_000.0 + 900.0 * leaked),
            (TrainingCounter::Tensors, 6529.0),
        ],
    );
}

#[test]
fn figures_that_are_never_closed_are_named() {
    let verdict = run(|step, observation| {
        count_figures(step, step / 5, observation);
        f64::from(step)
    });
    let Some(Finding::PiledUpObjects { family, what, .. }) = finding(&verdict, "piled-up-objects")
    else {
        panic!("{:?}", verdict.findings);
    };
    assert_eq!(*family, ObjectFamily::Figures);
    assert_eq!(what, "matplotlib.figure.Figure");
    assert_eq!(finding(&verdict, "native-growth"), None);
}

#[test]
fn figures_that_are_closed_explain_nothing() {
    let verdict = run(|step, observation| {
        count_figures(step, 1 + step / 5 % 2, observation);
        f64::from(step)
    });
    assert_eq!(finding(&verdict, "piled-up-objects"), None);
    assert!(finding(&verdict, "native-growth").is_some());
}

#[test]
fn the_class_that_rises_with_memory_is_named_and_one_that_does_not_is_not() {
    let verdict = run(|step, observation| {
        count_figures(step, 0, observation);
        let objects = |what: &str, more| GrownObjects {
            what: what.to_owned(),
            more,
        };
        observation.grown_objects = vec![
            objects("wandb.Image", u64::from(step % 50)),
            objects("mine.Entry", u64::from(step / 30 * 30)),
        ];
        f64::from(step)
    });
    let Some(Finding::PiledUpObjects {
        family, what, more, ..
    }) = finding(&verdict, "piled-up-objects")
    else {
        panic!("{:?}", verdict.findings);
    };
    assert_eq!(
        (*family, what.as_str()),
        (ObjectFamily::Other, "mine.Entry")
    );
    assert!((800..=900).contains(more), "{more}");
}

/// Growth outside of Python on a CPU, while inputs of ever new shapes come.
fn with_shapes(compiles: bool) -> RunVerdict {
    run(|step, observation| {
        let leaked = f64::from(step);
        set(
            observation,
            &[
                (TrainingCounter::InputShapes, f64::from(step / 8)),
                (TrainingCounter::MallocUsed, (400.0 + leaked) * MIB),
                (TrainingCounter::MallocFree, 20e6),
                (TrainingCounter::Tensors, 6529.0),
            ],
        );
        if compiles {
            let graphs = f64::from(step / 9 % 3);
            set(
                observation,
                &[(TrainingCounter::Compilations, 7.0 + graphs)],
            );
        }
        leaked
    })
}

#[test]
fn new_shapes_are_a_possible_cause_of_native_growth_without_a_compiler() {
    let shapes = |verdict: &RunVerdict| match finding(verdict, "native-growth") {
        Some(Finding::NativeGrowth { new_shapes, .. }) => *new_shapes,
        _ => panic!("{:?}", verdict.findings),
    };
    let found = shapes(&with_shapes(false));
    assert!(
        found.is_some_and(|shapes| (100..=112).contains(&shapes)),
        "{found:?}"
    );
    assert_eq!(shapes(&with_shapes(true)), None);
}
