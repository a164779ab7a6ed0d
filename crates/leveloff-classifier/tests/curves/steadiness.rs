//! A verdict has a little memory: one reading near a boundary does not change it, except towards risk.

use leveloff_classifier::verdict::{Grade, Verdict};

use crate::run::Run;
use crate::seeds::story;
use crate::{chance::Chance, shapes};

/// Plateaus between 17.0 and 17.7 GB to try.
const PLATEAUS: u64 = 20;

fn changes(verdicts: &[Verdict]) -> usize {
    verdicts
        .windows(2)
        .filter(|pair| pair[0] != pair[1])
        .count()
}

fn of_curve(run: &Run) -> Vec<Verdict> {
    run.prefixes().map(|seen| seen.judged().verdict).collect()
}

fn of_run(run: &Run) -> Vec<Verdict> {
    let shown = run.prefixes().map(|seen| seen.judged_as_a_run().verdict);
    shown.collect()
}

/// A leak whose noise is as large as what it adds within a tenth of the run: each look alone is near a boundary.
fn restless_leak(seed: u64) -> Run {
    let mut chance = Chance::new(seed);
    let curve = (0..500).map(|step| {
        let step = f64::from(step);
        (step, 1_000.0 + 0.4 * step + 40.0 * chance.normal())
    });
    Run::of(curve.collect::<Vec<_>>())
}

#[test]
fn a_run_flaps_less_than_its_curve() {
    let (mut alone, mut shown) = (0, 0);
    let stories = (0..PLATEAUS).map(|seed| story(seed, 400));
    for run in stories.chain((0..4).map(restless_leak)) {
        alone += changes(&of_curve(&run));
        shown += changes(&of_run(&run));
    }
    println!("changes of verdict: {alone} of the curves alone, {shown} of the runs");
    assert!(10 * shown <= 8 * alone, "{shown} of {alone}");
}

#[test]
fn a_change_towards_risk_is_shown_at_once() {
    for run in [shapes::plain_leak(), story(3, 400)] {
        for (alone, shown) in of_curve(&run).into_iter().zip(of_run(&run)) {
            let is_risk = |verdict: Verdict| {
                matches!(
                    verdict,
                    Verdict::WarmingUp | Verdict::Leak(Grade::Early | Grade::Confirmed)
                )
            };
            if is_risk(alone) {
                let is_shown = shown == alone || matches!(shown, Verdict::Leak(_));
                assert!(is_shown, "{alone:?} is shown as {shown:?}");
            }
        }
    }
}

#[test]
fn growth_that_ends_is_level_as_soon_as_its_plateau_has_lasted() {
    let run = shapes::plain_warmup();
    let first = |verdicts: Vec<Verdict>| verdicts.iter().position(|verdict| verdict.is_level());
    let (alone, shown) = (first(of_curve(&run)), first(of_run(&run)));
    assert!(alone.is_some());
    assert_eq!(alone, shown);
}
