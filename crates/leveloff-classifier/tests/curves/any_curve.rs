//! What holds for every series there is.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::{Judgement, Verdict};
use proptest::prelude::*;

use crate::run::Run;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_judgement_makes_sense(run in any_run()) {
        makes_sense(&run.judged())?;
    }

    #[test]
    fn a_verdict_on_a_run_makes_sense(run in any_run()) {
        let said = run.judged_as_a_run();
        makes_sense(&said.judgement)?;
        makes_sense(&said.memory)?;
        let shares: f64 = said.blame.iter().map(|blame| blame.share).sum();
        prop_assert!(said.blame.is_empty() || (shares - 1.0).abs() < 1e-6, "{shares}");
        if let Some(risk) = said.risk {
            prop_assert!(risk.earliest_x <= risk.at_x, "{risk:?}");
            prop_assert!(risk.latest_x.is_none_or(|latest| risk.at_x <= latest), "{risk:?}");
        }
    }
}

fn makes_sense(said: &Judgement) -> Result<(), TestCaseError> {
    if let Some(rate) = said.rate {
        prop_assert!(
            rate.low <= rate.value && rate.value <= rate.high,
            "{said:?}"
        );
    }
    let inside = |x: Option<X>| match (x, said.span) {
        (Some(x), Some((first, last))) => first <= x && x <= last,
        (Some(_), None) => false,
        (None, _) => true,
    };
    prop_assert!(inside(said.level_since_x), "{said:?}");
    prop_assert!(inside(said.onset_x), "{said:?}");
    prop_assert!(said.noise.0 >= 0.0 && said.material.0 >= 0.0, "{said:?}");
    prop_assert!(
        said.healthy_share
            .is_none_or(|share| (0.0..=1.0).contains(&share)),
        "{said:?}"
    );
    // An open question says by when it is settled, as soon as there is anything to reckon with.
    let last = said.span.map(|span| span.1);
    let is_open = said.verdict == Verdict::WarmingUp;
    prop_assert!(!is_open || said.decide_by.is_some(), "{said:?}");
    if let (Some(by), Some(last)) = (said.decide_by, last) {
        prop_assert!(
            by.if_it_levels > last && by.if_it_goes_on > last,
            "{said:?}"
        );
    }
    let leaks = said.verdict.is_alarm();
    prop_assert!(
        !leaks || said.rate.is_some_and(|rate| rate.value.0 > 0.0),
        "{said:?}"
    );
    prop_assert!(!leaks || said.onset_x.is_some(), "{said:?}");
    Ok(())
}

fn any_run() -> impl Strategy<Value = Run> {
    let units = prop_oneof![Just(XUnit::Step), Just(XUnit::Second), Just(XUnit::Epoch)];
    let level_by = proptest::option::of(0..500_u64);
    let limit = proptest::option::of(0.0..1e6);
    (any_points(), units, level_by, limit).prop_map(|(points, unit, level_by, limit)| Run {
        unit,
        level_by,
        planned: None,
        epoch: None,
        limit,
        points,
    })
}

fn any_points() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop_oneof![chaos(), walk()]
}

/// Anything anywhere.
fn chaos() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let number = || prop_oneof![any::<f64>(), -1e4..1e6, 0.0..10.0, Just(0.0)];
    proptest::collection::vec((number(), number()), 0..120)
}

/// What a run might do, with jumps, pauses and falls.
fn walk() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let stride = prop_oneof![8 => Just(1.0), 1 => 0.0..30.0];
    let change = prop_oneof![6 => -3.0..4.0, 2 => Just(0.0), 1 => -300.0..500.0];
    proptest::collection::vec((stride, change), 1..400).prop_map(|moves| {
        let (mut x, mut y) = (0.0, 2000.0_f64);
        moves
            .into_iter()
            .map(|(stride, change): (f64, f64)| {
                x += stride;
                y = (y + change).max(0.0);
                (x, y)
            })
            .collect()
    })
}
