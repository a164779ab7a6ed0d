//! Growth that is suspected to be a leak before the prior allows to call it one.

use crate::observation::XUnit;

use super::growth::Growth;
use super::growth::first_epoch::fewest_seconds;
use super::growth_candidates::GrowthCandidates;
use super::prepared_curve::PreparedCurve;
use super::prior::Prior;

/// Fewer points decide nothing.
const FEWEST_POINTS: f64 = 60.0;

/// Fewer do not either where the run has ended: these have to be straight as well.
const FEWEST_POINTS_AT_END: f64 = 20.0;

/// Growth that went on until the run ended is suspected at this share of the age: no later point is going to show
/// whether it stops.
const SHARE_AT_END: f64 = 0.5;

/// It goes on through this share of what was seen: the newer half.
const SHARE_SEEN: f64 = 0.5;

/// It is this share of the age at which it is called a leak.
const SHARE_OF_AGE: f64 = 0.45;

/// The same over time: a second is shorter than most steps, so the age of a leak over time is a cautious one.
const SHARE_OF_SECONDS: f64 = 0.14;

/// It has grown by so many times what is material.
const GROWN: f64 = 1.5;

/// And by so many standard deviations of the residuals.
const GROWN_RESIDUALS: f64 = 4.0;

/// The longest growth that goes on straight through the newer half of what was seen, with no known reason to stop.
pub fn suspected(
    prepared: &PreparedCurve<'_>,
    candidates: &GrowthCandidates<'_>,
) -> Option<Growth> {
    let is_suspected =
        |growth: &&Growth| is_suspected(prepared, growth) && !candidates.was_there_before(growth);
    candidates.all().iter().find(is_suspected).copied()
}

fn is_suspected(prepared: &PreparedCurve<'_>, growth: &Growth) -> bool {
    let all = prepared.end() - prepared.begin();
    let grown = (GROWN * prepared.material).max(GROWN_RESIDUALS * growth.line.residual);
    growth.age >= age(prepared, growth)
        && growth.points >= fewest_points(prepared)
        && growth.seen >= SHARE_SEEN * all
        && growth.is_material(prepared)
        && growth.grown() >= grown
        && growth.looks_straight()
        && growth.fits(prepared)
        && !growth.in_first_epoch(prepared)
}

fn fewest_points(prepared: &PreparedCurve<'_>) -> f64 {
    match prepared.facts.is_over {
        true => FEWEST_POINTS_AT_END,
        false => FEWEST_POINTS,
    }
}

/// The age at which this growth is suspected.
fn age(prepared: &PreparedCurve<'_>, growth: &Growth) -> f64 {
    let by_count = SHARE_OF_AGE * growth.decision_age;
    let age = match prepared.unit {
        XUnit::Second => SHARE_OF_SECONDS * growth.decision_age,
        // How many of them a step has is assumed, and rather too many: the time that it took counts as well.
        XUnit::TrainingSample | XUnit::Token | XUnit::Timestep => {
            by_count.min(by_time(prepared, growth))
        }
        _ => by_count,
    };
    let age = age.max(fewest_seconds(prepared, growth.age));
    match prepared.facts.is_over {
        true => SHARE_AT_END * age,
        false => age,
    }
}

/// The age at which it is suspected by time, on the axis of the curve.
fn by_time(prepared: &PreparedCurve<'_>, growth: &Growth) -> f64 {
    let pace = prepared.facts.pace.filter(|pace| *pace > 0.0);
    let prior = Prior::of(XUnit::Second, prepared.quantity);
    let seconds = SHARE_OF_SECONDS * prior.decision_age(growth.before, 1.0);
    pace.map_or(f64::INFINITY, |pace| seconds / pace)
}
