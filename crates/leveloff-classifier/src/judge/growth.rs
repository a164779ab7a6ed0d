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
    /// The line through its newest part.
    pub tail: LineFit,
    /// What came before.
    pub before: Before,
    /// Whether faster growth came before.
    pub slowed: bool,
    /// The age at which it is a leak.
    pub decision_age: f64,
}

/// Fewer points are no course.
const FEWEST: usize = 5;

/// Chance that the interval of a rate misses it at any look.
pub const ALPHA: f64 = 0.05;

/// A newer half that grows at less than this share of the older half's rate is a bend.
const BENDS_BELOW: f64 = 0.85;

/// To be a leak, growth must be known, at two standard errors, not to slow down below this share.
/// A saturating curve that is seen over a third of its time constant slows down to 0.85.
const KNOWN_STRAIGHT: f64 = 0.7;

/// After faster growth that slowed down, more has to be known: a logarithm seen over its newer half
/// slows down to 0.71.
const KNOWN_STRAIGHT_AFTER_SLOWING: f64 = 0.85;

/// How much less has to be known for growth of four times the decision age.
const KNOWN_STRAIGHT_EASED: f64 = 0.25;

/// Growth that slows down below this share is no leak, whatever is known of it.
const LEAST_SLOWING: f64 = 0.8;

/// How much less strict that is for growth of four times the decision age.
const LEAST_SLOWING_EASED: f64 = 0.1;

/// Growth that slows down below this share is no leak, when that it slows down is certain.
const KNOWN_BEND: f64 = 0.96;

/// How much less strict that is for growth of four times the decision age.
const KNOWN_BEND_EASED: f64 = 0.05;

/// It is certain when the upper end, two standard errors higher, is below this share.
const CERTAIN_BEND: f64 = 0.98;

/// What came before was faster when its rate was this many times the rate now.
const FASTER_BEFORE: f64 = 1.12;

/// Growth may also have begun this many percent of the way from the last change of course to now.
const LATER_STARTS: [usize; 3] = [15, 30, 45];

/// The newest part must grow at this share of the whole's rate.
const TAIL_SHARE: f64 = 0.6;

/// And be known, give or take a standard error, to grow at this share.
const TAIL_KNOWN: f64 = 0.2;

/// Growth is looked at from this much behind the stated horizon.
const HORIZON_SLACK: f64 = 1.1;

/// The longest stretch is taken among those whose residuals are at most this many times the smallest.
const FITS_AS_WELL: f64 = 1.5;

/// Or at most this share of the growth.
const FITS_WELL: f64 = 0.015;

/// Residuals above this share of the growth are no straight line.
const MISFIT: f64 = 0.08;

/// Long runs warm up for longer: growth younger than this share of the plan is not called a leak.
const SHARE_OF_PLAN: f64 = 0.08;

impl Growth {
    /// Growth since the point `from`.
    pub fn since(scene: &Scene<'_>, from: usize) -> Growth {
        let line = scene.line_from(from);
        let reach = line.slope_reach(ALPHA);
        let onset = if from == 0 {
            scene.begin()
        } else {
            scene.x[from]
        };
        let age = scene.end() - onset;
        let earlier = scene.rate_before(from);
        let lead = onset - scene.begin();
        let before = before(scene, from, age, line.slope);
        let grew = before == Before::Warmup && earlier * lead > scene.material;
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
            tail: scene.line_from(tail_of(scene, from)),
            before,
            slowed: grew && earlier > FASTER_BEFORE * line.slope,
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
        let young = if self.slowed {
            KNOWN_STRAIGHT_AFTER_SLOWING
        } else {
            KNOWN_STRAIGHT
        };
        let known = young - KNOWN_STRAIGHT_EASED * old;
        let goes_on = self.goes_on();
        let known_to_bend =
            bend.slowing < KNOWN_BEND - KNOWN_BEND_EASED * old && bend.slowing_high < CERTAIN_BEND;
        !known_to_bend
            && bend.slowing >= LEAST_SLOWING - LEAST_SLOWING_EASED * old
            && bend.slowing_low >= known
            && goes_on
    }

    /// Whether its newest part still grows.
    pub fn goes_on(&self) -> bool {
        self.tail.slope >= TAIL_SHARE * self.line.slope
            && self.tail.slope - self.tail.slope_error >= TAIL_KNOWN * self.line.slope
    }

    /// The same with a rate that is known to be higher where no point of the newest third is as low
    /// as any of the oldest. Growth in a few irregular chunks is certain by that long before a line
    /// through it is, whose residuals look like slow noise.
    pub fn with_certain_rise(mut self, scene: &Scene<'_>) -> Growth {
        let (x, y) = (&scene.x[self.from..], &scene.y[self.from..]);
        let third = y.len() / 3;
        if third < FEWEST {
            return self;
        }
        let highest_before = y[..third].iter().copied().fold(f64::MIN, f64::max);
        let lowest_now = y[y.len() - third..]
            .iter()
            .copied()
            .fold(f64::MAX, f64::min);
        let rise = lowest_now - highest_before;
        if rise > 0.5 * scene.material {
            self.rate.low = self.rate.low.max(rise / (x[x.len() - 1] - x[0]));
        }
        self
    }

    /// Whether it slows down so much that it may have ended by now.
    fn bends_to_a_stop(&self) -> bool {
        self.curvature.is_some_and(|bend| bend.slowing < 0.4)
    }

    /// Whether it is old enough for a leak.
    pub fn is_old(&self, scene: &Scene<'_>) -> bool {
        let enough = !self.slowed || self.age >= 0.5 * (scene.end() - scene.begin());
        self.age >= self.decision_age && enough && !self.in_first_epoch(scene)
    }

    /// Whether the line is what the points follow, and not a mean course between jumps or bends.
    pub fn fits(&self, scene: &Scene<'_>) -> bool {
        let grown = self.line.slope * self.age;
        self.line.residual < (2.0 * scene.noise.sigma).hypot(MISFIT * grown)
    }

    /// Whether all of it may be a cache that the first epoch fills: it has not gone on behind the
    /// end of that epoch for long enough to tell.
    pub fn in_first_epoch(&self, scene: &Scene<'_>) -> bool {
        let Some(epoch) = scene.facts.epoch.filter(|&epoch| self.onset < epoch) else {
            return false;
        };
        let past = scene.x.partition_point(|&x| x < epoch);
        if past + 4 > scene.len() || scene.end() < 1.05 * epoch {
            return true;
        }
        let after = scene.line_from(past);
        after.slope - 2.0 * after.slope_error < 0.3 * self.line.slope
    }

    fn decided_after(&self, scene: &Scene<'_>) -> f64 {
        let past_epoch = scene
            .facts
            .epoch
            .is_some_and(|epoch| scene.end() > 1.5 * epoch && self.age > 0.5 * epoch);
        let less = if past_epoch { PAST_FIRST_EPOCH } else { 1.0 };
        let age = scene.prior.decision_age(self.before, less);
        age.max(SHARE_OF_PLAN * scene.facts.planned.unwrap_or(0.0))
    }
}

/// Where the newest third begins, of which a line needs a few points.
fn tail_of(scene: &Scene<'_>, from: usize) -> usize {
    let points = scene.len() - from;
    let tail = (points * 3 / 10).max(FEWEST).min(points);
    scene.len() - tail
}

/// What came just before: a plateau is at least a tenth as long as the growth is old.
fn before(scene: &Scene<'_>, from: usize, age: f64, slope: f64) -> Before {
    let stretch = scene.x.partition_point(|&x| x < scene.x[from] - 0.5 * age);
    let last = scene.segments.ranges().rfind(|range| range.end <= from);
    let stretch = stretch.max(last.map_or(from, |range| range.start));
    if from - stretch < 4 || scene.x[from] - scene.x[stretch] < 0.1 * age {
        return Before::Warmup;
    }
    if scene.line(stretch..from).slope.abs() < 0.4 * slope {
        Before::Plateau
    } else {
        Before::Warmup
    }
}

/// Growth that is a leak, if there is any: the longest stretch first.
pub fn leak(scene: &Scene<'_>) -> Option<Growth> {
    let leaks: Vec<Growth> = starts(scene)
        .map(|from| Growth::since(scene, from))
        .filter(|growth| {
            growth.is_old(scene)
                && growth.is_material(scene)
                && growth.is_straight()
                && growth.fits(scene)
        })
        .collect();
    let residual = |growth: &Growth| growth.line.residual;
    let best = leaks.iter().map(residual).fold(f64::INFINITY, f64::min);
    // A quiet beginning makes the line fit worse, and the rate too low.
    leaks.into_iter().find(|growth| {
        let grown = growth.line.slope * growth.age;
        residual(growth) <= (FITS_AS_WELL * best).max(FITS_WELL * grown)
    })
}

/// Growth that goes on behind the stated horizon, if there is any. A stated horizon takes the place
/// of the prior, so age does not matter; a little is left for a warmup that ends just there. It may
/// stand still at times: it is asked after the plateau, which knows for how long it did so before.
pub fn past_horizon(scene: &Scene<'_>) -> Option<Growth> {
    let horizon = HORIZON_SLACK * scene.facts.level_by?;
    let past = scene.x.partition_point(|&x| x < horizon);
    let later = starts(scene).filter(|&start| start > past);
    let first = (past + FEWEST < scene.len()).then_some(past);
    first
        .into_iter()
        .chain(later)
        .map(|from| Growth::since(scene, from))
        .map(|growth| growth.with_certain_rise(scene))
        .find(|growth| growth.is_material(scene) && !growth.bends_to_a_stop())
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

/// Where growth may have begun: at a change of course, or some time after the last of them, because
/// a warmup that fades out has no corner.
fn starts<'a>(scene: &'a Scene<'_>) -> impl Iterator<Item = usize> + 'a {
    let points = scene.len();
    let courses = scene.segments.starts();
    let last = courses.last().copied().unwrap_or(0);
    let later = LATER_STARTS.map(|percent| last + (points - last) * percent / 100);
    let later = later.into_iter();
    let later = later.filter(move |&start| start > last && points - start >= 2 * FEWEST);
    courses
        .iter()
        .copied()
        .filter(move |start| start + FEWEST <= points)
        .chain(later)
}
