//! The same points give the same verdict, however often it is computed and whatever comes last.

use leveloff_classifier::curve::Curve;
use leveloff_classifier::judge::{Facts, Quantity, judge};
use leveloff_classifier::observation::Observation;
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::units::X;
use leveloff_model::recording::StatedFacts;

use crate::run::{MB, Run, bytes};
use crate::{seeds, shapes, strange};

fn runs() -> [Run; 8] {
    [
        seeds::story(1, 300),
        seeds::gc_cycles(),
        seeds::validation_that_stays(),
        seeds::compile_run_for_two_minutes(),
        shapes::plain_warmup(),
        shapes::plain_leak(),
        shapes::staircase(),
        strange::leak_with_late_lines(),
    ]
}

#[test]
fn the_same_points_are_judged_the_same() {
    for run in runs() {
        assert_eq!(run.judged(), run.judged());
        assert_eq!(run.judged_as_a_run(), run.judged_as_a_run());
    }
}

#[test]
fn asking_changes_nothing() {
    for run in runs() {
        let mut judged_often = Curve::default();
        let mut repeated_judge = RunJudge::new(run.unit, &StatedFacts::default());
        for &(x, megabytes) in &run.points {
            judged_often.push(x, megabytes * MB);
            judge(&judged_often, run.unit, Quantity::Memory, &Facts::default());
            repeated_judge.observe(&Observation {
                count: Some(x),
                memory: bytes(megabytes),
                ..Observation::default()
            });
            repeated_judge.verdict();
        }
        let said = judge(&judged_often, run.unit, Quantity::Memory, &Facts::default());
        assert_eq!(said, run.judged());
        assert_eq!(repeated_judge.verdict(), run.judged_as_a_run());
    }
}

/// A copy of a judge goes on as the judge itself would have.
#[test]
fn a_copy_is_as_good() {
    let run = shapes::plain_leak();
    let (first, later) = run.points.split_at(300);
    let mut curve = Run::of(first.to_vec()).curve();
    let mut copy = curve.clone();
    for &(x, megabytes) in later {
        curve.push(x, megabytes * MB);
        copy.push(x, megabytes * MB);
    }
    let said = |curve: &Curve| judge(curve, run.unit, Quantity::Memory, &Facts::default());
    assert_eq!(said(&curve), said(&copy));
    assert_eq!(said(&curve), run.judged());
}

/// Memory falls by 3 to 46 % in the last sample of a run, when it is torn down; a spike may come
/// first. Neither says anything about the run.
#[test]
fn the_newest_sample_changes_no_verdict() {
    for run in runs() {
        let newest = run.points.len() - 1;
        let said = run.judged();
        for times in [0.0, 0.54, 0.97, 1.5, 40.0] {
            let mut torn_down = run.clone();
            torn_down.points[newest].1 *= times;
            let torn_down = torn_down.judged();
            assert_eq!(torn_down.verdict, said.verdict);
            assert_eq!(torn_down.shape, said.shape);
            assert_eq!(torn_down.rate, said.rate);
            assert_eq!(torn_down.level, said.level);
        }
    }
}

/// Bytes or gigabytes, from step 0 or from step 70,000 on: nothing but the numbers moves along.
#[test]
fn the_verdict_does_not_hang_on_where_counting_begins() {
    for run in runs() {
        let said = run.judged();
        let mut moved = run.clone();
        for point in &mut moved.points {
            point.0 += 65_536.0;
        }
        let moved = moved.judged();
        assert_eq!((moved.verdict, moved.shape), (said.verdict, said.shape));
        let onset = moved.onset_x.map(|x| x - X(65_536.0));
        assert_eq!(onset, said.onset_x);
    }
}
