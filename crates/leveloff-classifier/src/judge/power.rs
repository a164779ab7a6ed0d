//! What a flat stretch can say: a bound that excludes nothing excludes no leak.

use crate::units::{Amount, AmountPerX, X};
use crate::verdict::HiddenGrowth;

use super::plateau::Plateau;
use super::prepared_curve::PreparedCurve;

/// Growth is ruled out at so many standard errors: one leak in two hundred would be missed there.
const RULED_OUT: f64 = 2.6;

/// Over what was seen, a leak would have been noticed if the growth that cannot be ruled out is at most so many times
/// what is material.
const NOTICED: f64 = 3.0;

/// The fewest points and units of x that rule out growth to come.
const FEWEST_POINTS: f64 = 30.0;

/// The growth that cannot be ruled out, if it would be material by the horizon.
pub fn hidden_growth(prepared: &PreparedCurve<'_>, plateau: &Plateau) -> Option<HiddenGrowth> {
    let rate = upper_rate(plateau);
    let horizon = prepared.level_horizon();
    let adds = rate * horizon;
    let too_few = prepared.points < FEWEST_POINTS;
    (adds > prepared.material || too_few).then(|| HiddenGrowth {
        rate: AmountPerX(rate),
        adds: Amount(adds),
        by: X(prepared.end() + horizon),
        decided_after: X(more_needed(prepared, plateau, adds)),
    })
}

/// Whether a leak above the reporting threshold would have been seen: growth stopped, or the noise hides less than that.
pub fn would_see_growth(prepared: &PreparedCurve<'_>, plateau: &Plateau) -> bool {
    let length = prepared.end() - plateau.since;
    plateau.stopped || upper_rate(plateau) * length <= NOTICED * prepared.material
}

/// The fastest growth that the noise may hide.
fn upper_rate(plateau: &Plateau) -> f64 {
    plateau.line.slope.max(0.0) + RULED_OUT * plateau.line.slope_error
}

/// How much longer it has to be flat. The error of a slope falls with the power 3/2 of the length; without a plan, the
/// horizon grows with it.
fn more_needed(prepared: &PreparedCurve<'_>, plateau: &Plateau, adds: f64) -> f64 {
    let length = prepared.end() - plateau.since;
    let power = match prepared.facts.planned {
        Some(_) => 2.0 / 3.0,
        None => 2.0,
    };
    let by_error = length * (adds / prepared.material).max(1.0).powf(power) - length;
    let by_points = length * (FEWEST_POINTS / prepared.points - 1.0);
    by_error.max(by_points).max(0.0)
}
