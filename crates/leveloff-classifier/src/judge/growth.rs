//! Is it still growing, since when, and is that material?
//!
//! Shares and multiples that name no other source were chosen on simulated runs; docs/METHOD.md says
//! on which, and how they did on others.

mod bend;
pub mod first_epoch;

use crate::stats::{Curvature, LineFit};
use crate::units::{AmountPerX, X};
use crate::verdict::Rate;

use super::prepared_curve::PreparedCurve;
use super::prior::Before;

/// Growth up to the newest point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Index of its first point.
    pub from: usize,
    /// x there.
    pub onset: f64,
    /// How long it has gone on, also before it was first seen.
    pub age: f64,
    /// How long it has been seen to go on.
    pub seen: f64,
    /// How many points of the curve it has.
    pub points: f64,
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
    /// The age at which it is a leak, at least a suspected one.
    pub decision_age: f64,
    /// The age from which on it is more than suspected.
    pub early_age: f64,
}

/// Fewer points are no course.
pub const FEWEST: usize = 5;

/// Chance that the interval of a rate misses it at any look.
pub const ALPHA: f64 = 0.05;

/// Even the lower end of the rate must lead to this share of what is material: an interval that
/// only just leaves zero out says that it grows, and not that it matters.
const MATERIAL_AT_LEAST: f64 = 0.3;

/// This share of what is material must have grown already: the rest is looked ahead for.
const GROWN_ALREADY: f64 = 0.5;

/// And so many standard deviations of the residuals, or all that it grew may be one of its swings.
const GROWN_RESIDUALS: f64 = 3.0;

/// A rise is certain when the newest third of the points is above the oldest by this share of what is
/// material: less may be one quantum of the allocator.
const CERTAIN_RISE: f64 = 0.5;

/// What came before was faster when its rate was this many times the rate now.
const FASTER_BEFORE: f64 = 1.12;

/// After faster growth it must have gone on for this share of all the time: a younger one may be the
/// slow end of a warmup.
const SHARE_AFTER_SLOWING: f64 = 0.5;

/// A run of which neither the plan nor the epoch is known is suspected until this many times the age of a leak.
const UNKNOWN_PLAN: f64 = 3.0;

/// Where the plan is known, a buffer of a fixed size may fill for this share of it.
const BUFFER_OF_PLAN: f64 = 0.25;

/// But for no longer than this many times the age of a leak.
const LONGEST_BUFFER: f64 = 2.0;

/// A cache of the data set is at most so many times as large as what the run held before.
const LARGEST_CACHE: f64 = 2.5;

/// Residuals above this share of the growth are no straight line.
const MISFIT: f64 = 0.08;

/// Together with so many standard deviations of the noise, which any line leaves over.
const MISFIT_SIGMAS: f64 = 2.0;

/// The newest part is so many percent of the points.
const TAIL_PERCENT: usize = 30;

/// What came before is looked at for this share of the growth's age.
const LOOK_BACK: f64 = 0.5;

/// Fewer points before are no plateau: the shortest stretch has as many.
const FEWEST_BEFORE: usize = 4;

/// A plateau before is at least this share of the growth's age, or it was a pause.
const PLATEAU_BEFORE: f64 = 0.1;

/// It is one if its slope, up or down, was below this share of the slope now.
const FLAT_BEFORE: f64 = 0.4;

impl Growth {
    /// Growth since the point `from`.
    pub fn since(prepared: &PreparedCurve<'_>, from: usize) -> Growth {
        let line = prepared.line_from(from);
        let reach = line.slope_reach(ALPHA);
        let onset = prepared.begins_at(from);
        let age = prepared.age_since(from);
        let earlier = prepared.rate_before(from);
        let lead = onset - prepared.begin();
        let before = before(prepared, from, age, line.slope);
        let grew = before == Before::Warmup && earlier * lead > prepared.material;
        let decision_age = first_epoch::decided_after(prepared, age, before);
        let grown = line.slope * (prepared.end() - onset);
        let is_large = grown > LARGEST_CACHE * line.at(onset).max(0.0);
        let early_age = early_age(prepared, before, is_large, decision_age);
        Growth {
            from,
            onset,
            age,
            seen: prepared.end() - onset,
            points: prepared.points_since(from),
            line,
            rate: Rate::around(line.slope, reach),
            curvature: Curvature::over(
                &prepared.x[from..],
                &prepared.y[from..],
                prepared.noise.floor,
            ),
            tail: prepared.line_from(tail_of(prepared, from)),
            before,
            slowed: grew && earlier > FASTER_BEFORE * line.slope,
            decision_age,
            early_age,
        }
    }

    /// Whether it grows at all, by an amount that is material.
    pub fn is_material(&self, prepared: &PreparedCurve<'_>) -> bool {
        let horizon = prepared.horizon();
        let (slope, low) = (self.rate.value.0, self.rate.low.0);
        let grown = (GROWN_ALREADY * prepared.material).max(GROWN_RESIDUALS * self.line.residual);
        low > 0.0
            && slope * horizon >= prepared.material
            && low * horizon >= MATERIAL_AT_LEAST * prepared.material
            && slope * self.seen > grown
    }

    /// The same with a rate that is known to be higher where no point of the newest third is as low
    /// as any of the oldest. Growth in a few irregular chunks is certain by that long before a line
    /// through it is, whose residuals look like slow noise.
    pub fn with_certain_rise(mut self, prepared: &PreparedCurve<'_>) -> Growth {
        let (x, y) = (&prepared.x[self.from..], &prepared.y[self.from..]);
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
        if rise > CERTAIN_RISE * prepared.material {
            let certain = rise / (x[x.len() - 1] - x[0]);
            self.rate.low = AmountPerX(self.rate.low.0.max(certain));
        }
        self
    }

    /// The same in lasting jumps: a cache of the data set grows evenly, so it explains no jumps.
    pub fn in_jumps(mut self) -> Growth {
        self.early_age = self.decision_age;
        self
    }

    /// Whether it is old enough for a leak.
    pub fn is_old(&self, prepared: &PreparedCurve<'_>) -> bool {
        let all = prepared.end() - prepared.begin();
        let enough = !self.slowed || self.age >= SHARE_AFTER_SLOWING * all;
        self.age >= self.decision_age && enough && !self.in_first_epoch(prepared)
    }

    /// Whether the line is what the points follow, and not a mean course between jumps or bends.
    pub fn fits(&self, prepared: &PreparedCurve<'_>) -> bool {
        self.line.residual < (MISFIT_SIGMAS * prepared.noise.sigma).hypot(MISFIT * self.grown())
    }

    /// By how much it grew while it was seen, as its line has it.
    pub fn grown(&self) -> f64 {
        self.line.slope * self.seen
    }
}

/// The age from which on growth is more than suspected. Where no epoch is known, nothing rules out a cache of the data set or a
/// buffer that fills, as long as it is no larger than such caches are.
fn early_age(
    prepared: &PreparedCurve<'_>,
    before: Before,
    is_large: bool,
    decision_age: f64,
) -> f64 {
    if before == Before::Plateau || is_large || !prepared.may_be_buffer() {
        return decision_age;
    }
    match prepared.facts.planned {
        None => UNKNOWN_PLAN * decision_age,
        Some(X(planned)) => {
            (BUFFER_OF_PLAN * planned).clamp(decision_age, LONGEST_BUFFER * decision_age)
        }
    }
}

/// Where the newest part begins, of which a line needs a few points.
fn tail_of(prepared: &PreparedCurve<'_>, from: usize) -> usize {
    let points = prepared.len() - from;
    let tail = (points * TAIL_PERCENT / 100).max(FEWEST).min(points);
    prepared.len() - tail
}

/// What came just before: a plateau, or something that moved.
fn before(prepared: &PreparedCurve<'_>, from: usize, age: f64, slope: f64) -> Before {
    let here = prepared.x[from];
    let stretch = prepared.x.partition_point(|&x| x < here - LOOK_BACK * age);
    let last = prepared.segments.ranges().rfind(|range| range.end <= from);
    let stretch = stretch.max(last.map_or(from, |range| range.start));
    if from - stretch < FEWEST_BEFORE || here - prepared.x[stretch] < PLATEAU_BEFORE * age {
        return Before::Warmup;
    }
    if prepared.line(stretch..from).slope.abs() < FLAT_BEFORE * slope {
        Before::Plateau
    } else {
        Before::Warmup
    }
}
