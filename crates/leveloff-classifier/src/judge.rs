//! The verdict on one curve.
//!
//! A pure function of the curve's summary: it does not matter how often it was
//! judged before. The order of the tests is the order of this file: too few points? up and down, again
//! and again? shrinking? growth that is too old for a warmup? jumps that come again and again? flat?
//! growth behind a stated horizon? warming up? else undecided.

mod creeping;
mod cycles;
mod filling;
mod growth;
mod growth_candidates;
mod judgements;
mod late_growth;
mod low_points;
mod noise;
mod plateau;
mod power;
mod prepared_curve;
mod prior;
mod repro;
mod segments;
mod stairs;
mod startup;
mod suspicion;

pub use noise::Noise;
pub use prepared_curve::material;
pub use prior::{Before, Prior};
pub use segments::Segments;

use crate::curve::{Curve, View};
use crate::observation::XUnit;
use crate::stats::median;
use crate::units::{Amount, X};
use crate::verdict::{Extremes, Judgement, Reason, Shape, Verdict};

use cycles::Cycles;
use growth_candidates::GrowthCandidates;
use plateau::Plateau;
use prepared_curve::PreparedCurve;
use stairs::Stairs;

/// What is known beside the curve itself.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Facts {
    /// It must have levelled off by this x.
    pub level_by: Option<X>,
    /// The run is going to end at this x.
    pub planned: Option<X>,
    /// The length of an epoch.
    pub epoch: Option<X>,
    /// The reserved mapping that is being filled.
    pub reserved: Option<Reserved>,
    /// The value at which it meets a ceiling.
    pub limit: Option<Amount>,
    /// How far the run had come before its first point: it was attached to late, or its log was cut.
    pub before: Option<X>,
    /// Seconds that one unit of x takes.
    pub pace: Option<f64>,
    /// Whether it cannot be a cache of the data set, because such a cache holds something else.
    pub is_no_cache: bool,
    /// Whether the series is from a loop that was written to reproduce a leak.
    pub is_repro: bool,
    /// Whether the run has ended: no later point is going to decide what is open now.
    pub is_over: bool,
}

/// A mapping that was reserved at once, explains nearly all growth and is not full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reserved {
    /// Its size.
    pub size: Amount,
    /// What can still be filled.
    pub left: Amount,
}

/// What a curve is about: decides how long healthy growth of it lasts and what is material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Memory of processes, in bytes.
    Memory,
    /// Shared memory or files in /dev/shm, in bytes: queues fill within a few steps.
    SharedMemory,
    /// Something counted: descriptors, processes, tensors.
    Count,
}

/// Fewer points than this allow no statement.
const FEWEST_POINTS: usize = 6;

/// Fewer valleys than this allow no statement about the lower envelope.
const FEWEST_VALLEYS: usize = 5;

/// Judges a curve.
///
/// ```
/// use leveloff_classifier::curve::Curve;
/// use leveloff_classifier::judge::{Facts, Quantity, judge};
/// use leveloff_classifier::observation::XUnit;
/// use leveloff_classifier::verdict::{Shape, Verdict};
///
/// // A warmup to 4 GB that ends at step 80.
/// let mut curve = Curve::default();
/// for step in 0..400 {
///     curve.push(f64::from(step), 50e6 * f64::from(step.min(80)));
/// }
/// let judgement = judge(&curve, XUnit::Step, Quantity::Memory, &Facts::default());
/// assert!(judgement.verdict.is_level());
/// assert_eq!(judgement.shape, Shape::Saturating);
/// ```
pub fn judge(curve: &Curve, unit: XUnit, quantity: Quantity, facts: &Facts) -> Judgement {
    let whole = curve.view();
    let begin = whole.begin;
    let view = startup::without_startup(whole, unit, quantity);
    let mut judgement = judge_view(&view, unit, quantity, facts);
    if facts.is_repro
        && !judgement.verdict.is_alarm()
        && let Some(reproduced) = repro::reproduced(&view, unit, quantity, facts)
    {
        judgement = reproduced;
    }
    if matches!(judgement.verdict, Verdict::Level(_) | Verdict::Undecided)
        && let Some(late) = late_growth::late_growth(curve, &judgement, unit, quantity, facts)
    {
        judgement = late;
    }
    let mut judgement = filling::excused(judgement, facts);
    judgement.startup_end = (view.begin > begin).then_some(X(view.begin));
    judgement.points = curve.points();
    judgement.extremes = curve.first_and_peak().map(|(first, peak)| Extremes {
        first: Amount(first.1),
        peak: Amount(peak.max(view.y.iter().copied().fold(first.1, f64::max))),
        last: Amount(curve.newest_y().unwrap_or(first.1)),
    });
    judgement
}

fn judge_view(view: &View, unit: XUnit, quantity: Quantity, facts: &Facts) -> Judgement {
    if view.len() < FEWEST_POINTS {
        return judgements::too_few(view, unit, quantity, facts);
    }
    let cycles = Cycles::of(&view.x, &view.y);
    let cycles = cycles.map(|cycles| (cycles.envelope(&view.x, &view.low), cycles));
    let enough = cycles.filter(|(envelope, _)| envelope.x.len() >= FEWEST_VALLEYS);
    let Some((envelope, cycles)) = enough else {
        let points = prepared(view, &view.x, &view.y, unit, quantity, facts);
        let judgement = judge_prepared(&points);
        return match judgement.reason {
            Reason::LowPower => low_points::level(view, &points).unwrap_or(judgement),
            _ => judgement,
        };
    };
    // What is material depends on what the run holds, and not on the valleys alone.
    let valleys = prepared(view, &envelope.x, &envelope.y, unit, quantity, facts);
    let whole = material(median(&mut view.y.clone()).abs(), quantity);
    let mut judgement = judge_prepared(&PreparedCurve {
        material: valleys.material.max(whole),
        ..valleys
    });
    if !cycles.are_material(judgement.material.0) {
        return judgement;
    }
    judgement.period = Some(X(cycles.period));
    if judgement.verdict.is_level()
        && matches!(
            judgement.shape,
            Shape::Flat | Shape::Saturating | Shape::Jump
        )
    {
        judgement.shape = Shape::Sawtooth;
        judgement.reason = Reason::Returns;
    }
    judgement
}

/// Points that were made from a view, for as long as the view.
fn prepared<'a>(
    view: &View,
    x: &'a [f64],
    y: &'a [f64],
    unit: XUnit,
    quantity: Quantity,
    facts: &Facts,
) -> PreparedCurve<'a> {
    PreparedCurve {
        span: (view.begin, view.x[view.len() - 1]),
        points: view.len() as f64 * view.weight as f64,
        ..PreparedCurve::new(x, y, unit, quantity, *facts)
    }
}

fn judge_prepared(prepared: &PreparedCurve<'_>) -> Judgement {
    if let Some(judgement) = judgements::shrinking(prepared) {
        return judgement;
    }
    let stairs = Stairs::of(prepared);
    let candidates = GrowthCandidates::of(prepared);
    if let Some(growth) = candidates.leak() {
        let mut judgement = judgements::leak(prepared, &growth, Shape::Linear, Reason::Outlived);
        if stairs.go_on() {
            judgement = judgements::leak(
                prepared,
                &growth.in_jumps(),
                Shape::Staircase,
                Reason::Outlived,
            );
            judgement.period = Some(X(stairs.gap));
        }
        return judgement;
    }
    if stairs.go_on() {
        let growth = candidates.since(0).with_certain_rise(prepared).in_jumps();
        let span = prepared.end() - stairs.at[0];
        let rises = growth.rate.low.0 > 0.0 && growth.grown() > prepared.material;
        if span >= growth.decision_age && rises {
            let mut judgement =
                judgements::leak(prepared, &growth, Shape::Staircase, Reason::Jumps);
            judgement.period = Some(X(stairs.gap));
            return judgement;
        }
    }
    if let Some(judgement) = creeping::towards_ceiling(prepared, &candidates) {
        return judgement;
    }
    let plateau = Plateau::of(prepared);
    if let Some(plateau) = plateau.filter(|plateau| plateau.settled && !stairs.may_go_on()) {
        return judgements::level(prepared, &plateau, &stairs);
    }
    let current = candidates.current();
    if let Some(growth) = candidates.past_horizon() {
        return judgements::past_horizon(prepared, &growth, current.as_ref());
    }
    if let Some(growth) = suspicion::suspected(prepared, &candidates) {
        return judgements::suspected(prepared, &growth);
    }
    match current.or_else(|| creeping::certain(&candidates)) {
        Some(growth) => judgements::warming_up(prepared, &growth),
        None => judgements::undecided(prepared, plateau),
    }
}
