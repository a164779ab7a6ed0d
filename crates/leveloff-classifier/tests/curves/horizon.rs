//! What a stated horizon must not do: call the next tooth of a saw a leak. And what it must: find a
//! leak below one.

use leveloff_classifier::verdict::{Grade, Shape, Verdict};

use crate::run::Run;
use crate::shapes::{saw, warmup_that_stands_still};

/// Where it is first called a leak, if ever, when it is looked at again and again.
fn first_leak(run: &Run) -> Option<usize> {
    (20..=run.points.len()).step_by(3).find(|&points| {
        let so_far = Run {
            points: run.points[..points].to_vec(),
            ..run.clone()
        };
        matches!(so_far.judged().verdict, Verdict::Leak(_))
    })
}

#[test]
fn a_saw_is_no_leak_behind_the_horizon() {
    for period in [25.0, 40.0, 70.0, 85.0] {
        for noise in [0.0, 3.0, 15.0] {
            let leak = first_leak(&saw(period, noise).level_by(90));
            assert_eq!(leak, None, "a period of {period}, noise {noise}");
        }
    }
}

#[test]
fn a_leak_below_a_saw_is_found() {
    for period in [25.0, 40.0, 70.0] {
        let mut run = saw(period, 3.0).level_by(90);
        for (step, memory) in &mut run.points {
            *memory += 2.0 * *step;
        }
        let verdict = run.judged().verdict;
        assert!(matches!(verdict, Verdict::Leak(_)), "{period}: {verdict:?}");
    }
}

#[test]
fn a_leak_that_begins_late_is_found_in_spite_of_spikes() {
    let run = Run::steps(400, |step| {
        let spike = if step % 50.0 == 0.0 { 200.0 } else { 0.0 };
        1000.0 + 2.0 * (step - 150.0).max(0.0) + spike
    });
    let verdict = run.noisy(3.0).level_by(90).judged().verdict;
    assert!(matches!(verdict, Verdict::Leak(_)), "{verdict:?}");
}

#[test]
fn a_warmup_that_stands_still_did_so_when_it_ended() {
    let judged = warmup_that_stands_still().level_by(90).judged();
    assert!(judged.verdict.is_level());
    let since = judged.level_since_x.unwrap().0;
    assert!((105.0..130.0).contains(&since), "{since}");
}

/// Growth that may be a cache of unknown length is suspected; with a plan it is called.
#[test]
fn a_plan_rules_out_a_cache_of_unknown_length() {
    let run = Run::steps(600, |step| 2000.0 + 2.0 * step).noisy(3.0);
    assert_eq!(run.judged().verdict, Verdict::Leak(Grade::Suspected));
    assert_eq!(
        run.planned(1000).judged().verdict,
        Verdict::Leak(Grade::Early)
    );
}

/// Growth within the first of two epochs may be a cache of the data set: it fills, and is called so until that epoch ends.
#[test]
fn growth_of_the_first_epoch_fills_a_cache() {
    let seen = |steps| Run::steps(steps, |step| 2000.0 + 2.0 * step).noisy(3.0);
    let judged = seen(600).epoch(900).planned(1800).judged();
    assert_eq!(
        (judged.verdict, judged.shape),
        (Verdict::WarmingUp, Shape::Filling)
    );
    // It is not called a leak before that epoch is over, and the date says so.
    let by = judged.decide_by.unwrap().if_it_goes_on.0;
    assert!((900.0..1000.0).contains(&by), "{by}");
    let full = judged.full_cache.unwrap();
    let megabytes = full.amount.0 / 1e6;
    assert_eq!(full.at.0, 900.0);
    assert!((megabytes - 3800.0).abs() < 20.0, "{megabytes}");

    // Without a second epoch there is no cache to fill, and behind the first there is none to fill.
    for other in [
        seen(600).epoch(900).planned(900),
        seen(1400).epoch(900).planned(1800),
    ] {
        let judged = other.judged();
        assert!(matches!(judged.verdict, Verdict::Leak(_)), "{judged:?}");
        assert_eq!((judged.shape, judged.full_cache), (Shape::Linear, None));
    }
}
