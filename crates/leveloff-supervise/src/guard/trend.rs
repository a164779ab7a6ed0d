//! Where memory is heading within seconds: enough to tell a spike from a rise, and to look in time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use leveloff_model::units::Bytes;

/// How fast memory moves.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct BytesPerSecond(pub f64);

/// The last looks at one amount.
#[derive(Debug)]
pub struct Trend {
    window: Duration,
    looks: VecDeque<(Instant, Bytes)>,
}

/// The shortest window. Whatever rises for less than this may be a spike.
const SHORTEST_WINDOW: Duration = Duration::from_secs(1);

/// Looks that are kept at most; more than there are in a window at the fastest pace.
const MOST: usize = 128;

/// Looks that a rise needs: one in each third, and the one at its beginning.
const FEWEST: usize = 4;

/// How much of the window looks must cover.
const COVERED: f64 = 0.9;

/// The slowest third of a rise has at least this share of the fastest's growth. A spike has nothing in the
/// first two; growth by the step is uneven when looks are as frequent as steps.
const EVENNESS: f64 = 0.2;

impl Trend {
    /// One for looks between samples that are this far apart.
    pub fn over(interval: Duration) -> Trend {
        Trend {
            window: interval.max(SHORTEST_WINDOW),
            looks: VecDeque::new(),
        }
    }

    /// Takes a look.
    pub fn push(&mut self, now: Instant, amount: Bytes) {
        // Two looks at the same moment have no rate between them.
        if self.looks.back().is_some_and(|(before, _)| *before >= now) {
            return;
        }
        let is_outside = |(at, _): &(Instant, Bytes)| now.duration_since(*at) > self.window;
        // One outside is kept, so that the window is covered.
        while self.looks.len() == MOST || self.looks.get(1).is_some_and(is_outside) {
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

    /// Whether it has been rising throughout the window, about evenly: the newest look is where the ones
    /// before it were heading, so it is no spike, and there is no use in waiting.
    pub fn was_foreseen(&self) -> bool {
        let (Some(&(begin, first)), Some(&(end, last))) = (self.looks.front(), self.looks.back())
        else {
            return false;
        };
        let span = end.duration_since(begin);
        if self.looks.len() < FEWEST || span.as_secs_f64() < COVERED * self.window.as_secs_f64() {
            return false;
        }
        let at = |third: u32| self.amount_at(begin + span * third / 3);
        let marks = [first.0 as f64, at(1), at(2), last.0 as f64];
        let grown: [f64; 3] = std::array::from_fn(|third| marks[third + 1] - marks[third]);
        let slowest = grown.into_iter().fold(f64::INFINITY, f64::min);
        let fastest = grown.into_iter().fold(0.0, f64::max);
        slowest > 0.0 && slowest >= EVENNESS * fastest
    }

    /// The amount at a moment between looks, on the straight line between them.
    fn amount_at(&self, moment: Instant) -> f64 {
        let after = self.looks.iter().position(|(at, _)| *at >= moment);
        let Some(after) = after.filter(|&after| after > 0) else {
            return self
                .looks
                .front()
                .map_or(0.0, |(_, amount)| amount.0 as f64);
        };
        let ((t0, y0), (t1, y1)) = (self.looks[after - 1], self.looks[after]);
        let share = moment.duration_since(t0).as_secs_f64() / t1.duration_since(t0).as_secs_f64();
        y0.0 as f64 + share * (y1.0 as f64 - y0.0 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at these amounts in MiB, so many seconds apart, of a run that is sampled each second.
    fn foreseen(step: f64, amounts: &[u64]) -> bool {
        let begin = Instant::now();
        let mut trend = Trend::over(Duration::from_secs(1));
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
        assert!(foreseen(0.25, &[100, 200, 300, 400, 500, 600]));
        assert!(foreseen(
            0.1,
            &[100, 110, 112, 131, 140, 141, 160, 178, 179, 190, 203]
        ));
    }

    #[test]
    fn a_spike_is_not() {
        assert!(!foreseen(0.2, &[1000, 1001, 1000, 1002, 1001, 4000]));
        assert!(!foreseen(0.2, &[1000, 1010, 1020, 1030, 1040, 4000]));
        assert!(!foreseen(
            0.1,
            &[100, 100, 100, 100, 100, 100, 100, 150, 200, 250, 300]
        ));
    }

    #[test]
    fn noise_around_a_level_is_no_rise() {
        assert!(!foreseen(
            0.15,
            &[2000, 2040, 1990, 2030, 1985, 2035, 2000, 2045]
        ));
    }

    #[test]
    fn of_few_looks_or_a_short_time_nothing_is_foreseen() {
        assert!(!foreseen(1.0, &[100, 200, 300]));
        assert!(!foreseen(0.02, &[100, 200, 300, 400, 500, 600]));
        assert!(!foreseen(1.0, &[]));
    }

    #[test]
    fn the_fastest_move_counts_and_a_fall_does_not() {
        let begin = Instant::now();
        let mut trend = Trend::over(Duration::from_secs(9));
        for (seconds, amount) in [(0, 10), (1, 40), (2, 20), (2, 90)] {
            trend.push(begin + Duration::from_secs(seconds), Bytes(amount));
        }
        assert_eq!(trend.fastest(), BytesPerSecond(30.0));
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let begin = Instant::now();
        let mut trend = Trend::over(Duration::from_secs(1));
        for look in 0..10_000_u32 {
            trend.push(
                begin + Duration::from_millis(1) * look,
                Bytes(u64::from(look)),
            );
        }
        assert!(trend.looks.len() <= MOST);
    }
}
