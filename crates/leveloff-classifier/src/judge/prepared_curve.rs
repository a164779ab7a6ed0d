//! A curve prepared for judging: its noise, its stretches, and what is material.

use crate::observation::XUnit;
use crate::stats::{LineFit, Moments, median};
use crate::units::X;

use super::noise::Noise;
use super::prior::{DecisionAges, Prior};
use super::segments::Segments;
use super::{Facts, Quantity};

/// Everything that the tests of a curve share.
#[derive(Debug, Clone)]
pub struct PreparedCurve<'a> {
    /// x of the points.
    pub x: &'a [f64],
    /// y of the points.
    pub y: &'a [f64],
    /// Its noise.
    pub noise: Noise,
    /// Where it changes its course.
    pub segments: Segments,
    /// How long healthy growth lasts.
    pub prior: Prior,
    /// From which age on it is a leak.
    pub decision_ages: DecisionAges,
    /// What is known beside it.
    pub facts: Facts,
    /// Growth below this is immaterial.
    pub material: f64,
    /// The level now.
    pub level: f64,
    /// The first and the last x of the curve, also where its points are only some of it.
    pub span: (f64, f64),
    /// How many points the curve has: each of `x` may stand for several.
    pub points: f64,
    /// What it is about.
    pub quantity: Quantity,
    /// What x counts.
    pub unit: XUnit,
}

/// Growth below this share of the level is immaterial.
const MATERIAL_SHARE: f64 = 0.02;

/// So is growth below this, in bytes, for a run of usual size: the allocator's grain.
const MATERIAL_BYTES: f64 = 8e6;

/// For small series the grain is a share of the level instead.
const MATERIAL_SHARE_OF_SMALL: f64 = 0.04;

/// But no less than this: in any program a megabyte by the end of the run is harmless, and the pages that a small process touches for
/// the first time add up to hundreds of kilobytes.
const MATERIAL_BYTES_OF_SMALL: f64 = 1e6;

/// Things that are counted come one at a time.
const MATERIAL_COUNT: f64 = 8.0;

/// Of a run that was attached to late, so many points and units of x must have been seen before its age counts.
const SEEN_AT_LEAST: f64 = 60.0;

/// A run whose first reading comes within so many usual distances of readings was seen from its start.
const AT_THE_START: f64 = 2.0;

impl<'a> PreparedCurve<'a> {
    /// Prepares a curve of at least four points.
    pub fn new(
        x: &'a [f64],
        y: &'a [f64],
        unit: XUnit,
        quantity: Quantity,
        facts: Facts,
    ) -> PreparedCurve<'a> {
        let level = median(&mut y[y.len() - y.len().div_ceil(4)..].to_vec());
        let first = Noise::of(y);
        let (moments, unit_y) = scaled_moments(x, y);
        let split = |noise: Noise| {
            let noise = Noise {
                sigma: noise.sigma / unit_y,
                ..noise
            };
            Segments::of(&moments, x.len(), noise)
        };
        let segments = split(first);
        let noise = refined(first, &segments, x, y);
        let segments = if noise == first {
            segments
        } else {
            split(noise)
        };
        let prior = Prior::of(unit, quantity);
        PreparedCurve {
            x,
            y,
            noise,
            segments,
            prior,
            decision_ages: DecisionAges::of(prior),
            facts,
            material: material(level.abs(), quantity),
            level,
            span: (x[0], x[x.len() - 1]),
            points: x.len() as f64,
            quantity,
            unit,
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// The first x.
    pub fn begin(&self) -> f64 {
        self.span.0
    }

    /// The last x.
    pub fn end(&self) -> f64 {
        self.span.1
    }

    /// The x at which a stretch from the point `from` on begins. The first point may stand for many,
    /// or be a valley some way in: what begins with it begins with the curve.
    pub fn begins_at(&self, from: usize) -> f64 {
        if from == 0 {
            self.begin()
        } else {
            self.x[from]
        }
    }

    /// How many points of the curve lie behind the point `from`.
    pub fn points_since(&self, from: usize) -> f64 {
        self.points * (self.len() - from) as f64 / self.len() as f64
    }

    /// How old what begins with the point `from` is. What begins with the curve began with the run, which may have
    /// been attached to late; but enough of it must have been seen.
    pub fn age_since(&self, from: usize) -> f64 {
        let seen = self.end() - self.begins_at(from);
        let before = self.facts.before.map_or(0.0, |before| before.0);
        // The first reading of a run comes a little after its start.
        let from_start = before * self.points <= AT_THE_START * seen;
        let enough = seen >= SEEN_AT_LEAST && self.points >= SEEN_AT_LEAST;
        match from == 0 && (from_start || enough) {
            true => seen + before,
            false => seen,
        }
    }

    /// Whether growth may be a cache of a data set whose length is not known, or a buffer that fills. The prior over time is
    /// a cautious one, and allows for that already.
    pub fn may_be_buffer(&self) -> bool {
        let facts = &self.facts;
        let known = facts.epoch.is_some() || facts.level_by.is_some() || facts.is_no_cache;
        self.quantity == Quantity::Memory && self.unit != XUnit::Second && !known
    }

    /// How far growth is looked ahead for being material: to the planned end, and at least as
    /// far as it has been watched; three times that when the end is unknown.
    pub fn horizon(&self) -> f64 {
        let elapsed = self.end() - self.begin();
        match self.facts.planned {
            Some(X(planned)) => elapsed.max(planned - self.end()),
            None => 3.0 * elapsed,
        }
    }

    /// How far a level has to hold: to the planned end, and at least as far again as it has been watched.
    pub fn level_horizon(&self) -> f64 {
        let elapsed = self.end() - self.begin();
        let rest = self
            .facts
            .planned
            .map_or(0.0, |X(planned)| planned - self.end());
        elapsed.max(rest)
    }

    /// The line through points `from..`.
    pub fn line_from(&self, from: usize) -> LineFit {
        LineFit::over(&self.x[from..], &self.y[from..], self.noise.floor)
    }

    /// The line through a stretch.
    pub fn line(&self, range: std::ops::Range<usize>) -> LineFit {
        LineFit::over(&self.x[range.clone()], &self.y[range], self.noise.floor)
    }

    /// Mean growth per x over the points before `index`, from the first to there.
    pub fn rate_before(&self, index: usize) -> f64 {
        if index == 0 {
            return 0.0;
        }
        let width = self.x[index] - self.begin();
        let few = index.min(3);
        let first = self.y[..few].iter().copied().fold(f64::INFINITY, f64::min);
        let here = median(&mut self.y[index..(index + 3).min(self.len())].to_vec());
        if width > 0.0 {
            (here - first) / width
        } else {
            0.0
        }
    }
}

/// Growth, or a difference, below this is immaterial at this level.
pub fn material(level: f64, quantity: Quantity) -> f64 {
    let share = MATERIAL_SHARE * level;
    match quantity {
        Quantity::Memory | Quantity::SharedMemory => {
            let of_small = (MATERIAL_SHARE_OF_SMALL * level).max(MATERIAL_BYTES_OF_SMALL);
            share.max(MATERIAL_BYTES.min(of_small))
        }
        Quantity::Count => share.max(MATERIAL_COUNT),
    }
}

fn scaled_moments(x: &[f64], y: &[f64]) -> (Moments, f64) {
    let (first, width) = (x[0], (x[x.len() - 1] - x[0]).max(f64::MIN_POSITIVE));
    let low = y.iter().copied().fold(f64::INFINITY, f64::min);
    let high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = 0.5 * (low + high);
    let unit = if high > low { high - low } else { 1.0 };
    let u: Vec<f64> = x.iter().map(|x| (x - first) / width).collect();
    let v: Vec<f64> = y.iter().map(|y| (y - middle) / unit).collect();
    (Moments::new(&u, &v), unit)
}

/// Noise as the residuals of the stretches show it, where that is more than second differences saw:
/// slow noise hides from those.
fn refined(noise: Noise, segments: &Segments, x: &[f64], y: &[f64]) -> Noise {
    let mut residuals = Vec::with_capacity(x.len());
    for range in segments.ranges().filter(|range| range.len() >= 8) {
        let line = LineFit::over(&x[range.clone()], &y[range.clone()], 0.0);
        residuals.extend(range.map(|i| y[i] - line.at(x[i])));
    }
    if residuals.len() < 16 {
        return noise;
    }
    let sigma = crate::stats::mad(&mut residuals.clone(), 0.0);
    let limit = 3.0 * sigma;
    let tamed: Vec<f64> = residuals.iter().map(|r| r.clamp(-limit, limit)).collect();
    let rho = crate::stats::lag_one(&tamed).clamp(0.0, 0.97);
    if sigma <= noise.sigma {
        return noise;
    }
    Noise {
        sigma,
        rho: rho.max(noise.rho),
        ..noise
    }
}
