//! A series of any length in bounded memory that keeps every spike.
//!
//! A chart has a few hundred columns, a run a million samples. Neighbours are folded into spans that
//! keep their lowest and highest value; when there are too many spans, each two become one.

/// The lowest and the highest of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// A span that can be merged with the next one.
pub trait Fold: Copy {
    /// Merges the next span into this one.
    fn extend_by(&mut self, next: &Self);
}

/// Spans of equally many samples each, in their order.
#[derive(Debug, Clone)]
pub struct Folded<T> {
    spans: Vec<T>,
    /// The span that is not full yet, and how many samples it has.
    filling: Option<(u64, T)>,
    /// Samples in a full span.
    stride: u64,
    capacity: usize,
}

impl<T: Fold> Folded<T> {
    /// Nothing yet. There will never be more than `capacity` spans, and once there were so many,
    /// never fewer than half of it.
    pub fn with_capacity(capacity: usize) -> Folded<T> {
        Folded {
            spans: Vec::new(),
            filling: None,
            stride: 1,
            capacity: capacity.max(2),
        }
    }

    /// Takes the next sample.
    pub fn push(&mut self, sample: T) {
        // In place: a span may be a kilobyte.
        let samples = match &mut self.filling {
            Some((samples, filling)) => {
                filling.extend_by(&sample);
                *samples += 1;
                *samples
            }
            None => {
                self.filling = Some((1, sample));
                1
            }
        };
        if samples < self.stride {
            return;
        }
        self.spans
            .extend(self.filling.take().map(|(_, filled)| filled));
        if self.spans.len() >= self.capacity {
            self.halve();
        }
    }

    /// The spans, oldest first; the last may have fewer samples than the others.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let filling = self.filling.iter().map(|(_, span)| span);
        self.spans.iter().chain(filling)
    }

    /// Changes every span that is kept.
    pub fn change_each(&mut self, mut change: impl FnMut(&mut T)) {
        let filling = self.filling.iter_mut().map(|(_, span)| span);
        self.spans.iter_mut().chain(filling).for_each(&mut change);
    }

    /// How many samples a span stands for; 1 when nothing was folded.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    fn halve(&mut self) {
        let pairs = self.spans.chunks_exact(2);
        // An odd one out begins the span that is filled next, so that all others stay equal.
        let rest = pairs.remainder().first().copied();
        let halved = pairs.map(|pair| {
            let mut both = pair[0];
            both.extend_by(&pair[1]);
            both
        });
        let halved = halved.collect();
        self.filling = rest.map(|span| (self.stride, span));
        self.spans = halved;
        self.stride *= 2;
    }
}

impl Reach {
    /// One value.
    pub fn at(value: f64) -> Reach {
        Reach {
            low: value,
            high: value,
        }
    }

    /// As far as both reach.
    pub fn and(self, other: Reach) -> Reach {
        Reach {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// As far as both reach, where they are known.
    pub fn and_maybe(one: Option<Reach>, other: Option<Reach>) -> Option<Reach> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        }
    }

    /// Half-way between both ends.
    pub fn middle(self) -> f64 {
        self.low + (self.high - self.low) / 2.0
    }
}

impl Fold for Reach {
    fn extend_by(&mut self, next: &Reach) {
        *self = self.and(*next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(samples: u32, capacity: usize) -> Folded<Reach> {
        let mut folded = Folded::with_capacity(capacity);
        for i in 0..samples {
            folded.push(Reach::at(f64::from(i)));
        }
        folded
    }

    #[test]
    fn short_series_are_kept_one_by_one() {
        let folded = folded(7, 8);
        assert_eq!(folded.stride(), 1);
        let values: Vec<f64> = folded.iter().map(|span| span.low).collect();
        assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn nothing_is_lost_or_counted_twice_whatever_the_length() {
        for capacity in [2, 7, 8, 100] {
            for samples in [1_u32, 6, 7, 8, 9, 15, 16, 17, 999, 1000] {
                let folded = folded(samples, capacity);
                let spans: Vec<Reach> = folded.iter().copied().collect();
                assert!(spans.len() <= capacity, "{samples} in {capacity}");
                assert_eq!(spans[0].low, 0.0);
                assert_eq!(spans[spans.len() - 1].high, f64::from(samples - 1));
                let touch = |pair: &[Reach]| pair[0].high + 1.0 == pair[1].low;
                assert!(spans.windows(2).all(touch), "{samples} in {capacity}");
            }
        }
    }

    #[test]
    fn a_long_series_fills_at_least_half_of_its_room() {
        for samples in [100_u32, 1000, 12_345] {
            let spans = folded(samples, 64).iter().count();
            assert!((32..=64).contains(&spans), "{samples}: {spans}");
        }
    }
}
