//! Has it been flat, since when, and for long enough?
//!
//! Shares and multiples that name no other source were chosen on simulated runs; docs/METHOD.md says
//! on which, and how they did on others.

use crate::stats::{LineFit, median};

use super::prepared_curve::PreparedCurve;

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
    /// Whether it grew before, and is known to be slower now.
    pub stopped: bool,
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

/// What moves by less than so many standard deviations of the noise is flat: of a few hundred points
/// of normal noise hardly one is further out.
const BAND_SIGMAS: f64 = 4.0;

/// It grew before when it did by this share of what is material.
const GREW_BEFORE: f64 = 0.5;

/// And it surely did when it grew by so many standard deviations of the noise: both ends of a noisy series may differ by
/// as much.
const GREW_SIGMAS: f64 = 4.0;

/// The slope has collapsed when it is known to be below this share of the rate before.
const COLLAPSED: f64 = 0.25;

/// A slope is known at so many standard errors, which leave out one in forty at either end.
const STANDARD_ERRORS: f64 = 2.0;

/// As far as the slope is known, it must stay within so many bands over the plateau's length. Of few
/// points or slow noise not even that is known.
const TIGHT: f64 = 2.0;

/// It stood still for as long as it moved by less than this share of what is material.
const STILL_OF_MATERIAL: f64 = 0.6;

/// Or by less than so many standard deviations of the noise. Both are less than the band, which is
/// measured from the middle; this is measured from where it came to stand.
const STILL_SIGMAS: f64 = 3.0;

/// A plateau may begin at one of about so many places beside the changes of course: finer ones add
/// nothing, and each costs a line.
const PLACES: usize = 32;

/// The middle of the newest third may be this share of the band from that of the oldest. It is a
/// slope of a whole band over the length: the middles of the thirds are two thirds of it apart.
const THIRDS_APART: f64 = 0.67;

/// How many points its beginning and its end are.
const EDGE: usize = 3;

/// One point in so many may be outside the band: spikes that return are no movement.
const ONE_OUTSIDE_IN: usize = 4;

impl Plateau {
    /// The longest flat stretch that is long enough to be believed, else the longest one.
    pub fn of(prepared: &PreparedCurve<'_>) -> Option<Plateau> {
        let mut longest = None;
        for from in starts(prepared) {
            let stretch = Stretch::from(prepared, from);
            let Some(line) = stretch.flat_line(prepared) else {
                continue;
            };
            let plateau = stretch.plateau(prepared, line);
            if plateau.settled {
                return Some(plateau);
            }
            longest.get_or_insert(plateau);
        }
        longest
    }
}

/// A stretch up to the newest point, and what its flatness is measured by.
struct Stretch {
    from: usize,
    since: f64,
    /// For how long the curve went on before.
    before: f64,
    /// Growth per x in that time.
    earlier: f64,
    /// How far from its middle it may go.
    band: f64,
}

impl Stretch {
    fn from(prepared: &PreparedCurve<'_>, from: usize) -> Stretch {
        let since = prepared.begins_at(from);
        let before = since - prepared.begin();
        let earlier = prepared.rate_before(from);
        let usual = prepared.material.max(BAND_SIGMAS * prepared.noise.sigma);
        Stretch {
            from,
            since,
            before,
            earlier,
            band: usual.max(BAND_OF_GROWTH * (earlier * before)),
        }
    }

    /// The line through it if it is flat, with spikes cut down to the edge of the band.
    fn flat_line(&self, prepared: &PreparedCurve<'_>) -> Option<LineFit> {
        let y = &prepared.y[self.from..];
        let third = y.len().div_ceil(3);
        let older = median(&mut y[..third].to_vec());
        let newer = median(&mut y[y.len() - third..].to_vec());
        // What falls by less than the band does not grow.
        if newer - older > THIRDS_APART * self.band || older - newer > self.band {
            return None;
        }
        let middle = median(&mut y.to_vec());
        if !self.stays_around(middle, y) {
            return None;
        }
        let (low, high) = (middle - self.band, middle + self.band);
        let tamed: Vec<f64> = y.iter().map(|y| y.clamp(low, high)).collect();
        let line = LineFit::over(&prepared.x[self.from..], &tamed, prepared.noise.floor);
        let moves = line.slope.abs() * (prepared.end() - prepared.x[self.from]);
        (moves <= self.band).then_some(line)
    }

    /// Whether it stays inside the band around `middle`. Spikes that return are no movement; but it
    /// must begin and end inside.
    fn stays_around(&self, middle: f64, y: &[f64]) -> bool {
        let outside = |y: &f64| (y - middle).abs() > self.band;
        let begins = y[..EDGE].iter().filter(|y| outside(y)).count() <= 1 && !outside(&y[0]);
        let ends = !y[y.len() - EDGE..].iter().all(outside);
        begins && ends && ONE_OUTSIDE_IN * y.iter().filter(|y| outside(y)).count() <= y.len()
    }

    /// What to think of it, once it is flat.
    fn plateau(&self, prepared: &PreparedCurve<'_>, line: LineFit) -> Plateau {
        let length = prepared.end() - self.since;
        let grew = self.from > 0 && self.earlier * self.before > GREW_BEFORE * prepared.material;
        let grown = self.earlier * self.before;
        let reach = STANDARD_ERRORS * line.slope_error;
        let share = if line.slope + reach < COLLAPSED * self.earlier {
            SHARE_AFTER_COLLAPSE
        } else {
            SHARE_OF_BEFORE
        };
        let needed =
            (share * self.before).max(LONGER_THAN_BEFORE * stood_still(prepared, self.from));
        let slower = !grew || line.slope + reach <= KNOWN_SLOWER * self.earlier;
        let ahead = length.max(HORIZON_SHARE * prepared.horizon());
        let grows = line.slope > line.slope_margin() && line.slope * ahead > prepared.material;
        let tight = (line.slope.abs() + reach) * length <= TIGHT * self.band;
        Plateau {
            from: self.from,
            since: self.since,
            line,
            settled: slower && !grows && tight && length >= needed,
            needed,
            stopped: grew && slower && grown > GREW_SIGMAS * prepared.noise.sigma,
        }
    }
}

/// For how long it stood still before `until` and went up after all, at least twice: an allocator
/// takes memory in chunks, and evaluations come at intervals.
fn stood_still(prepared: &PreparedCurve<'_>, until: usize) -> f64 {
    let still = (STILL_OF_MATERIAL * prepared.material).max(STILL_SIGMAS * prepared.noise.sigma);
    let (mut stands, mut from) = (Vec::new(), 0);
    while from + 1 < until {
        let level = prepared.y[from];
        let to = (from + 1..until)
            .find(|&i| (prepared.y[i] - level).abs() > still)
            .unwrap_or(until);
        let lowest_later = prepared.y[to..]
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        // The first stretch is where it comes from, and counts for nothing.
        if from > 0 && to - from >= FEWEST && lowest_later > level {
            stands.push(prepared.x[to - 1] - prepared.x[from]);
        }
        from = to;
    }
    stands.sort_unstable_by(f64::total_cmp);
    // One long stand may be a plateau between two warmups.
    stands.iter().rev().nth(1).copied().unwrap_or(0.0)
}

/// Where a plateau may have begun: at a change of course, or at one of some places in
/// between, oldest first.
fn starts(prepared: &PreparedCurve<'_>) -> Vec<usize> {
    let points = prepared.len();
    let grid = (0..points).step_by((points / PLACES).max(1));
    let mut starts: Vec<usize> = prepared
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
