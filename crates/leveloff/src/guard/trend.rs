//! Where memory is heading within seconds: enough to tell a spike from a rise, and to look in time.

use std::collections::VecDeque;
use std::time::Instant;

use leveloff_model::units::Bytes;

/// How fast memory moves.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct BytesPerSecond(pub f64);

/// The last looks at one amount.
#[derive(Debug, Default)]
pub struct Trend {
    looks: VecDeque<(Instant, Bytes)>,
}

/// A straight line through looks, by least squares.
#[derive(Debug, Clone, Copy)]
struct Line {
    slope: f64,
    /// At the newest of them.
    value: f64,
    /// Scale of what is left over.
    scatter: f64,
    /// Seconds from the oldest to the newest.
    span: f64,
}

/// Looks that are kept: enough for a line, few enough to follow a turn.
const KEPT: usize = 16;

/// Looks that a line needs.
const FEWEST: usize = 4;

/// A rise is one if it is this many times what scatters around it.
const CLEAR: f64 = 3.0;

/// So much beside its line is still the same rise, as a share of the amount: a step of the training takes
/// memory at once, and a look falls before or after.
const BESIDE: f64 = 0.005;

impl Trend {
    /// Takes a look.
    pub fn push(&mut self, now: Instant, amount: Bytes) {
        // Two looks at the same moment have no rate between them.
        if self.looks.back().is_some_and(|(before, _)| *before >= now) {
            return;
        }
        if self.looks.len() == KEPT {
            self.looks.pop_front();
        }
        self.looks.push_back((now, amount));
    }

    /// The fastest that it moved lately, between two looks; not below zero.
    pub fn fastest(&self) -> BytesPerSecond {
        let pairs = self.looks.iter().zip(self.looks.iter().skip(1));
        let rates = pairs.map(|((t0, y0), (t1, y1))| {
            let seconds = t1.duration_since(*t0).as_secs_f64();
            (y1.0 as f64 - y0.0 as f64) / seconds.max(1e-3)
        });
        BytesPerSecond(rates.fold(0.0, f64::max))
    }

    /// Whether the newest look is where the ones before it were heading: no spike, and no use in waiting.
    pub fn was_foreseen(&self) -> bool {
        let (Some(&(now, amount)), Some(line)) = (self.looks.back(), self.line_before_newest())
        else {
            return false;
        };
        let before = self
            .looks
            .len()
            .checked_sub(2)
            .and_then(|at| self.looks.get(at));
        let since = before.map_or(0.0, |(t, _)| now.duration_since(*t).as_secs_f64());
        let expected = line.value + line.slope * since;
        let beside = (amount.0 as f64 - expected).abs();
        let allowed = (CLEAR * line.scatter)
            .max(2.0 * line.slope * since)
            .max(BESIDE * amount.0 as f64);
        line.slope * line.span >= CLEAR * line.scatter && line.slope > 0.0 && beside <= allowed
    }

    fn line_before_newest(&self) -> Option<Line> {
        let count = self
            .looks
            .len()
            .checked_sub(1)
            .filter(|&count| count >= FEWEST)?;
        let (first, _) = *self.looks.front()?;
        let points: Vec<(f64, f64)> = self
            .looks
            .iter()
            .take(count)
            .map(|(t, amount)| (t.duration_since(first).as_secs_f64(), amount.0 as f64))
            .collect();
        let n = count as f64;
        let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
        let shared: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        let slope = if spread > 0.0 { shared / spread } else { 0.0 };
        let rest: f64 = points
            .iter()
            .map(|p| (p.1 - y - slope * (p.0 - x)).powi(2))
            .sum();
        let newest = points.last()?.0;
        Some(Line {
            slope,
            value: y + slope * (newest - x),
            scatter: (rest / (n - 2.0)).sqrt(),
            span: newest,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn foreseen(step: f64, amounts: &[u64]) -> bool {
        let begin = Instant::now();
        let mut trend = Trend::default();
        for (at, &amount) in amounts.iter().enumerate() {
            trend.push(
                begin + Duration::from_secs_f64(step * at as f64),
                Bytes(amount << 20),
            );
        }
        trend.was_foreseen()
    }

    #[test]
    fn a_rise_is_foreseen_also_when_it_is_uneven() {
        assert!(foreseen(1.0, &[100, 200, 300, 400, 500, 600]));
        assert!(foreseen(0.1, &[100, 110, 118, 131, 140, 152, 160]));
    }

    #[test]
    fn a_spike_is_not() {
        assert!(!foreseen(1.0, &[1000, 1001, 1000, 1002, 1001, 4000]));
        assert!(!foreseen(1.0, &[1000, 1010, 1020, 1030, 1040, 4000]));
    }

    #[test]
    fn noise_around_a_level_is_no_rise() {
        assert!(!foreseen(
            1.0,
            &[2000, 2040, 1990, 2030, 1985, 2035, 2000, 2045]
        ));
    }

    #[test]
    fn of_few_looks_nothing_is_foreseen() {
        assert!(!foreseen(1.0, &[100, 200, 300, 400]));
        assert!(!foreseen(1.0, &[]));
    }

    #[test]
    fn the_fastest_move_counts_and_a_fall_does_not() {
        let begin = Instant::now();
        let mut trend = Trend::default();
        for (seconds, amount) in [(0, 10), (1, 40), (2, 20), (2, 90)] {
            trend.push(begin + Duration::from_secs(seconds), Bytes(amount));
        }
        assert_eq!(trend.fastest(), BytesPerSecond(30.0));
    }
}
