//! All the growth that may be going on, one for each place where it may have begun.

use super::growth::{FEWEST, Growth};
use super::prepared_curve::PreparedCurve;

/// Growth since each place where it may have begun, the longest first. Every question about growth
/// chooses among the same ones, so they are worked out once.
#[derive(Debug, Clone)]
pub struct GrowthCandidates<'a> {
    prepared: &'a PreparedCurve<'a>,
    all: Vec<Growth>,
}

/// Growth may also have begun this many percent of the way from the last change of course to now.
const LATER_STARTS: [usize; 3] = [15, 30, 45];

/// Such a start leaves so many points: twice what a course needs, because no corner speaks for it.
const FEWEST_LATER: usize = 2 * FEWEST;

/// Growth is looked at from this much behind the stated horizon.
const HORIZON_SLACK: f64 = 1.1;

/// A tooth is as high as another within this share of its rise.
const NEAR_THE_TOP: f64 = 0.2;

/// Fewer points than this share are a spike, such as an evaluation's, and no tooth.
const NO_SPIKE: f64 = 0.05;

/// The longest stretch is taken among those whose residuals are at most this many times the smallest.
const FITS_AS_WELL: f64 = 1.5;

/// Or at most this share of the growth.
const FITS_WELL: f64 = 0.015;

impl<'a> GrowthCandidates<'a> {
    /// Of a curve of at least five points.
    pub fn of(prepared: &'a PreparedCurve<'a>) -> GrowthCandidates<'a> {
        let all = starts(prepared).map(|from| Growth::since(prepared, from));
        GrowthCandidates {
            prepared,
            all: all.collect(),
        }
    }

    /// Growth since the point `from`.
    pub fn since(&self, from: usize) -> Growth {
        let known = self.all.iter().find(|growth| growth.from == from);
        known.map_or_else(|| Growth::since(self.prepared, from), |growth| *growth)
    }

    /// Growth that is a leak, if there is any: the longest stretch first.
    pub fn leak(&self) -> Option<Growth> {
        let leaks: Vec<&Growth> = self.all.iter().filter(|it| self.is_leak(it)).collect();
        let residuals = leaks.iter().map(|growth| growth.line.residual);
        let best = residuals.fold(f64::INFINITY, f64::min);
        // A quiet beginning makes the line fit worse, and the rate too low.
        let fits_well = |growth: &Growth| {
            growth.line.residual <= (FITS_AS_WELL * best).max(FITS_WELL * growth.grown())
        };
        leaks.into_iter().find(|it| fits_well(it)).copied()
    }

    fn is_leak(&self, growth: &Growth) -> bool {
        growth.is_old(self.prepared)
            && growth.is_material(self.prepared)
            && growth.is_straight()
            && growth.fits(self.prepared)
    }

    /// All of them, the longest first.
    pub fn all(&self) -> &[Growth] {
        &self.all
    }

    /// Growth that goes on behind the stated horizon, if there is any. A stated horizon takes the
    /// place of the prior, so age does not matter; a little is left for a warmup that ends just
    /// there. It may stand still at times: this comes after the test for a plateau, which knows for how long it
    /// did so before.
    pub fn past_horizon(&self) -> Option<Growth> {
        let horizon = HORIZON_SLACK * self.prepared.facts.level_by?.0;
        let past = self.prepared.x.partition_point(|&x| x < horizon);
        let first = (past + FEWEST < self.prepared.len()).then(|| self.since(past));
        let later = self.all.iter().filter(|growth| growth.from > past);
        first
            .into_iter()
            .chain(later.copied())
            .map(|growth| growth.with_certain_rise(self.prepared))
            .find(|growth| {
                growth.is_material(self.prepared)
                    && !growth.bends_to_a_stop()
                    && !self.was_there_before(growth)
            })
    }

    /// Whether memory was as high before and came back: then this may be the next tooth of a saw. Spikes
    /// of single points do not count.
    pub fn was_there_before(&self, growth: &Growth) -> bool {
        let before = &self.prepared.y[..growth.from];
        let now = growth.line.at(self.prepared.end());
        let as_high = now - NEAR_THE_TOP * growth.grown().max(0.0);
        let high = before.iter().filter(|&&y| y >= as_high).count();
        high >= 2 && high as f64 >= NO_SPIKE * before.len() as f64
    }

    /// The growth that is going on: the longest stretch that is straight, else the last one.
    pub fn current(&self) -> Option<Growth> {
        let material = |growth: &&Growth| growth.is_material(self.prepared);
        let straight = |growth: &&Growth| material(growth) && !growth.bends() && !growth.slowed;
        let longest = self.all.iter().find(straight);
        longest
            .or_else(|| self.all.iter().rev().find(material))
            .copied()
    }
}

/// Where growth may have begun: at a change of course, or some time after the last of them, because
/// a warmup that fades out has no corner.
fn starts<'a>(prepared: &'a PreparedCurve<'_>) -> impl Iterator<Item = usize> + 'a {
    let points = prepared.len();
    let courses = prepared.segments.starts();
    let last = courses.last().copied().unwrap_or(0);
    let later = LATER_STARTS.map(|percent| last + (points - last) * percent / 100);
    let later = later.into_iter();
    let later = later.filter(move |&start| start > last && points - start >= FEWEST_LATER);
    courses
        .iter()
        .copied()
        .filter(move |start| start + FEWEST <= points)
        .chain(later)
}
