//! What makes memory grow, on which axis, and when it meets a limit.

use leveloff_classifier::finding::Finding;
use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::{ClockTick, Verdict};
use leveloff_model::progress::{MarkKind, Phase};
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::units::{Bytes, Limit, Seconds, Step};

use crate::made_up::{MIB, finding, judged, judged_with, trainer, wobble};

/// An evaluation every 40 steps and a checkpoint every 80, at the same time.
fn with_events(mib: impl Fn(u32) -> f64) -> impl Iterator<Item = Observation> {
    (0..900).map(move |step| {
        let mut observation = trainer(step, mib(step) + wobble(step));
        let evaluates = step > 0 && step % 40 < 3;
        observation.phase = Some(if evaluates { Phase::Eval } else { Phase::Train });
        if step > 0 && step % 40 == 0 {
            observation.marks.push(MarkKind::Phase(Phase::Eval));
            observation.memory = Bytes(observation.memory.0 + (60.0 * MIB) as u64);
        }
        if step > 0 && step % 80 == 0 {
            observation
                .marks
                .push(MarkKind::Event("checkpoint".to_owned()));
        }
        observation
    })
}

#[test]
fn growth_at_evaluations_is_distinguished_from_growth_at_every_second_one() {
    let verdict = judged(with_events(|step| 400.0 + 20.0 * f64::from(step / 40)));
    let clock = verdict.clock.clone().expect("it has a clock");
    assert_eq!(clock.tick, ClockTick::Evaluation);
    assert!((clock.growth.0 / MIB - 20.0).abs() < 2.0, "{clock:?}");
    assert!((clock.every.unwrap().0 - 40.0).abs() < 2.0, "{clock:?}");
    let Some(Finding::EvaluationGrowth(growth)) = finding(&verdict, "evaluation-growth") else {
        panic!("{:?}", verdict.findings);
    };
    assert!(
        (growth.each.0 as f64 / MIB - 20.0).abs() < 2.0,
        "{growth:?}"
    );

    let verdict = judged(with_events(|step| 400.0 + 40.0 * f64::from(step / 80)));
    let clock = verdict.clock.clone().expect("it has a clock");
    assert_eq!(clock.tick, ClockTick::Checkpoint);
    assert_eq!(verdict.findings[0].name(), "checkpoint-growth");
}

#[test]
fn growth_between_events_belongs_to_the_steps() {
    let verdict = judged(with_events(|step| 400.0 + 0.5 * f64::from(step)));
    let clock = verdict.clock.expect("it has a clock");
    assert_eq!(clock.tick, ClockTick::Step);
    assert!((clock.growth.0 / MIB - 0.5).abs() < 0.05, "{clock:?}");
}

#[test]
fn the_import_is_not_part_of_the_steps() {
    let imports = (0..20).map(|second: u32| Observation {
        count: None,
        ..trainer(second, 25.0 * f64::from(second))
    });
    let steps = (20..320).map(|second| Observation {
        count: Some(f64::from(second - 20)),
        ..trainer(second, 500.0 + wobble(second))
    });
    let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
    let mut units = Vec::new();
    for observation in imports.chain(steps) {
        judge.observe(&observation);
        units.push(judge.verdict().x_unit);
    }
    let verdict = judge.verdict();
    assert!(verdict.verdict.is_level());
    assert!(verdict.memory.extremes.unwrap().first.0 > 499.0 * MIB);
    assert_eq!(verdict.points, 300);
    assert_eq!(verdict.pace, Some(Seconds(1.0)));
    assert_eq!(
        units.iter().filter(|unit| **unit == XUnit::Second).count(),
        25
    );
    assert_eq!(units[26], XUnit::Step);
}

#[test]
fn a_run_without_steps_is_judged_by_time() {
    let run = (0..3000).map(|second: u32| Observation {
        count: None,
        ..trainer(second, 500.0 + wobble(second))
    });
    let verdict = judged(run);
    assert_eq!(verdict.x_unit, XUnit::Second);
    assert!(verdict.verdict.is_level());
    assert_eq!(verdict.pace, None);
}

/// 165 MB a step from 4 GB, 5.2 s each, on a machine of 32 GB of which the run has half.
fn story(steps: u32) -> impl Iterator<Item = Observation> {
    (1..=steps / 10).map(|ten| {
        let mb = 4_000 + 1_650 * u64::from(ten);
        let memory = Bytes(mb * 1_000_000);
        Observation {
            count: Some(f64::from(10 * ten)),
            t: Some(Seconds(f64::from(ten) * 52.0)),
            memory,
            ceiling: Some(Ceiling {
                kind: CeilingKind::Host,
                limit: Bytes(32_000_000_000),
                used: Bytes(memory.0 + 1_000_000_000),
            }),
            ..Observation::default()
        }
    })
}

#[test]
fn the_limit_is_forecast_before_the_verdict_is_known() {
    let verdict = judged(story(80));
    assert_eq!(verdict.verdict, Verdict::WarmingUp);
    let risk = verdict.risk.expect("it grows");
    // 31 GB of its own are reached (31000 − 4000) / 165 = 163.6 steps after the start.
    assert_eq!(
        (risk.limit, risk.kind),
        (Bytes(31_000_000_000), CeilingKind::Host)
    );
    assert!((risk.at_x.0 - 163.6).abs() < 1.0, "{risk:?}");
    assert!(risk.earliest_x <= risk.at_x, "{risk:?}");
    let left = risk.in_time.expect("the pace is known").0;
    assert!((left - 5.2 * (risk.at_x.0 - 70.0)).abs() < 60.0, "{left}");
    assert!(
        judged((0..300).map(|step| trainer(step, 400.0 + wobble(step))))
            .risk
            .is_none()
    );
}

#[test]
fn a_stated_limit_comes_first() {
    let stated = StatedFacts {
        limit: Some(Limit::Size(Bytes(28_000_000_000))),
        ..StatedFacts::default()
    };
    let risk = judged_with(&stated, story(80)).risk.expect("it grows");
    assert_eq!(
        (risk.limit, risk.kind),
        (Bytes(28_000_000_000), CeilingKind::Stated)
    );
}

#[test]
fn the_newest_observation_decides_nothing() {
    let run = || (0..700).map(|step| trainer(step, 400.0 + f64::from(step)));
    let before = judged(run());
    let after = judged(run().chain([trainer(700, 120.0)]));
    assert_eq!(before.verdict.name(), after.verdict.name());
    assert_eq!(before.blame[0].role, after.blame[0].role);
}

#[test]
fn an_epoch_that_the_run_tells_holds_judgement_back() {
    let growing = |epoch: Option<f64>| {
        (0..600).map(move |step| Observation {
            epoch_length: epoch,
            ..trainer(step, 400.0 + f64::from(step) + wobble(step))
        })
    };
    assert_eq!(judged(growing(None)).verdict.name(), "leak");
    assert_eq!(judged(growing(Some(650.0))).verdict, Verdict::WarmingUp);
    let stated = StatedFacts {
        epoch_steps: Some(Step(650)),
        ..StatedFacts::default()
    };
    assert_eq!(
        judged_with(&stated, growing(None)).verdict,
        Verdict::WarmingUp
    );
}

#[test]
fn nothing_at_all_is_a_verdict_too() {
    let verdict = judged([]);
    assert_eq!(verdict.verdict, Verdict::Undecided);
    let strange = Observation {
        count: Some(f64::NAN),
        t: Some(Seconds(f64::INFINITY)),
        ..trainer(0, 5.0)
    };
    assert_eq!(judged([strange]).verdict, Verdict::Undecided);
}
