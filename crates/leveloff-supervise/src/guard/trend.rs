//! The trend of one amount over the last seconds: enough to tell a rise from a spike, and to read again in time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use leveloff_model::units::{Bytes, BytesPerSecond};

/// The last readings of one amount.
#[derive(Debug)]
pub struct Trend {
    window: Duration,
    readings: VecDeque<(Instant, Bytes)>,
}

/// The shortest window. A rise that is shorter may be a spike.
const SHORTEST_WINDOW: Duration = Duration::from_secs(1);

/// The most readings that are kept; more than a window holds at the fastest pace.
const MOST: usize = 128;

/// The fewest readings of a rise: one in each third, and the one at its beginning.
const FEWEST: usize = 4;

/// The share of the window that readings must cover.
const COVERED: f64 = 0.9;

/// The slowest third of a rise has at least this share of the fastest's growth. A spike has nothing in the
/// first two; growth by the step is uneven when readings are as frequent as steps.
const EVENNESS: f64 = 0.2;

impl Trend {
    /// A trend over at least one sampling interval.
    pub fn over(interval: Duration) -> Trend {
        Trend {
            window: interval.max(SHORTEST_WINDOW),
            readings: VecDeque::new(),
        }
    }

    /// Adds a reading.
    pub fn push(&mut self, now: Instant, amount: Bytes) {
        // Two readings at the same moment have no rate between them.
        if self
            .readings
            .back()
            .is_some_and(|(before, _)| *before >= now)
        {
            return;
        }
        let is_outside = |(at, _): &(Instant, Bytes)| now.duration_since(*at) > self.window;
        // One reading outside the window is kept, so that the window is covered.
        while self.readings.len() == MOST || self.readings.get(1).is_some_and(is_outside) {
            self.readings.pop_front();
        }
        self.readings.push_back((now, amount));
    }

    /// The fastest growth between two readings in the window; not below zero.
    pub fn fastest(&self) -> BytesPerSecond {
        let pairs = self.readings.iter().zip(self.readings.iter().skip(1));
        let rates = pairs.map(|((t0, y0), (t1, y1))| {
            let seconds = t1.duration_since(*t0).as_secs_f64();
            (y1.0 as f64 - y0.0 as f64) / seconds.max(1e-3)
        });
        BytesPerSecond(rates.fold(0.0, f64::max))
    }

    /// Whether the amount rises throughout the window, about evenly. The newest reading then continues the ones before it
    /// and is no spike.
    pub fn is_steady_rise(&self) -> bool {
        let (Some(&(begin, first)), Some(&(end, last))) =
            (self.readings.front(), self.readings.back())
        else {
            return false;
        };
        let span = end.duration_since(begin);
        if self.readings.len() < FEWEST || span.as_secs_f64() < COVERED * self.window.as_secs_f64()
        {
            return false;
        }
        let at = |third: u32| self.amount_at(begin + span * third / 3);
        let marks = [first.0 as f64, at(1), at(2), last.0 as f64];
        let grown: [f64; 3] = std::array::from_fn(|third| marks[third + 1] - marks[third]);
        let slowest = grown.into_iter().fold(f64::INFINITY, f64::min);
        let fastest = grown.into_iter().fold(0.0, f64::max);
        slowest > 0.0 && slowest >= EVENNESS * fastest
    }

    /// The amount at a moment, on the straight line between the readings around it.
    fn amount_at(&self, moment: Instant) -> f64 {
        let after = self.readings.iter().position(|(at, _)| *at >= moment);
        let Some(after) = after.filter(|&after| after > 0) else {
            return self
                .readings
                .front()
                .map_or(0.0, |(_, amount)| amount.0 as f64);
        };
        let ((t0, y0), (t1, y1)) = (self.readings[after - 1], self.readings[after]);
        let share = moment.duration_since(t0).as_secs_f64() / t1.duration_since(t0).as_secs_f64();
        y0.0 as f64 + share * (y1.0 as f64 - y0.0 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings of these amounts in MiB, `step` seconds apart, of a run that is sampled each second.
    fn is_rise(step: f64, amounts: &[u64]) -> bool {
        let begin = Instant::now();
        let mut trend = Trend::over(Duration::from_secs(1));
        for (at, &amount) in amounts.iter().enumerate() {
            trend.push(
                begin + Duration::from_secs_f64(step * at as f64),
                Bytes(amount << 20),
            );
        }
        trend.is_steady_rise()
    }

    #[test]
    fn an_uneven_rise_is_a_rise() {
        assert!(is_rise(0.25, &[100, 200, 300, 400, 500, 600]));
        assert!(is_rise(
            0.1,
            &[100, 110, 112, 131, 140, 141, 160, 178, 179, 190, 203]
        ));
    }

    #[test]
    fn a_spike_is_no_rise() {
        assert!(!is_rise(0.2, &[1000, 1001, 1000, 1002, 1001, 4000]));
        assert!(!is_rise(0.2, &[1000, 1010, 1020, 1030, 1040, 4000]));
        assert!(!is_rise(
            0.1,
            &[100, 100, 100, 100, 100, 100, 100, 150, 200, 250, 300]
        ));
    }

    #[test]
    fn noise_around_a_level_is_no_rise() {
        assert!(!is_rise(
            0.15,
            &[2000, 2040, 1990, 2030, 1985, 2035, 2000, 2045]
        ));
    }

    #[test]
    fn few_readings_or_a_short_time_are_no_rise() {
        assert!(!is_rise(1.0, &[100, 200, 300]));
        assert!(!is_rise(0.02, &[100, 200, 300, 400, 500, 600]));
        assert!(!is_rise(1.0, &[]));
    }

    #[test]
    fn the_fastest_growth_counts_and_a_fall_does_not() {
        let begin = Instant::now();
        let mut trend = Trend::over(Duration::from_secs(9));
        for (seconds, amount) in [(0, 10), (1, 40), (2, 20), (2, 90)] {
            trend.push(begin + Duration::from_secs(seconds), Bytes(amount));
        }
        assert_eq!(trend.fastest(), BytesPerSecond(30.0));
    }

    #[test]
    fn old_readings_are_dropped() {
        let begin = Instant::now();
        let mut trend = Trend::over(Duration::from_secs(1));
        for reading in 0..10_000_u32 {
            trend.push(
                begin + Duration::from_millis(1) * reading,
                Bytes(u64::from(reading)),
            );
        }
        assert!(trend.readings.len() <= MOST);
    }
}
