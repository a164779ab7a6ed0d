//! Is it still growing, since when, and does that bend?

use crate::stats::{Curvature, LineFit};
use crate::verdict::Rate;

use super::prior::{Before, PAST_FIRST_EPOCH};
use super::scene::Scene;

/// Growth up to the newest point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Index of its first point.
    pub from: usize,
    /// x there.
    pub onset: f64,
    /// How long it has gone on.
    pub age: f64,
    /// The line through it.
    pub line: LineFit,
    /// Its interval.
    pub rate: Rate,
    /// How it bends.
    pub curvature: Option<Curvature>,
    /// What came before.
    pub before: Before,
    /// Whether faster growth came before.
    pub slowed: bool,
    /// The age at which it is a leak.
    pub decision_age: f64,
}

/// Chance that the interval of a rate misses it at any look.
pub const ALPHA: f64 = 0.05;

/// A newer half that grows at less than this share of the older half's rate is a bend.
const BENDS_BELOW: f64 = 0.85;

/// To be a leak, growth must be known not to slow down below this share.
const KNOWN_STRAIGHT: f64 = 0.7;

/// How much less has to be known of that for growth that is several times the decision age.
const KNOWN_STRAIGHT_IF_OLD: f64 = 0.45;

impl Growth {
    /// Growth since the point `from`.
    pub fn since(scene: &Scene<'_>, from: usize) -> Growth {
        let line = scene.line_from(from);
        let reach = line.slope_reach(ALPHA);
        let onset = scene.x[from];
        let age = scene.end() - onset;
        let earlier = scene.rate_before(from);
        let lead = onset - scene.begin();
        let before = if from >= 4 && lead >= 0.1 * age && earlier.abs() < 0.4 * line.slope {
            Before::Plateau
        } else {
            Before::Warmup
        };
        let grew = earlier * lead > scene.material;
        let mut growth = Growth {
            from,
            onset,
            age,
            line,
            rate: Rate {
                value: line.slope,
                low: line.slope - reach,
                high: line.slope + reach,
            },
            curvature: Curvature::over(&scene.x[from..], &scene.y[from..], scene.noise.floor),
            before,
            slowed: grew && earlier > 1.3 * line.slope,
            decision_age: 0.0,
        };
        growth.decision_age = growth.decided_after(scene);
        growth
    }

    /// Whether it grows at all, by an amount that is worth a word.
    pub fn is_material(&self, scene: &Scene<'_>) -> bool {
        let horizon = scene.horizon();
        let slope = self.rate.value;
        self.rate.low > 0.0
            && slope * horizon >= scene.material
            && self.rate.low * horizon >= 0.3 * scene.material
            && slope * self.age > (0.5 * scene.material).max(3.0 * self.line.residual)
    }

    /// Whether it slows down.
    pub fn bends(&self) -> bool {
        self.curvature
            .is_some_and(|bend| bend.slowing < BENDS_BELOW && bend.slowing_high < 0.97)
    }

    /// Whether it is known to go on as it was.
    pub fn is_straight(&self) -> bool {
        let Some(bend) = self.curvature else {
            return false;
        };
        let old = ((self.age / self.decision_age - 1.0) / 3.0).clamp(0.0, 1.0);
        let known = KNOWN_STRAIGHT + (KNOWN_STRAIGHT_IF_OLD - KNOWN_STRAIGHT) * old;
        bend.slowing >= BENDS_BELOW.min(0.8) && bend.slowing_low >= known
    }

    /// Whether it is old enough for a leak.
    pub fn is_old(&self, scene: &Scene<'_>) -> bool {
        let enough = !self.slowed || self.age >= 0.5 * (scene.end() - scene.begin());
        self.age >= self.decision_age && enough && !self.in_first_epoch(scene)
    }

    /// Whether all of it may be a cache that the first epoch fills.
    pub fn in_first_epoch(&self, scene: &Scene<'_>) -> bool {
        scene
            .facts
            .epoch
            .is_some_and(|epoch| scene.end() < 1.05 * epoch)
    }

    fn decided_after(&self, scene: &Scene<'_>) -> f64 {
        let past_epoch = scene
            .facts
            .epoch
            .is_some_and(|epoch| scene.end() > 1.5 * epoch && self.age > 0.5 * epoch);
        let less = if past_epoch { PAST_FIRST_EPOCH } else { 1.0 };
        scene.prior.decision_age(self.before, less)
    }
}

/// Growth that is a leak, if there is any: the longest stretch first.
pub fn leak(scene: &Scene<'_>) -> Option<Growth> {
    starts(scene)
        .map(|from| Growth::since(scene, from))
        .find(|growth| growth.is_old(scene) && growth.is_material(scene) && growth.is_straight())
}

/// The growth that is going on: the longest stretch that is straight, else the last one.
pub fn current(scene: &Scene<'_>) -> Option<Growth> {
    let all: Vec<Growth> = starts(scene)
        .map(|from| Growth::since(scene, from))
        .collect();
    let material = |growth: &&Growth| growth.is_material(scene);
    all.iter()
        .find(|growth| growth.is_material(scene) && !growth.bends() && !growth.slowed)
        .or_else(|| all.iter().rev().find(material))
        .copied()
}

/// Where growth may have begun.
fn starts<'a>(scene: &'a Scene<'_>) -> impl Iterator<Item = usize> + 'a {
    let points = scene.len();
    scene
        .segments
        .starts()
        .iter()
        .copied()
        .filter(move |start| start + 6 <= points)
}
