//! Growth that fills a mapping which was reserved at once: it ends where the mapping is full.

use crate::units::{Amount, X};
use crate::verdict::{DecideBy, FullMapping, Judgement, Reason, Shape, Verdict};

use super::Facts;

/// Growth that would be a leak, or might become one, is warming up while it fills a reserved mapping. Nothing is called
/// level because of it, and once the mapping is full, growth is judged as any other.
pub fn excused(judgement: Judgement, facts: &Facts) -> Judgement {
    let (Some(reserved), Some(rate), Some((_, X(now)))) =
        (facts.reserved, judgement.rate, judgement.span)
    else {
        return judgement;
    };
    let level = judgement.level.map_or(0.0, |level| level.0);
    let fits = |limit: Amount| level + reserved.left.0 < limit.0;
    // A stated horizon is the user's own word on when growth has to end.
    let is_past_horizon = facts.level_by.is_some_and(|X(horizon)| now > horizon);
    if is_past_horizon || !facts.limit.is_none_or(fits) {
        return judgement;
    }
    let is_growing = matches!(
        (judgement.verdict, judgement.shape),
        (
            Verdict::WarmingUp | Verdict::Leak(_),
            Shape::Linear | Shape::Filling | Shape::Saturating | Shape::Staircase
        )
    );
    if !is_growing || rate.value.0 <= 0.0 {
        return judgement;
    }
    let full = now + reserved.left.0 / rate.value.0;
    Judgement {
        verdict: Verdict::WarmingUp,
        shape: Shape::Filling,
        reason: Reason::FillsMapping,
        decided_at_x: None,
        full_cache: None,
        full_mapping: Some(FullMapping {
            at: X(full),
            size: reserved.size,
        }),
        decide_by: judgement.decide_by.map(|by| DecideBy {
            if_it_goes_on: X(by.if_it_goes_on.0.max(full)),
            ..by
        }),
        ..judgement
    }
}

#[cfg(test)]
mod tests {
    use crate::curve::Curve;
    use crate::judge::{Facts, Quantity, Reserved, judge};
    use crate::observation::XUnit;
    use crate::units::{Amount, X};
    use crate::verdict::{Judgement, Reason, Shape, Verdict};

    const MB: f64 = 1e6;

    /// 400 steps of 1 MB each while 200 MB of 600 MB are left.
    fn growing(facts: &Facts) -> Judgement {
        let mut curve = Curve::default();
        for step in 0..400 {
            curve.push(f64::from(step), (150.0 + f64::from(step)) * MB);
        }
        let reserved = Some(Reserved {
            size: Amount(600.0 * MB),
            left: Amount(200.0 * MB),
        });
        let facts = Facts { reserved, ..*facts };
        judge(&curve, XUnit::Step, Quantity::Memory, &facts)
    }

    #[test]
    fn it_warms_up_until_the_mapping_is_full() {
        let judged = growing(&Facts::default());
        assert_eq!(
            (judged.verdict, judged.shape, judged.reason),
            (Verdict::WarmingUp, Shape::Filling, Reason::FillsMapping)
        );
        let full = judged.full_mapping.unwrap();
        // The newest points of a view are joined: its end is a step or two before the newest.
        assert!((full.at.0 - 599.0).abs() < 3.0, "{full:?}");
        assert_eq!(full.size.0, 600.0 * MB);
        assert!(
            judged
                .decide_by
                .is_none_or(|by| by.if_it_goes_on >= full.at)
        );
    }

    #[test]
    fn a_stated_horizon_and_a_limit_that_it_would_meet_are_no_excuse() {
        let past_horizon = growing(&Facts {
            level_by: Some(X(90.0)),
            ..Facts::default()
        });
        assert_eq!(past_horizon.full_mapping, None);
        assert!(matches!(past_horizon.verdict, Verdict::Leak(_)));
        let too_large = growing(&Facts {
            limit: Some(Amount(700.0 * MB)),
            ..Facts::default()
        });
        assert_eq!(too_large.full_mapping, None);
        assert!(matches!(too_large.verdict, Verdict::Leak(_)));
    }

    #[test]
    fn a_level_is_what_it_was() {
        let mut curve = Curve::default();
        for step in 0..400 {
            curve.push(f64::from(step), 150.0 * MB);
        }
        let reserved = Some(Reserved {
            size: Amount(600.0 * MB),
            left: Amount(200.0 * MB),
        });
        let with = Facts {
            reserved,
            ..Facts::default()
        };
        let judged = |facts| judge(&curve, XUnit::Step, Quantity::Memory, facts);
        assert_eq!(judged(&with), judged(&Facts::default()));
    }
}
