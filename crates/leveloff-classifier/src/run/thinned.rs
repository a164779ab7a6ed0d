//! A series in at most a hundred or so points of equal weight.
//!
//! The run's memory has a [`Curve`] of its own. Of the dozens of series beside it only the course
//! matters, and judging takes time with the square of the points.

use crate::curve::Curve;

/// Means over equally many places in x; neighbours are put together when there are too many.
#[derive(Debug, Clone)]
pub(super) struct Thinned {
    kept: Vec<(f64, f64)>,
    /// Places in x behind each kept point.
    size: u64,
    open: Open,
}

#[derive(Debug, Clone, Copy, Default)]
struct Open {
    places: u64,
    newest_x: f64,
    points: f64,
    x: f64,
    y: f64,
}

impl Default for Thinned {
    fn default() -> Thinned {
        Thinned {
            kept: Vec::new(),
            size: 1,
            open: Open::default(),
        }
    }
}

impl Thinned {
    /// Points that are kept: enough for a straight line, a bend and a plateau behind it.
    const KEPT: usize = 128;

    /// Takes the next point; one that does not come after the last in x belongs to the same place.
    pub(super) fn push(&mut self, x: f64, y: f64) {
        if !x.is_finite() || !y.is_finite() {
            return;
        }
        if self.open.places > 0 && x > self.open.newest_x && self.open.places == self.size {
            self.keep(self.open.mean());
            self.open = Open::default();
        }
        self.open.add(x, y);
    }

    /// The same as a curve. Its newest point, which is never judged, is the one that is not full.
    pub(super) fn curve(&self) -> Curve {
        let mut curve = Curve::default();
        for &(x, y) in self.kept.iter().chain(self.newest().iter()) {
            curve.push(x, y);
        }
        curve
    }

    /// Its value at an x between its first and its newest point.
    pub(super) fn value_at(&self, x: f64) -> Option<f64> {
        let after = self.kept.partition_point(|point| point.0 < x);
        let newest = self.newest();
        let right = self.kept.get(after).or(newest.as_ref())?;
        let left = after
            .checked_sub(1)
            .and_then(|before| self.kept.get(before));
        match left {
            _ if right.0 < x => None,
            Some(left) if right.0 > left.0 => {
                let share = (x - left.0) / (right.0 - left.0);
                Some(left.1 + (right.1 - left.1) * share)
            }
            _ => Some(right.1),
        }
    }

    fn newest(&self) -> Option<(f64, f64)> {
        (self.open.places > 0).then(|| self.open.mean())
    }

    fn keep(&mut self, point: (f64, f64)) {
        if self.kept.len() == Thinned::KEPT {
            let middle = |pair: &[(f64, f64)]| {
                let count = pair.len() as f64;
                let x = pair.iter().map(|point| point.0).sum::<f64>() / count;
                (x, pair.iter().map(|point| point.1).sum::<f64>() / count)
            };
            self.kept = self.kept.chunks(2).map(middle).collect();
            self.size *= 2;
        }
        self.kept.push(point);
    }
}

impl Open {
    fn add(&mut self, x: f64, y: f64) {
        if self.places == 0 || x > self.newest_x {
            self.places += 1;
            self.newest_x = x;
        }
        self.points += 1.0;
        self.x += self.newest_x;
        self.y += y;
    }

    fn mean(&self) -> (f64, f64) {
        (self.x / self.points, self.y / self.points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinned(points: impl IntoIterator<Item = (f64, f64)>) -> Thinned {
        let mut thinned = Thinned::default();
        for (x, y) in points {
            thinned.push(x, y);
        }
        thinned
    }

    #[test]
    fn a_long_line_stays_a_line_in_few_points() {
        let line = thinned((0..1_000_000).map(|i| (f64::from(i), 3.0 * f64::from(i))));
        assert!((64..=128).contains(&line.kept.len()), "{}", line.kept.len());
        for x in [20_000.0, 123_456.0, 990_000.0] {
            let y = line.value_at(x).unwrap();
            assert!((y - 3.0 * x).abs() < 1e-3, "{x}: {y}");
        }
        let view = line.curve().view();
        assert!(view.x.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_short_series_is_as_it_was() {
        let series = thinned([(1.0, 10.0), (2.0, 20.0), (2.0, 40.0), (4.0, 50.0)]);
        assert_eq!(series.value_at(1.0), Some(10.0));
        assert_eq!(series.value_at(2.0), Some(30.0));
        assert_eq!(series.value_at(3.0), Some(40.0));
        assert_eq!(series.value_at(4.0), Some(50.0));
        assert_eq!(series.value_at(5.0), None);
        assert_eq!(Thinned::default().value_at(1.0), None);
    }

    #[test]
    fn what_goes_back_or_is_no_number_is_no_new_place() {
        let series = thinned([(1.0, 10.0), (0.5, 20.0), (f64::NAN, 5.0), (2.0, 40.0)]);
        assert_eq!(series.value_at(1.0), Some(15.0));
        assert_eq!(series.curve().points(), 2);
    }
}
