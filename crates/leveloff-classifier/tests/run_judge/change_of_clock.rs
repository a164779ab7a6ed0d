//! Another counter of the training gives the steps from some moment on.

use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_classifier::run_analysis::{RunAccount, RunAnalysis};
use leveloff_classifier::run_curves::RunEventKind;
use leveloff_classifier::verdict::{Subject, Verdict, WhyUnknown, WillFinish};
use leveloff_model::progress::{MarkKind, StepUnit};
use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::{Bytes, Seconds};

use crate::made_up::{MIB, trainer, wobble};

/// The step at which `iter` takes over from a count of samples, 64 to a step.
const TAKES_OVER: u32 = 100;

/// A training that counts samples at first and then steps.
fn run(memory: impl Fn(u32) -> f64, steps: u32) -> RunAnalysis {
    let mut run = RunAnalysis::default();
    for step in 0..steps {
        let mut observation = trainer(step, memory(step) + wobble(step));
        if step < TAKES_OVER {
            observation.count = Some(f64::from(64 * step));
            observation.count_unit = Some(StepUnit::Samples);
        }
        if step == TAKES_OVER {
            observation.marks = vec![MarkKind::Clock("iter".to_owned())];
        }
        run.observe(&observation);
    }
    run
}

fn account(run: &RunAnalysis) -> RunAccount {
    run.account().expect("the run has samples")
}

#[test]
fn a_leak_has_its_rate_on_the_new_clock() {
    let run = run(|step| 500.0 + 2.0 * f64::from(step), 900);
    let verdict = account(&run).verdict.unwrap();
    assert!(matches!(verdict.verdict, Verdict::Leak(_)), "{verdict:?}");
    assert_eq!(verdict.x_unit, XUnit::Step);
    let rate = verdict.judgement.rate.unwrap().value.0 / MIB;
    assert!((rate - 2.0).abs() < 0.05, "{rate}");
    let (first, last) = verdict.span.unwrap();
    assert_eq!((first.0, last.0), (f64::from(TAKES_OVER), 899.0));
}

#[test]
fn growth_before_the_change_makes_no_leak_of_a_level_run() {
    let warmup = |step: u32| 500.0 + 4.0 * f64::from(step.min(TAKES_OVER));
    let mut run = run(warmup, 500);
    let account = account(&run);
    let verdict = account.verdict.unwrap();
    assert!(verdict.verdict.is_level(), "{verdict:?}");
    run.end();
    let finished = run.finish().unwrap();
    // The memory measured before is kept: all of the run is there over time.
    assert_eq!(finished.curves.samples(), 500);
    let spans: Vec<_> = finished.curves.spans().collect();
    assert_eq!(spans[0].t.unwrap().low, 0.0);
    assert!(spans[0].x.is_none(), "it has no place on the new axis");
    let counts: Vec<f64> = spans.iter().filter_map(|span| Some(span.x?.low)).collect();
    assert!(counts.is_sorted(), "{counts:?}");
    let events = finished.curves.events();
    assert_eq!(events[0].kind, RunEventKind::Clock("iter".to_owned()));
}

#[test]
fn a_counter_that_goes_on_where_the_other_was_loses_nothing() {
    let mut run = RunAnalysis::default();
    for step in 0..300 {
        let memory = 500.0 + 2.0 * f64::from(step) + wobble(step);
        let mut observation = trainer(step, memory);
        if step == 30 {
            observation.marks = vec![MarkKind::Clock("iter".to_owned())];
        }
        run.observe(&observation);
    }
    let (first, _) = account(&run).verdict.unwrap().span.unwrap();
    assert_eq!(first.0, 0.0);
}

#[test]
fn what_is_only_a_clock_is_no_series() {
    let mut run = RunAnalysis::default();
    for step in 0..600_u32 {
        let mut observation = trainer(step, 500.0 + wobble(step));
        for counter in [
            TrainingCounter::Samples,
            TrainingCounter::Tokens,
            TrainingCounter::Episodes,
            TrainingCounter::Compilations,
            TrainingCounter::Recompilations,
            TrainingCounter::InputShapes,
        ] {
            let counted = u64::from(step) << 30;
            observation.counters.set(counter, Some(counted));
        }
        run.observe(&observation);
    }
    let verdict = account(&run).verdict.unwrap();
    assert!(verdict.verdict.is_level());
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    let judged = verdict.subjects.iter().map(|(subject, _)| *subject);
    assert_eq!(judged.collect::<Vec<_>>(), [Subject::Memory]);
    let series = run.finish().unwrap().series;
    assert!(series.iter().all(|one| one.end.0 < 4e9), "{series:?}");
}

/// Growth over the first hundred samples' worth of steps is no leak merely because samples are many.
#[test]
fn the_prior_of_warmups_is_in_steps_whatever_is_counted() {
    let mut run = RunAnalysis::default();
    for step in 0..60_u32 {
        run.observe(&Observation {
            count: Some(f64::from(step) * 640.0),
            count_unit: Some(StepUnit::Samples),
            memory: Bytes(((500.0 + 2.0 * f64::from(step) + wobble(step)) * MIB) as u64),
            ..Observation::default()
        });
    }
    let verdict = account(&run).verdict.unwrap();
    assert_eq!(verdict.x_unit, XUnit::TrainingSample);
    assert_eq!(verdict.verdict, Verdict::WarmingUp, "{verdict:?}");
}

/// A bar of 100 steps is all that is planned, until it comes back for the next epoch.
#[test]
fn a_plan_that_is_withdrawn_is_none() {
    let mut run = RunAnalysis::default();
    for step in 0..250_u32 {
        let mut observation = trainer(step, 500.0 + wobble(step));
        observation.planned = (step < 100).then_some(100.0);
        observation.ceiling = Some(Ceiling {
            kind: CeilingKind::Host,
            limit: Bytes(32_000_000_000),
            used: Bytes(1_000_000_000),
        });
        run.observe(&observation);
        if step == 90 {
            let outlook = account(&run).verdict.unwrap().will_finish;
            assert!(matches!(outlook, WillFinish::Yes(_)), "{outlook:?}");
        }
    }
    let outlook = account(&run).verdict.unwrap().will_finish;
    assert!(
        matches!(outlook, WillFinish::Unknown(WhyUnknown::NoPlan)),
        "{outlook:?}"
    );
}

/// A training that prints every 100th of its 8 steps a second, with a sample each second.
fn printed_rarely(memory: impl Fn(u32) -> f64, seconds: u32) -> RunAnalysis {
    let mut run = RunAnalysis::default();
    for second in 0..seconds {
        let mut observation = trainer(second, memory(second) + wobble(second));
        observation.t = Some(Seconds(f64::from(second)));
        observation.count = Some(f64::from(8 * second / 100 * 100));
        run.observe(&observation);
    }
    run.end();
    run
}

#[test]
fn a_few_rare_counts_are_no_axis_for_many_samples() {
    let leak = printed_rarely(|second| 400.0 + 2.5 * f64::from(second), 100);
    let verdict = account(&leak).verdict.unwrap();
    assert!(matches!(verdict.verdict, Verdict::Leak(_)), "{verdict:?}");
    assert_eq!(verdict.x_unit, XUnit::Second);
    let level = account(&printed_rarely(|_| 400.0, 100)).verdict.unwrap();
    assert!(level.verdict.is_level(), "{level:?}");
    let long = account(&printed_rarely(|_| 400.0, 400)).verdict.unwrap();
    assert_eq!(long.x_unit, XUnit::Step, "there are 32 of them");
}
