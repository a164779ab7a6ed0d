//! Where a curve changes its course: the best split into straight lines.

use super::noise::Noise;
use crate::stats::Moments;

/// The starts of the stretches that a curve is best split into; the first is 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Segments {
    starts: Vec<usize>,
    points: usize,
}

/// A stretch shorter than this is noise.
const SHORTEST: usize = 4;

impl Segments {
    /// Optimal partitioning (Jackson and others, 2005) with a straight line for each stretch: the
    /// sum of squared residuals in units of the noise, and a price for each stretch that grows
    /// with the length as Schwarz's criterion does. A line and its start are three parameters; the
    /// price is higher because a missed change costs less here than one that is not there.
    pub fn of(moments: &Moments, points: usize, noise: Noise) -> Segments {
        let price = 4.0 * (points.max(2) as f64).ln() + 4.0;
        let per_unit = 1.0 / (noise.sigma * noise.sigma * noise.inflation());
        let mut best = vec![f64::INFINITY; points + 1];
        let mut previous = vec![0; points + 1];
        best[0] = -price;
        for end in SHORTEST..=points {
            for start in 0..=end - SHORTEST {
                // A line costs nothing at best.
                if best[start] + price >= best[end] {
                    continue;
                }
                let cost = best[start] + moments.line_cost(start, end) * per_unit + price;
                if cost < best[end] {
                    best[end] = cost;
                    previous[end] = start;
                }
            }
        }
        let mut starts = Vec::new();
        let mut end = points;
        while end > 0 {
            end = previous[end];
            starts.push(end);
        }
        starts.reverse();
        Segments { starts, points }
    }

    /// Each stretch as `from..to`, in order.
    pub fn ranges(&self) -> impl DoubleEndedIterator<Item = std::ops::Range<usize>> + '_ {
        (0..self.starts.len()).map(|i| {
            let end = self.starts.get(i + 1).copied().unwrap_or(self.points);
            self.starts[i]..end
        })
    }

    /// Where stretches start.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }
}
