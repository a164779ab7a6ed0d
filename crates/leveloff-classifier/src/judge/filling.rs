//! Growth that fills a mapping which was reserved at once: it ends where the mapping is full.

use crate::units::{Amount, X};
use crate::verdict::{Because, DecideBy, FullMapping, Judgement, Shape, Verdict};

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
    let is_stated = judgement.because == Because::PastHorizon;
    if is_stated || !facts.limit.is_none_or(fits) {
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
        because: Because::FillsMapping,
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
