//! Slow growth that is certain: it is never called flat, and it is a leak if it reaches the limit within the plan.

use crate::units::{Amount, X};
use crate::verdict::{Judgement, Reason, Shape};

use super::growth::Growth;
use super::growth_candidates::GrowthCandidates;
use super::judgements;
use super::prepared_curve::PreparedCurve;

/// Growth of fewer points is not certain.
const FEWEST_POINTS: f64 = 30.0;

/// It has risen by so many standard deviations of the residuals.
const RISEN_RESIDUALS: f64 = 4.0;

/// The longest growth that is certain and goes on, however slow it is.
pub fn certain(candidates: &GrowthCandidates<'_>) -> Option<Growth> {
    let is_certain = |growth: &&Growth| {
        growth.rate.low.0 > 0.0
            && growth.points >= FEWEST_POINTS
            && growth.grown() > RISEN_RESIDUALS * growth.line.residual
            && growth.looks_straight()
    };
    candidates.all().iter().find(is_certain).copied()
}

/// A leak, if certain growth that is as old as leaks are reaches the limit before the planned end.
pub fn towards_ceiling(
    prepared: &PreparedCurve<'_>,
    candidates: &GrowthCandidates<'_>,
) -> Option<Judgement> {
    let (X(planned), Amount(limit)) = (prepared.facts.planned?, prepared.facts.limit?);
    let growth = certain(candidates)?;
    let by_then = growth.line.at(prepared.end()) + growth.rate.low.0 * (planned - prepared.end());
    let old = growth.age >= prepared.decision_ages.at(growth.before, false)
        && !growth.in_first_epoch(prepared);
    (old && by_then >= limit && growth.is_straight()).then(|| {
        judgements::leak(
            prepared,
            &growth,
            Shape::Creeping,
            Reason::CeilingWithinPlan,
        )
    })
}
