//! The verdict on one curve.
//!
//! A pure function of the curve's summary: it does not matter how often, or by whom, it was asked
//! before. The order of the questions is the order of this file: too few points? shrinking? jumps
//! that come again and again? growth that is too old for a warmup? flat? growing? else undecided.

mod cycles;
mod growth;
mod noise;
mod plateau;
mod prior;
mod scene;
mod segments;
mod stairs;

pub use noise::Noise;
pub use prior::{Before, Prior};
pub use segments::Segments;

use crate::curve::{Curve, View};
use crate::observation::XUnit;
use crate::stats::median;
use crate::verdict::{Because, DecideBy, Extremes, Grade, Judgement, Rate, Shape, Verdict};

use cycles::Cycles;
use growth::Growth;
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

/// A plateau this near to the limit is the limit.
const AT_CEILING: f64 = 0.97;

/// How much closer each further look at the newest part is.
const CLOSER: u64 = 16;

/// Fewer points than this are not looked at apart.
const FEWEST_LATE_POINTS: u64 = 96;

/// Late growth must be this many times what is worth a word.
const LATE_GROWTH: f64 = 2.0;

/// Judges a curve.
pub fn judge(curve: &Curve, unit: XUnit, quantity: Quantity, facts: &Facts) -> Judgement {
    let view = curve.view();
    let mut judgement = judge_view(&view, unit, quantity, facts);
    if judgement.verdict == Verdict::Level {
        if let Some(late) = late_growth(curve, &judgement, unit, quantity, facts) {
            judgement = late;
        }
    }
    judgement.points = curve.points();
    judgement.extremes = curve.first_and_peak().map(|(first, peak)| Extremes {
        first: first.1,
        peak: peak.max(view.y.iter().copied().fold(first.1, f64::max)),
        last: curve.newest_y().unwrap_or(first.1),
    });
    judgement
}

/// Growth that began so late in a long run that the view of all of it is too coarse to show it: the
/// newest sixteenth is looked at more closely, then the newest sixteenth of that. What came before
/// was level, so only a rise that is large beside what it did before counts.
fn late_growth(
    curve: &Curve,
    whole: &Judgement,
    unit: XUnit,
    quantity: Quantity,
    facts: &Facts,
) -> Option<Judgement> {
    let least = (LATE_GROWTH * whole.material).max(6.0 * whole.noise);
    let mut fraction = CLOSER;
    while curve.points() / fraction >= FEWEST_LATE_POINTS {
        let view = curve.recent_view(fraction);
        if rises_late(&view, least) {
            let judgement = judge_view(&view, unit, quantity, facts);
            let grows = matches!(judgement.verdict, Verdict::Leak(_) | Verdict::WarmingUp);
            let began = judgement.onset_x > view.x.first().copied();
            if grows && began {
                return Some(judgement);
            }
        }
        fraction *= CLOSER;
    }
    None
}

/// Whether the newest tenth of a view is higher than its older half by more than `least`.
fn rises_late(view: &View, least: f64) -> bool {
    let points = view.len();
    let newest = median(&mut view.y[points - points.div_ceil(10)..].to_vec());
    let older = median(&mut view.y[..points.div_ceil(2)].to_vec());
    newest - older > least
}

fn judge_view(view: &View, unit: XUnit, quantity: Quantity, facts: &Facts) -> Judgement {
    if view.len() < FEWEST_POINTS {
        return too_few(view);
    }
    let Some(cycles) = Cycles::of(&view.x, &view.y) else {
        return judge_scene(&Scene::new(&view.x, &view.y, unit, quantity, *facts));
    };
    let envelope = cycles.envelope(&view.x, &view.low);
    if envelope.x.len() < FEWEST_VALLEYS {
        return judge_scene(&Scene::new(&view.x, &view.y, unit, quantity, *facts));
    }
    let mut scene = Scene::new(&envelope.x, &envelope.y, unit, quantity, *facts);
    scene.span = (view.x[0], view.x[view.len() - 1]);
    let mut judgement = judge_scene(&scene);
    judgement.period = Some(cycles.period);
    if judgement.verdict == Verdict::Level && judgement.shape != Shape::Shrinking {
        judgement.shape = Shape::Sawtooth;
        judgement.because = Because::Returns;
    }
    judgement
}

fn judge_scene(scene: &Scene<'_>) -> Judgement {
    if let Some(judgement) = shrinking(scene) {
        return judgement;
    }
    let stairs = Stairs::of(scene);
    if let Some(growth) = growth::leak(scene) {
        return leak(scene, &growth, Shape::Linear, Because::Outlived);
    }
    if stairs.go_on() {
        let growth = Growth::since(scene, 0);
        let span = scene.end() - stairs.at[0];
        if span >= growth.decision_age {
            let mut judgement = leak(scene, &growth, Shape::Staircase, Because::Jumps);
            judgement.period = Some(stairs.gap);
            return judgement;
        }
    }
    let plateau = Plateau::of(scene);
    if let Some(plateau) = plateau.filter(|plateau| plateau.settled && !stairs.may_go_on()) {
        return level(scene, &plateau, &stairs);
    }
    if let Some(growth) = growth::past_horizon(scene) {
        return past_horizon(scene, &growth);
    }
    match growth::current(scene) {
        Some(growth) => warming_up(scene, &growth),
        None => undecided(scene, plateau),
    }
}

fn blank(scene: &Scene<'_>) -> Judgement {
    Judgement {
        verdict: Verdict::Undecided,
        shape: Shape::Flat,
        rate: None,
        onset_x: None,
        onset_level: None,
        level: Some(scene.level),
        level_since_x: None,
        decided_at_x: None,
        decide_by: None,
        because: Because::Wanders,
        healthy_share: None,
        noise: scene.noise.sigma,
        autocorrelation: scene.noise.rho,
        period: None,
        material: scene.material,
        span: Some((scene.begin(), scene.end())),
        extremes: None,
        points: scene.len() as u64,
    }
}

fn shrinking(scene: &Scene<'_>) -> Option<Judgement> {
    let whole = scene.line_from(0);
    let reach = whole.slope_reach(growth::ALPHA);
    let length = scene.end() - scene.begin();
    let falls = whole.slope + reach < 0.0
        && -whole.slope * length > scene.material.max(3.0 * scene.noise.sigma);
    let newer = scene.line_from(scene.len() * 3 / 5);
    let goes_on = newer.slope + newer.slope_error < 0.0 && newer.slope < 0.4 * whole.slope;
    (falls && goes_on).then(|| Judgement {
        verdict: Verdict::Level,
        shape: Shape::Shrinking,
        rate: Some(Rate {
            value: whole.slope,
            low: whole.slope - reach,
            high: whole.slope + reach,
        }),
        onset_x: Some(scene.begin()),
        because: Because::Falls,
        ..blank(scene)
    })
}

fn leak(scene: &Scene<'_>, growth: &Growth, shape: Shape, because: Because) -> Judgement {
    let grade = if growth.age >= 2.0 * growth.decision_age {
        Grade::Confirmed
    } else {
        Grade::Early
    };
    Judgement {
        verdict: Verdict::Leak(grade),
        decided_at_x: Some(growth.onset + growth.decision_age),
        because,
        ..growing(scene, growth, shape)
    }
}

fn past_horizon(scene: &Scene<'_>, growth: &Growth) -> Judgement {
    let horizon = scene.facts.level_by.unwrap_or(growth.onset);
    let grade = if scene.end() >= 2.0 * horizon {
        Grade::Confirmed
    } else {
        Grade::Early
    };
    Judgement {
        verdict: Verdict::Leak(grade),
        decided_at_x: Some(growth.onset.max(horizon)),
        because: Because::PastHorizon,
        ..growing(scene, growth, Shape::Linear)
    }
}

fn warming_up(scene: &Scene<'_>, growth: &Growth) -> Judgement {
    let bends = growth.bends() || growth.slowed;
    let because = if growth.in_first_epoch(scene) {
        Because::FirstEpoch
    } else if bends {
        Because::Bending
    } else if growth.age < growth.decision_age {
        Because::YoungGrowth
    } else {
        Because::NoisyGrowth
    };
    let shape = if bends {
        Shape::Saturating
    } else {
        Shape::Linear
    };
    let age = growth.age;
    let goes_on = (growth.onset + growth.decision_age).max(scene.end() + 0.25 * age);
    Judgement {
        verdict: Verdict::WarmingUp,
        decide_by: Some(DecideBy {
            if_it_levels: scene.end()
                + (0.2 * (scene.end() - scene.begin())).max(4.0 * spacing(scene)),
            if_it_goes_on: goes_on,
        }),
        because,
        ..growing(scene, growth, shape)
    }
}

fn growing(scene: &Scene<'_>, growth: &Growth, shape: Shape) -> Judgement {
    Judgement {
        shape,
        rate: Some(growth.rate),
        onset_x: Some(growth.onset),
        onset_level: Some(growth.line.at(growth.onset)),
        level: Some(growth.line.at(scene.end())),
        healthy_share: Some(scene.prior.still_growing(growth.age)),
        ..blank(scene)
    }
}

fn level(scene: &Scene<'_>, plateau: &Plateau, stairs: &Stairs) -> Judgement {
    let line = &plateau.line;
    let at_ceiling = scene
        .facts
        .limit
        .is_some_and(|limit| line.mean_y > AT_CEILING * limit);
    let earlier = scene.rate_before(plateau.from) * (plateau.since - scene.begin());
    let shape = if earlier < scene.material {
        Shape::Flat
    } else if stairs.at.len() == 1 && stairs.sizes[0] > 0.7 * earlier {
        Shape::Jump
    } else {
        Shape::Saturating
    };
    Judgement {
        verdict: if at_ceiling {
            Verdict::Undecided
        } else {
            Verdict::Level
        },
        shape,
        rate: Some(Rate {
            value: line.slope,
            low: line.slope - 2.0 * line.slope_error,
            high: line.slope + 2.0 * line.slope_error,
        }),
        level: Some(line.mean_y),
        level_since_x: Some(plateau.since),
        decided_at_x: Some((plateau.since + plateau.needed).min(scene.end())),
        because: if at_ceiling {
            Because::AtCeiling
        } else {
            Because::Steady
        },
        ..blank(scene)
    }
}

fn undecided(scene: &Scene<'_>, plateau: Option<Plateau>) -> Judgement {
    let until = scene.end() + (0.2 * (scene.end() - scene.begin())).max(4.0 * spacing(scene));
    let decide_by = Some(DecideBy {
        if_it_levels: until,
        if_it_goes_on: until.max(scene.begin() + scene.prior.decision_age(Before::Warmup, 1.0)),
    });
    Judgement {
        because: if plateau.is_some() {
            Because::ShortPlateau
        } else {
            Because::Wanders
        },
        decide_by,
        ..blank(scene)
    }
}

fn too_few(view: &View) -> Judgement {
    let missing = (FEWEST_POINTS + 1 - view.len().min(FEWEST_POINTS)) as u64;
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
        onset_x: span.filter(|_| grows).map(|span| span.0),
        onset_level: view.y.first().copied().filter(|_| grows),
        level: view.y.last().copied(),
        level_since_x: None,
        decided_at_x: None,
        decide_by: span.filter(|_| step > 0.0).map(|span| DecideBy {
            if_it_levels: span.1 + missing as f64 * step,
            if_it_goes_on: span.1 + missing as f64 * step,
        }),
        because: Because::TooFewPoints { missing },
        healthy_share: None,
        noise: 0.0,
        autocorrelation: 0.0,
        period: None,
        material,
        span,
        extremes: None,
        points: view.len() as u64,
    }
}

/// The usual distance of points in x.
fn spacing(scene: &Scene<'_>) -> f64 {
    (scene.end() - scene.begin()) / (scene.len() - 1) as f64
}
