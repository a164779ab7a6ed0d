//! A series of any length in bounded memory: O(1) for a new point, the further back the coarser.
//!
//! [`Curve`] takes points as they come and makes one of those that share an x, drops what is not a
//! number, and replaces an isolated wild value. [`View`] is what the statistics see of it.

mod cascade;

pub use cascade::Bucket;

use crate::stats::median;
use cascade::Cascade;

/// A series, summarised.
#[derive(Debug, Clone)]
pub struct Curve {
    /// The values at the newest x, which may still get company.
    newest: Vec<f64>,
    newest_x: f64,
    /// How many values the newest x had, also those that were not kept.
    newest_seen: u64,
    /// Finished points that the wild-value check still needs: at most two.
    recent: Vec<(f64, f64)>,
    /// The last steps between neighbours, in absolute terms, for what is usual.
    steps: [f64; USUAL_STEPS],
    steps_seen: usize,
    past: Cascade,
    /// Whether the newest x is part of the view.
    newest_is_finished: bool,
    points: u64,
    first: Option<(f64, f64)>,
    peak: f64,
}

/// A curve as at most a few hundred points of about equal weight.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// Mean x of each.
    pub x: Vec<f64>,
    /// Mean y.
    pub y: Vec<f64>,
    /// Lowest y.
    pub low: Vec<f64>,
    /// Highest y.
    pub high: Vec<f64>,
    /// Points of the curve behind each.
    pub weight: u64,
    /// Where the first of them begins, which is before its mean.
    pub begin: f64,
}

/// Values at one x that are kept for their median; more are folded in by replacing older ones.
const VALUES_AT_ONE_X: usize = 31;

/// Steps between neighbours that show what is usual.
const USUAL_STEPS: usize = 31;

/// A value further than this many usual steps from both neighbours is wild.
const WILD_STEPS: f64 = 8.0;

/// And further than this share of them.
const WILD_SHARE: f64 = 0.02;

/// Buckets in a level of a curve: enough for the shape of what is judged most often, few enough for a
/// verdict in a fraction of a millisecond.
const FINE: usize = 128;

/// The same for the dozens of series beside the run's memory: judging takes time with the square of
/// the points, and only the course of these matters.
const COARSE: usize = 48;

impl Default for Curve {
    fn default() -> Curve {
        Curve::of_width(FINE, false)
    }
}

impl Curve {
    /// A curve for a caller who holds the newest point back itself: all of it is judged.
    pub fn of_finished() -> Curve {
        Curve::of_width(FINE, true)
    }

    /// The same with less detail.
    pub fn of_finished_coarse() -> Curve {
        Curve::of_width(COARSE, true)
    }

    fn of_width(width: usize, newest_is_finished: bool) -> Curve {
        Curve {
            newest_is_finished,
            newest: Vec::new(),
            newest_x: f64::NEG_INFINITY,
            newest_seen: 0,
            recent: Vec::with_capacity(3),
            steps: [0.0; USUAL_STEPS],
            steps_seen: 0,
            past: Cascade::of_width(width),
            points: 0,
            first: None,
            peak: f64::NEG_INFINITY,
        }
    }

    /// Takes the next point. One that does not come after the last in x belongs to the same x; one
    /// that is not a number is left out.
    pub fn push(&mut self, x: f64, y: f64) {
        if !x.is_finite() || !y.is_finite() {
            return;
        }
        self.points += 1;
        if x > self.newest_x {
            self.finish_newest();
            self.newest_x = x;
        }
        self.keep_at_newest(y);
    }

    /// How many points were taken.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// The newest x, whose values are not judged yet.
    pub fn newest_x(&self) -> Option<f64> {
        (!self.newest.is_empty()).then_some(self.newest_x)
    }

    /// The newest value.
    pub fn newest_y(&self) -> Option<f64> {
        (!self.newest.is_empty()).then(|| median(&mut self.newest.clone()))
    }

    /// The first point, and the highest finished value.
    pub fn first_and_peak(&self) -> Option<((f64, f64), f64)> {
        self.first.map(|first| (first, self.peak))
    }

    /// The value that the curve had at `x`, between the points that are still known; `None` outside
    /// of them.
    pub fn value_at(&self, x: f64) -> Option<f64> {
        let newest = (self.newest_x, self.newest_y()?);
        let mut before = self.first.unwrap_or(newest);
        if x < before.0 {
            return None;
        }
        let finished = self.past.buckets().map(|bucket| (bucket.x, bucket.y));
        for point in finished.chain(self.recent.iter().copied()).chain([newest]) {
            if point.0 >= x {
                return Some(between(before, point, x));
            }
            before = point;
        }
        None
    }

    /// All finished points, which the newest x is not (but for [`Curve::of_finished`]): it never
    /// changes a verdict, because a run that shuts down gives memory back.
    pub fn view(&self) -> View {
        let points = self.past.buckets().chain(self.finished());
        let mut view = View::of(points, self.past.coarsest());
        view.begin = self.first.map_or(view.begin, |first| first.0);
        view
    }

    /// The newest points only, as finely as they are known: about one in `fraction` of them all.
    pub fn recent_view(&self, fraction: u64) -> View {
        let wanted = self.past.points() / fraction.max(1);
        let (skip, coarsest) = self.past.newest(wanted);
        View::of(
            self.past.buckets().skip(skip).chain(self.finished()),
            coarsest,
        )
    }

    fn keep_at_newest(&mut self, y: f64) {
        if self.newest.len() < VALUES_AT_ONE_X {
            self.newest.push(y);
        } else {
            self.newest[(self.newest_seen % VALUES_AT_ONE_X as u64) as usize] = y;
        }
        self.newest_seen += 1;
    }

    fn finish_newest(&mut self) {
        if self.newest.is_empty() {
            return;
        }
        let y = match self.newest[..] {
            [only] => only,
            _ => median(&mut self.newest),
        };
        let point = (self.newest_x, y);
        self.newest.clear();
        self.newest_seen = 0;
        self.first.get_or_insert(point);
        if let Some(&(_, before)) = self.recent.last() {
            self.steps[self.steps_seen % USUAL_STEPS] = (point.1 - before).abs();
            self.steps_seen += 1;
        }
        self.recent.push(point);
        if self.recent.len() == 3 {
            self.tame_middle();
            let oldest = self.recent.remove(0);
            self.peak = self.peak.max(oldest.1);
            self.past.push(Bucket::point(oldest));
        }
    }

    /// Replaces a value that is far from both neighbours, on the same side of both, by the nearer
    /// of them.
    fn tame_middle(&mut self) {
        let [left, middle, right] = [self.recent[0].1, self.recent[1].1, self.recent[2].1];
        let (to_left, to_right) = (middle - left, middle - right);
        if to_left * to_right <= 0.0 {
            return;
        }
        let distance = to_left.abs().min(to_right.abs());
        let share = WILD_SHARE * left.abs().max(right.abs());
        if distance > share && distance > WILD_STEPS * self.usual_step() {
            self.recent[1].1 = median(&mut [left, middle, right]);
        }
    }

    fn usual_step(&self) -> f64 {
        let seen = self.steps_seen.min(USUAL_STEPS);
        median(&mut self.steps[..seen].to_vec())
    }

    /// Finished points that are not in the past yet.
    fn finished(&self) -> impl Iterator<Item = Bucket> + '_ {
        let newest = self.newest_y().filter(|_| self.newest_is_finished);
        let newest = newest.map(|y| (self.newest_x, y));
        self.recent.iter().copied().chain(newest).map(Bucket::point)
    }
}

impl View {
    /// Joins buckets until each stands for as many points as the coarsest does.
    fn of(buckets: impl Iterator<Item = Bucket>, weight: u64) -> View {
        let mut view = View {
            weight,
            ..View::default()
        };
        let mut open: Option<Bucket> = None;
        for bucket in buckets {
            let joined = match open {
                Some(open) => open.joined(bucket),
                None => bucket,
            };
            if joined.points >= weight {
                view.push(joined);
                open = None;
            } else {
                open = Some(joined);
            }
        }
        view.begin = view.x.first().copied().unwrap_or(0.0);
        // A last one that is mostly empty would be noisier than the others, but newer.
        if let Some(open) = open.filter(|open| 4 * open.points >= weight) {
            view.push(open);
        }
        view
    }

    /// The part from the point `from` on.
    pub fn since(&self, from: usize) -> View {
        View {
            x: self.x[from..].to_vec(),
            y: self.y[from..].to_vec(),
            low: self.low[from..].to_vec(),
            high: self.high[from..].to_vec(),
            weight: self.weight,
            begin: self.x[from],
        }
    }

    /// How many points it has.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    fn push(&mut self, bucket: Bucket) {
        self.x.push(bucket.x);
        self.y.push(bucket.y);
        self.low.push(bucket.low);
        self.high.push(bucket.high);
    }
}

fn between(before: (f64, f64), after: (f64, f64), x: f64) -> f64 {
    let width = after.0 - before.0;
    let share = if width > 0.0 {
        (x - before.0) / width
    } else {
        1.0
    };
    before.1 + (after.1 - before.1) * share
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        let mut curve = Curve::default();
        for (x, y) in points {
            curve.push(x, y);
        }
        curve
    }

    #[test]
    fn several_values_at_one_x_become_their_median() {
        let curve = curve([(1.0, 5.0), (1.0, 7.0), (1.0, 6.0), (2.0, 0.0), (3.0, 0.0)]);
        assert_eq!(curve.view().y, [6.0, 0.0]);
    }

    #[test]
    fn the_newest_point_is_not_in_the_view() {
        let curve = curve([(1.0, 10.0), (2.0, 10.0), (3.0, 2.0)]);
        assert_eq!(curve.view().y, [10.0, 10.0]);
        assert_eq!(curve.newest_y(), Some(2.0));
    }

    #[test]
    fn an_isolated_wild_value_is_replaced_and_a_jump_is_not() {
        let wild = curve((0..9).map(|i| (f64::from(i), if i == 4 { 900.0 } else { 100.0 })));
        assert!(wild.view().y.iter().all(|&y| y == 100.0));
        let jump = curve((0..9).map(|i| (f64::from(i), if i > 4 { 900.0 } else { 100.0 })));
        assert_eq!(jump.view().y[5], 900.0);
    }

    #[test]
    fn what_is_not_a_number_or_goes_back_is_no_new_point() {
        let curve = curve([
            (1.0, 1.0),
            (f64::NAN, 2.0),
            (2.0, f64::INFINITY),
            (0.5, 3.0),
        ]);
        assert_eq!(curve.points(), 2);
        assert_eq!(curve.newest_x(), Some(1.0));
    }

    #[test]
    fn a_long_series_keeps_its_shape_in_few_points() {
        let curve = curve((0..1_000_000).map(|i| (f64::from(i), 2.0 * f64::from(i))));
        let view = curve.view();
        assert!((40..400).contains(&view.len()), "{}", view.len());
        for (x, y) in view.x.iter().zip(&view.y) {
            assert!((y - 2.0 * x).abs() < 1e-6);
        }
        let value = curve.value_at(123_456.0).unwrap();
        assert!((value - 246_912.0).abs() < 1e-6, "{value}");
        let recent = curve.recent_view(16);
        assert!((40..400).contains(&recent.len()), "{}", recent.len());
        assert!(recent.x[0] > 900_000.0);
    }
}
