//! One series as it is kept between fetching and judging: twelve bytes a point.

use super::response::Sample;
use super::window::Window;

/// Values at places of a window, in order. A place without a value is a gap, and takes no room.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    places: Vec<u32>,
    values: Vec<f64>,
    /// Values that are none: NaN, infinite, negative.
    left_out: u32,
}

impl Series {
    /// Adds the samples of the next chunk.
    pub fn extend(&mut self, samples: &[Sample], window: &Window) {
        self.places.reserve(samples.len());
        self.values.reserve(samples.len());
        for Sample(time, value) in samples {
            self.push(window.place(*time), *value);
        }
    }

    /// Adds what another series of the same holds at places after our last.
    pub fn append(&mut self, later: &Series) {
        for (place, value) in later.iter() {
            self.push(Some(place), value);
        }
        self.left_out += later.left_out;
    }

    /// The sum of both, with a value wherever one of them has a value.
    #[must_use]
    pub fn plus(&self, other: &Series) -> Series {
        let mut sum = Series {
            left_out: self.left_out + other.left_out,
            ..Series::default()
        };
        let (mut ours, mut theirs) = (self.iter().peekable(), other.iter().peekable());
        loop {
            let (place, value) = match (ours.peek().copied(), theirs.peek().copied()) {
                (Some(a), Some(b)) if a.0 == b.0 => {
                    theirs.next();
                    ours.next();
                    (a.0, a.1 + b.1)
                }
                (Some(a), Some(b)) if a.0 > b.0 => theirs.next().unwrap_or(b),
                (Some(a), _) => ours.next().unwrap_or(a),
                (None, Some(b)) => theirs.next().unwrap_or(b),
                (None, None) => break,
            };
            sum.push(Some(place), value);
        }
        sum
    }

    /// Another value at each place, or none.
    #[must_use]
    pub fn mapped(&self, value: impl Fn(u32, f64) -> Option<f64>) -> Series {
        let mut mapped = Series::default();
        for (place, own) in self.iter() {
            if let Some(value) = value(place, own) {
                mapped.push(Some(place), value);
            }
        }
        mapped
    }

    /// Every value with its place.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.places.iter().copied().zip(self.values.iter().copied())
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The value at a place; `None` in a gap.
    pub fn at(&self, place: u32) -> Option<f64> {
        let found = self.places.binary_search(&place).ok()?;
        self.values.get(found).copied()
    }

    /// The first and the last place.
    pub fn ends(&self) -> Option<(u32, u32)> {
        Some((*self.places.first()?, *self.places.last()?))
    }

    /// Values that were none.
    pub fn left_out(&self) -> u32 {
        self.left_out
    }

    /// Only what is at these places of the list, from the first on, every so many.
    pub fn part(&self, from: usize, every: usize) -> Series {
        Series {
            places: self
                .places
                .iter()
                .skip(from)
                .step_by(every)
                .copied()
                .collect(),
            values: self
                .values
                .iter()
                .skip(from)
                .step_by(every)
                .copied()
                .collect(),
            left_out: self.left_out,
        }
    }

    fn push(&mut self, place: Option<u32>, value: f64) {
        let is_next = |place: u32| self.places.last().is_none_or(|last| place > *last);
        match place.filter(|place| is_next(*place)) {
            Some(place) if value.is_finite() && value >= 0.0 => {
                self.places.push(place);
                self.values.push(value);
            }
            Some(_) => self.left_out += 1,
            // A server that repeats itself, or sends times that were not requested.
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[(u32, f64)]) -> Series {
        let mut series = Series::default();
        for (place, value) in values {
            series.push(Some(*place), *value);
        }
        series
    }

    #[test]
    fn a_gap_is_a_gap_and_what_is_no_number_is_counted() {
        let gappy = series(&[(0, 1.0), (1, f64::NAN), (4, 5.0), (5, -1.0), (5, 6.0)]);
        assert_eq!(
            gappy.iter().collect::<Vec<_>>(),
            [(0, 1.0), (4, 5.0), (5, 6.0)]
        );
        assert_eq!(
            (gappy.left_out(), gappy.at(1), gappy.at(4)),
            (2, None, Some(5.0))
        );
    }

    #[test]
    fn a_sum_is_where_any_part_is() {
        let other = series(&[(1, 10.0), (2, 20.0), (7, 70.0)]);
        let sum = series(&[(0, 1.0), (2, 3.0)]).plus(&other);
        let expected = [(0, 1.0), (1, 10.0), (2, 23.0), (7, 70.0)];
        assert_eq!(sum.iter().collect::<Vec<_>>(), expected);
    }
}
