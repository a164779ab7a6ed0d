//! Each outcome as a judgement, with the numbers that it carries.

use crate::curve::View;
use crate::observation::XUnit;
use crate::units::{Amount, X};
use crate::verdict::{DecideBy, Grade, Judgement, LevelGrade, Rate, Reason, Shape, Verdict};

use super::growth::first_epoch::{fewest_seconds, least_age};
use super::growth::{self, Growth};
use super::plateau::Plateau;
use super::power;
use super::prepared_curve::PreparedCurve;
use super::prior::{Before, Prior};
use super::stairs::Stairs;
use super::{FEWEST_POINTS, Facts, Quantity};

/// A plateau needs four points, and the newest is never judged.
const FLAT_POINTS: f64 = 5.0;

/// A plateau this near to the limit is the limit.
const AT_CEILING: f64 = 0.97;

/// A confirmed leak has so many points, spread over its age: the first few may be a burst.
const CONFIRMED_POINTS: f64 = 30.0;

/// And was seen for this share of the age at which a leak is called one, if it was attached to late.
const CONFIRMED_SEEN: f64 = 0.5;

/// A leak is confirmed at this many times the age at which it is called one, or the stated horizon.
const CONFIRMED_AT: f64 = 2.0;

/// Growth behind a stated horizon can be called a leak from about here on, as a share of the horizon: a line needs
/// a few points.
const FIRST_PAST_HORIZON: f64 = 1.25;

fn blank(prepared: &PreparedCurve<'_>) -> Judgement {
    Judgement {
        verdict: Verdict::Undecided,
        shape: Shape::Flat,
        rate: None,
        onset_x: None,
        onset_level: None,
        level: Some(Amount(prepared.level)),
        level_since_x: None,
        decided_at_x: None,
        decide_by: None,
        reason: Reason::Wanders,
        healthy_share: None,
        noise: Amount(prepared.noise.sigma),
        autocorrelation: prepared.noise.rho,
        period: None,
        material: Amount(prepared.material),
        hidden: None,
        full_cache: None,
        full_mapping: None,
        span: Some((X(prepared.begin()), X(prepared.end()))),
        startup_end: None,
        extremes: None,
        points: prepared.len() as u64,
    }
}

/// It falls, if it does.
pub fn shrinking(prepared: &PreparedCurve<'_>) -> Option<Judgement> {
    let whole = prepared.line_from(0);
    let reach = whole.slope_reach(growth::ALPHA);
    let length = prepared.end() - prepared.begin();
    let falls = whole.slope + reach < 0.0
        && -whole.slope * length > prepared.material.max(3.0 * prepared.noise.sigma);
    let newer = prepared.line_from(prepared.len() * 3 / 5);
    let goes_on = newer.slope + newer.slope_error < 0.0 && newer.slope < 0.4 * whole.slope;
    (falls && goes_on).then(|| Judgement {
        verdict: Verdict::Level(LevelGrade::Confirmed),
        shape: Shape::Shrinking,
        rate: Some(Rate::around(whole.slope, reach)),
        onset_x: Some(X(prepared.begin())),
        reason: Reason::Falls,
        ..blank(prepared)
    })
}

/// It has grown for longer than healthy warmups do.
pub fn leak(
    prepared: &PreparedCurve<'_>,
    growth: &Growth,
    shape: Shape,
    reason: Reason,
) -> Judgement {
    let far_outlived = growth.age >= CONFIRMED_AT * growth.early_age;
    let is_spread =
        growth.points >= CONFIRMED_POINTS && growth.seen >= CONFIRMED_SEEN * growth.decision_age;
    let far = (far_outlived || far_past_horizon(prepared)) && is_spread;
    if growth.age < growth.early_age && !far_past_horizon(prepared) {
        return Judgement {
            shape,
            reason,
            ..suspected(prepared, growth)
        };
    }
    Judgement {
        verdict: Verdict::Leak(grade(far)),
        decided_at_x: Some(X(decided_at(prepared, growth))),
        reason,
        ..growing(prepared, growth, shape)
    }
}

/// Where growth is as old as leaks are.
fn decided_at(prepared: &PreparedCurve<'_>, growth: &Growth) -> f64 {
    (prepared.end() - growth.age + growth.decision_age).max(growth.onset)
}

/// It goes on straight, with no known reason to stop; the prior does not allow to call it a leak yet.
pub fn suspected(prepared: &PreparedCurve<'_>, growth: &Growth) -> Judgement {
    Judgement {
        verdict: Verdict::Leak(Grade::Suspected),
        reason: Reason::Unexcused,
        decide_by: Some(decide_by(prepared, growth, growth.early_age)),
        ..growing(prepared, growth, Shape::Linear)
    }
}

/// It grows behind the stated horizon. It may have begun before, as part of the current growth.
pub fn past_horizon(
    prepared: &PreparedCurve<'_>,
    growth: &Growth,
    current: Option<&Growth>,
) -> Judgement {
    let whole = current.filter(|current| current.from < growth.from);
    let whole = whole.unwrap_or(growth);
    let horizon = prepared.facts.level_by;
    Judgement {
        verdict: Verdict::Leak(grade(far_past_horizon(prepared))),
        onset_x: Some(X(whole.onset)),
        onset_level: Some(Amount(whole.line.at(whole.onset))),
        decided_at_x: horizon.map(|X(horizon)| X(growth.onset.max(horizon))),
        reason: Reason::PastHorizon,
        ..growing(prepared, growth, Shape::Linear)
    }
}

fn far_past_horizon(prepared: &PreparedCurve<'_>) -> bool {
    let horizon = prepared.facts.level_by;
    horizon.is_some_and(|X(horizon)| prepared.end() >= CONFIRMED_AT * horizon)
}

fn grade(confirmed: bool) -> Grade {
    if confirmed {
        Grade::Confirmed
    } else {
        Grade::Early
    }
}

/// It grows, and is not decidable yet.
pub fn warming_up(prepared: &PreparedCurve<'_>, growth: &Growth) -> Judgement {
    let bends = growth.bends() || growth.slowed;
    let reason = if growth.in_first_epoch(prepared) {
        Reason::FirstEpoch
    } else if bends {
        Reason::Bending
    } else if growth.age < growth.decision_age {
        Reason::YoungGrowth
    } else {
        Reason::NoisyGrowth
    };
    let shape = match reason {
        _ if bends => Shape::Saturating,
        Reason::FirstEpoch => Shape::Filling,
        _ => Shape::Linear,
    };
    Judgement {
        verdict: Verdict::WarmingUp,
        decide_by: Some(decide_by(prepared, growth, growth.decision_age)),
        reason,
        full_cache: match reason {
            Reason::FirstEpoch => growth.full_cache(prepared),
            _ => None,
        },
        ..growing(prepared, growth, shape)
    }
}

/// When growth that goes on as it is will be `age` old, and how long after its end it is level.
fn decide_by(prepared: &PreparedCurve<'_>, growth: &Growth, age: f64) -> DecideBy {
    // Growth that is old and not yet certain is decided soon after: a date in the past would be none.
    let soon = prepared.end() + FLAT_POINTS * spacing(prepared);
    let goes_on = (prepared.end() - growth.age + age)
        .max(soon)
        .max(growth.excused_until(prepared).unwrap_or(soon));
    // A stated horizon decides as soon as a line can be drawn behind it.
    let goes_on = match prepared.facts.level_by {
        Some(X(horizon)) => goes_on.min((FIRST_PAST_HORIZON * horizon).max(soon)),
        None => goes_on,
    };
    DecideBy {
        if_it_levels: X(flat_by(prepared)),
        if_it_goes_on: X(goes_on),
        level_after: X(flat_after(prepared)),
    }
}

fn growing(prepared: &PreparedCurve<'_>, growth: &Growth, shape: Shape) -> Judgement {
    Judgement {
        shape,
        rate: Some(growth.rate),
        onset_x: Some(X(growth.onset)),
        onset_level: Some(Amount(growth.line.at(growth.onset))),
        level: Some(Amount(growth.line.at(prepared.end()))),
        healthy_share: Some(healthy_share(prepared, growth)),
        ..blank(prepared)
    }
}

/// The share of healthy warmups that still grow at this age. A fast run makes hundreds of steps within the seconds that any
/// start takes: as long as it has not lasted them, time tells how old it is.
fn healthy_share(prepared: &PreparedCurve<'_>, growth: &Growth) -> f64 {
    let by_count = prepared.prior.still_growing(growth.age);
    let is_too_short = growth.age < fewest_seconds(prepared, growth.age);
    match prepared.facts.pace.filter(|_| is_too_short) {
        Some(pace) => {
            let by_time = Prior::of(XUnit::Second, prepared.quantity);
            by_count.max(by_time.still_growing(growth.age * pace))
        }
        None => by_count,
    }
}

/// It is flat, and has been for long enough.
pub fn level(prepared: &PreparedCurve<'_>, plateau: &Plateau, stairs: &Stairs) -> Judgement {
    let line = &plateau.line;
    let limit = prepared.facts.limit;
    let hidden = power::hidden_growth(prepared, plateau);
    let grade = match hidden {
        None => LevelGrade::Confirmed,
        Some(_) => LevelGrade::Early,
    };
    let creeps = line.slope > 2.0 * line.slope_error
        && line.slope * (prepared.end() - plateau.since) > 2.0 * prepared.noise.sigma;
    let (verdict, reason) = if limit.is_some_and(|Amount(limit)| line.mean_y > AT_CEILING * limit) {
        (Verdict::Undecided, Reason::AtCeiling)
    } else if !power::would_see_growth(prepared, plateau) {
        (Verdict::Undecided, Reason::LowPower)
    } else if creeps {
        (Verdict::Level(grade), Reason::Immaterial)
    } else {
        (Verdict::Level(grade), Reason::Steady)
    };
    let earlier = prepared.rate_before(plateau.from) * (plateau.since - prepared.begin());
    let certain = creeps
        && line.slope > line.slope_reach(growth::ALPHA)
        && Growth::since(prepared, plateau.from).looks_straight();
    let shape = if certain && verdict.is_level() {
        Shape::Creeping
    } else if earlier <= prepared.material {
        Shape::Flat
    } else if stairs.at.len() == 1 && stairs.sizes[0] > 0.7 * earlier {
        Shape::Jump
    } else {
        Shape::Saturating
    };
    Judgement {
        verdict,
        shape,
        rate: Some(Rate::around(line.slope, 2.0 * line.slope_error)),
        level: Some(Amount(line.mean_y)),
        level_since_x: Some(X(plateau.since)),
        decided_at_x: Some(X((plateau.since + plateau.needed).min(prepared.end()))),
        reason,
        hidden,
        ..blank(prepared)
    }
}

/// Nothing of that.
pub fn undecided(prepared: &PreparedCurve<'_>, plateau: Option<Plateau>) -> Judgement {
    let until = flat_by(prepared);
    let decision_age = prepared.decision_ages.at(Before::Warmup, false);
    let decide_by = Some(DecideBy {
        if_it_levels: X(until),
        if_it_goes_on: X(until.max(prepared.begin() + decision_age)),
        level_after: X(flat_after(prepared)),
    });
    Judgement {
        reason: if plateau.is_some() {
            Reason::ShortPlateau
        } else {
            Reason::Wanders
        },
        decide_by,
        ..blank(prepared)
    }
}

/// Too few points for any statement.
pub fn too_few(view: &View, unit: XUnit, quantity: Quantity, facts: &Facts) -> Judgement {
    let missing = (FEWEST_POINTS - view.len().min(FEWEST_POINTS)) as u64;
    let span = view.x.first().copied().zip(view.x.last().copied());
    let rises = view.len() >= 3 && view.y.windows(2).all(|pair| pair[1] > pair[0]);
    let grown = view
        .y
        .last()
        .zip(view.y.first())
        .map_or(0.0, |(last, first)| last - first);
    let material = 0.02 * view.y.last().copied().unwrap_or(0.0).abs();
    let grows = rises && grown > material;
    let step = span.map_or(0.0, |(first, last)| {
        (last - first) / (view.len().max(2) - 1) as f64
    });
    Judgement {
        verdict: if grows {
            Verdict::WarmingUp
        } else {
            Verdict::Undecided
        },
        shape: if grows { Shape::Linear } else { Shape::Flat },
        rate: None,
        onset_x: span.filter(|_| grows).map(|span| X(span.0)),
        onset_level: view.y.first().filter(|_| grows).map(|y| Amount(*y)),
        level: view.y.last().map(|y| Amount(*y)),
        level_since_x: None,
        decided_at_x: None,
        decide_by: span.filter(|_| step > 0.0).map(|(first, last)| {
            let enough = last + missing as f64 * step;
            DecideBy {
                if_it_levels: X(enough),
                if_it_goes_on: X(enough.max(first_leak(first, unit, quantity, facts))),
                level_after: X(missing as f64 * step),
            }
        }),
        reason: Reason::TooFewPoints { missing },
        healthy_share: None,
        noise: Amount(0.0),
        autocorrelation: 0.0,
        period: None,
        material: Amount(material),
        hidden: None,
        full_cache: None,
        full_mapping: None,
        span: span.map(|(first, last)| (X(first), X(last))),
        startup_end: None,
        extremes: None,
        points: view.len() as u64,
    }
}

/// The first x at which growth since `first` can be called a leak, as far as that is known before there is a line.
fn first_leak(first: f64, unit: XUnit, quantity: Quantity, facts: &Facts) -> f64 {
    let age = Prior::of(unit, quantity).decision_age(Before::Warmup, 1.0);
    let seen_before = facts.before.map_or(0.0, |before| before.0);
    let by_age = first - seen_before + age.max(least_age(facts));
    match facts.level_by {
        Some(X(horizon)) => by_age.min(FIRST_PAST_HORIZON * horizon),
        None => by_age,
    }
}

/// Where it could be called level if it stopped growing now.
fn flat_by(prepared: &PreparedCurve<'_>) -> f64 {
    prepared.end() + flat_after(prepared)
}

/// How long it has to be flat to be called level.
fn flat_after(prepared: &PreparedCurve<'_>) -> f64 {
    (0.2 * (prepared.end() - prepared.begin())).max(FLAT_POINTS * spacing(prepared))
}

/// The usual distance of points in x.
fn spacing(prepared: &PreparedCurve<'_>) -> f64 {
    (prepared.end() - prepared.begin()) / (prepared.len() - 1) as f64
}
