//! Has it been flat, since when, and for long enough?

use crate::stats::{LineFit, median};

use super::scene::Scene;

/// A flat stretch up to the newest point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// Index of its first point.
    pub from: usize,
    /// x there.
    pub since: f64,
    /// The line through it.
    pub line: LineFit,
    /// Whether it is long enough to be believed.
    pub settled: bool,
    /// How long it has to be.
    pub needed: f64,
}

/// The fewest points that can be flat.
const FEWEST: usize = 4;

/// After growth, what moves by less than this share of it is flat: of a few points the noise is not
/// known, but how far growth would have carried them is.
const BAND_OF_GROWTH: f64 = 0.06;

/// After growth, it must last this share of the time before.
const SHARE_OF_BEFORE: f64 = 0.2;

/// Or this, when the slope has collapsed to less than a quarter.
const SHARE_AFTER_COLLAPSE: f64 = 0.1;

/// Growth inside the plateau is looked ahead for this share of the horizon.
const HORIZON_SHARE: f64 = 0.5;

/// Once it has stood still and gone on again twice, it must stand still for this much longer.
const LONGER_THAN_BEFORE: f64 = 1.5;

/// After growth, the flat part must be known to grow at less than this share of the rate before.
const KNOWN_SLOWER: f64 = 0.5;

impl Plateau {
    /// The longest flat stretch that is long enough to be believed, else the longest one.
    pub fn of(scene: &Scene<'_>) -> Option<Plateau> {
        let usual = scene.material.max(4.0 * scene.noise.sigma);
        let mut longest = None;
        for from in starts(scene) {
            let grew = scene.rate_before(from) * (scene.x[from] - scene.begin());
            let band = usual.max(BAND_OF_GROWTH * grew);
            if !is_flat(scene, from, band) {
                continue;
            }
            let plateau = Plateau::from(scene, from, band);
            if plateau.settled {
                return Some(plateau);
            }
            longest.get_or_insert(plateau);
        }
        longest
    }

    fn from(scene: &Scene<'_>, from: usize, band: f64) -> Plateau {
        let line = tamed_line(scene, from, band);
        let since = if from == 0 {
            scene.begin()
        } else {
            scene.x[from]
        };
        let length = scene.end() - since;
        let before = since - scene.begin();
        let earlier = scene.rate_before(from);
        let grew = from > 0 && earlier * before > 0.5 * scene.material;
        let reach = 2.0 * line.slope_error;
        let collapsed = line.slope + reach < 0.25 * earlier;
        let share = if collapsed {
            SHARE_AFTER_COLLAPSE
        } else {
            SHARE_OF_BEFORE
        };
        let needed = if from > 0 { share * before } else { 0.0 };
        let needed = needed.max(LONGER_THAN_BEFORE * stood_still(scene, from));
        let slower = !grew || line.slope + reach <= KNOWN_SLOWER * earlier;
        let significant = line.slope - 2.0 * line.slope_error > 0.0;
        let grows = significant
            && line.slope * length.max(HORIZON_SHARE * scene.horizon()) > scene.material;
        let tight = (line.slope.abs() + reach) * length <= 2.0 * band;
        Plateau {
            from,
            since,
            line,
            settled: slower && !grows && tight && length >= needed,
            needed,
        }
    }
}

/// For how long it stood still before `until` and went up after all, at least twice: an allocator
/// takes memory in chunks, and evaluations come at intervals.
fn stood_still(scene: &Scene<'_>, until: usize) -> f64 {
    let still = (0.6 * scene.material).max(3.0 * scene.noise.sigma);
    let (mut stands, mut from) = (Vec::new(), 0);
    while from + 1 < until {
        let level = scene.y[from];
        let to = (from + 1..until)
            .find(|&i| (scene.y[i] - level).abs() > still)
            .unwrap_or(until);
        let lowest_later = scene.y[to..].iter().copied().fold(f64::INFINITY, f64::min);
        // The first stretch is where it comes from, and counts for nothing.
        if from > 0 && to - from >= FEWEST && lowest_later > level {
            stands.push(scene.x[to - 1] - scene.x[from]);
        }
        from = to;
    }
    stands.sort_unstable_by(f64::total_cmp);
    // One long stand may be a plateau between two warmups.
    stands.iter().rev().nth(1).copied().unwrap_or(0.0)
}

/// Where a plateau may have begun: at a change of course, or at one of some thirty places in
/// between, oldest first.
fn starts(scene: &Scene<'_>) -> Vec<usize> {
    let points = scene.len();
    let grid = (0..points).step_by((points / 32).max(1));
    let mut starts: Vec<usize> = scene
        .segments
        .starts()
        .iter()
        .copied()
        .chain(grid)
        .collect();
    starts.retain(|start| start + FEWEST <= points);
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// The line through points `from..`, with spikes cut down to the edge of the band around the median.
fn tamed_line(scene: &Scene<'_>, from: usize, band: f64) -> LineFit {
    let y = &scene.y[from..];
    let middle = median(&mut y.to_vec());
    let tamed: Vec<f64> = y
        .iter()
        .map(|y| y.clamp(middle - band, middle + band))
        .collect();
    LineFit::over(&scene.x[from..], &tamed, scene.noise.floor)
}

fn is_flat(scene: &Scene<'_>, from: usize, band: f64) -> bool {
    let y = &scene.y[from..];
    let n = y.len();
    let third = n.div_ceil(3);
    let (older, newer) = (
        median(&mut y[..third].to_vec()),
        median(&mut y[n - third..].to_vec()),
    );
    if (newer - older).abs() > 0.67 * band {
        return false;
    }
    let middle = median(&mut y.to_vec());
    let outside = |y: &f64| (y - middle).abs() > band;
    // Spikes that return are no movement; but it must begin and end inside the band.
    let begins = y[..3].iter().filter(|y| outside(y)).count() <= 1 && !outside(&y[0]);
    let ends = !y[n - 3..].iter().all(outside);
    if !begins || !ends || 4 * y.iter().filter(|y| outside(y)).count() > n {
        return false;
    }
    let line = tamed_line(scene, from, band);
    line.slope.abs() * (scene.end() - scene.x[from]) <= band
}
