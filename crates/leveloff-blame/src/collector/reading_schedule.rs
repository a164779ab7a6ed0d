//! When what is allocated is recorded: often at the start, and less and less often, so that a long recording hardly grows.

use leveloff_model::units::Seconds;

/// The least time between two readings.
const SHORTEST: f64 = 2.0;
/// Readings while the run grows to 2.7 times its length.
const READINGS_PER_AGE: f64 = 24.0;

/// Readings at growing distances.
#[derive(Debug, Default)]
pub struct ReadingSchedule {
    next: f64,
}

impl ReadingSchedule {
    /// Whether a reading is due at `t`. Then the next one is put off.
    pub fn is_due(&mut self, t: Seconds) -> bool {
        if t.0 < self.next {
            return false;
        }
        self.next = t.0 + (t.0 / READINGS_PER_AGE).max(SHORTEST);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_has_less_than_two_hundred_readings() {
        let mut schedule = ReadingSchedule::default();
        let due = (0..3600).filter(|t| schedule.is_due(Seconds(f64::from(*t))));
        let due: Vec<i32> = due.collect();
        assert_eq!(due[..4], [0, 2, 4, 6]);
        assert!((100..200).contains(&due.len()), "{}", due.len());
    }
}
