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
        let cost = |start, end| moments.line_cost(start, end) * per_unit;
        let previous = best_split(points, price, cost);
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

/// For each end, where the last stretch of the best split up to there starts.
fn best_split(points: usize, price: f64, line_cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let mut best = vec![f64::INFINITY; points + 1];
    let mut previous = vec![0; points + 1];
    best[0] = -price;
    // Starts that may still be the best of some later end, each with what its line costs up to this one.
    let mut starts: Vec<Start> = Vec::new();
    for end in SHORTEST..=points {
        let newest = end - SHORTEST;
        if best[newest].is_finite() {
            starts.push(Start::at(newest));
        }
        starts.retain(|start| start.useless_from > end);
        for start in &mut starts {
            let before = best[start.at];
            // A line costs nothing at best.
            start.total = before;
            if before + price >= best[end] {
                continue;
            }
            start.total += line_cost(start.at, end);
            if start.total + price < best[end] {
                best[end] = start.total + price;
                previous[end] = start.at;
            }
        }
        // Two lines are never worse than one through both, so such a start loses against this end as a start
        // (Killick and others, 2012), as soon as a stretch from here on is long enough.
        for start in &mut starts {
            if start.total > best[end] {
                start.useless_from = start.useless_from.min(end + SHORTEST);
            }
        }
    }
    previous
}

/// A place where the last stretch may start.
#[derive(Debug, Clone, Copy)]
struct Start {
    at: usize,
    total: f64,
    useless_from: usize,
}

impl Start {
    fn at(at: usize) -> Start {
        Start {
            at,
            total: 0.0,
            useless_from: usize::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plain form: every start for every end.
    fn plain_split(points: usize, price: f64, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
        let mut best = vec![f64::INFINITY; points + 1];
        let mut previous = vec![0; points + 1];
        best[0] = -price;
        for end in SHORTEST..=points {
            for start in 0..=end - SHORTEST {
                let total = best[start] + cost(start, end) + price;
                if total < best[end] {
                    (best[end], previous[end]) = (total, start);
                }
            }
        }
        previous
    }

    #[test]
    fn starts_that_are_left_out_would_not_have_been_the_best() {
        let curves: [fn(f64) -> f64; 4] = [
            |x| (x * 7.0).fract(),
            |x| (x * 9.0).floor(),
            |x| (x * 20.0).sin() + 0.3 * (x * 63.0).cos(),
            |x| x.min(0.3),
        ];
        for curve in curves {
            let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 200.0).collect();
            let noise = |x: f64| 0.02 * (x * 7919.0).sin();
            let y: Vec<f64> = x.iter().map(|&x| curve(x) + noise(x)).collect();
            let moments = Moments::new(&x, &y);
            let cost = |from, to| moments.line_cost(from, to) / 4e-4;
            let price = 4.0 * 200_f64.ln() + 4.0;
            assert_eq!(best_split(200, price, cost), plain_split(200, price, cost));
        }
    }
}
