//! The verdict on one curve.
//!
//! A pure function of the curve's summary: it does not matter how often, or by whom, it was asked
//! before. The order of the questions is the order of this file: too few points? up and down, again
//! and again? shrinking? growth that is too old for a warmup? jumps that come again and again? flat?
//! growth behind a stated horizon? warming up? else undecided.

mod answer;
mod cycles;
mod growth;
mod growths;
mod late;
mod noise;
mod plateau;
mod prior;
mod scene;
mod segments;
mod stairs;

pub use noise::Noise;
pub use prior::{Before, Prior};
pub use scene::material;
pub use segments::Segments;

use crate::curve::{Curve, View};
use crate::observation::XUnit;
use crate::units::{Amount, X};
use crate::verdict::{Because, Extremes, Judgement, Shape, Verdict};

use cycles::Cycles;
use growths::Growths;
use plateau::Plateau;
use scene::Scene;
use stairs::Stairs;

/// What is known beside the curve itself, in its own units.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Facts {
    /// It must have levelled off by this x.
    pub level_by: Option<f64>,
    /// The run is going to end at this x.
    pub planned: Option<f64>,
    /// The length of an epoch.
    pub epoch: Option<f64>,
    /// The value at which it meets a ceiling.
    pub limit: Option<f64>,
}

/// What a curve is about: decides how long healthy growth of it lasts and what is worth a word.
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
pub fn judge(curve: &Curve, unit: XUnit, quantity: Quantity, facts: &Facts) -> Judgement {
    let view = curve.view();
    let mut judgement = judge_view(&view, unit, quantity, facts);
    if matches!(judgement.verdict, Verdict::Level | Verdict::Undecided)
        && let Some(late) = late::late_growth(curve, &judgement, unit, quantity, facts)
    {
        judgement = late;
    }
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
        return answer::too_few(view);
    }
    let span = (view.begin, view.x[view.len() - 1]);
    let scene = |x, y| Scene {
        span,
        ..Scene::new(x, y, unit, quantity, *facts)
    };
    let cycles = Cycles::of(&view.x, &view.y);
    let cycles = cycles.map(|cycles| (cycles.envelope(&view.x, &view.low), cycles));
    let enough = cycles.filter(|(envelope, _)| envelope.x.len() >= FEWEST_VALLEYS);
    let Some((envelope, cycles)) = enough else {
        return judge_scene(&scene(&view.x, &view.y));
    };
    let mut judgement = judge_scene(&scene(&envelope.x, &envelope.y));
    if !cycles.are_worth_a_word(judgement.material.0) {
        return judgement;
    }
    judgement.period = Some(X(cycles.period));
    if judgement.verdict == Verdict::Level && judgement.shape != Shape::Shrinking {
        judgement.shape = Shape::Sawtooth;
        judgement.because = Because::Returns;
    }
    judgement
}

fn judge_scene(scene: &Scene<'_>) -> Judgement {
    if let Some(judgement) = answer::shrinking(scene) {
        return judgement;
    }
    let stairs = Stairs::of(scene);
    let growths = Growths::of(scene);
    if let Some(growth) = growths.leak() {
        let mut judgement = answer::leak(scene, &growth, Shape::Linear, Because::Outlived);
        if stairs.go_on() {
            judgement.shape = Shape::Staircase;
            judgement.period = Some(X(stairs.gap));
        }
        return judgement;
    }
    if stairs.go_on() {
        let growth = growths.since(0).with_certain_rise(scene);
        let span = scene.end() - stairs.at[0];
        let rises = growth.rate.low.0 > 0.0 && growth.grown() > scene.material;
        if span >= growth.decision_age && rises {
            let mut judgement = answer::leak(scene, &growth, Shape::Staircase, Because::Jumps);
            judgement.period = Some(X(stairs.gap));
            return judgement;
        }
    }
    let plateau = Plateau::of(scene);
    if let Some(plateau) = plateau.filter(|plateau| plateau.settled && !stairs.may_go_on()) {
        return answer::level(scene, &plateau, &stairs);
    }
    let current = growths.current();
    if let Some(growth) = growths.past_horizon() {
        return answer::past_horizon(scene, &growth, current.as_ref());
    }
    match current {
        Some(growth) => answer::warming_up(scene, &growth),
        None => answer::undecided(scene, plateau),
    }
}
