//! When what is allocated is recorded: often at the start and less and less often, and never so much that it is more than
//! a small part of the recording.

use leveloff_model::units::Seconds;

/// The least time between two readings.
const SHORTEST: f64 = 2.0;
/// Readings while the run grows to 2.7 times its length.
const READINGS_PER_AGE: f64 = 24.0;
/// A reading is never put off for longer than this, whatever was written: a line needs points to be judged.
const FEWEST_READINGS_PER_AGE: f64 = 10.0;
/// The same at the start, in seconds.
const LONGEST_AT_START: f64 = 5.0;
/// Bytes that may be written at once: a line, and some readings of it.
const CREDIT: f64 = 250.0;
/// Bytes that may be written for each sample: 4 % of what a sample of one process takes with all that belongs to it.
const BYTES_PER_SAMPLE: f64 = 8.0;

/// Readings at growing distances.
#[derive(Debug, Default)]
pub struct ReadingSchedule {
    next: f64,
    written: f64,
    samples: f64,
}

impl ReadingSchedule {
    /// Whether a reading is due at the sample of `t`. Asked once for each sample.
    pub fn is_due(&mut self, t: Seconds) -> bool {
        self.samples += 1.0;
        t.0 >= self.next
    }

    /// Bytes that may be written without delaying the next reading.
    pub fn room(&self) -> usize {
        (CREDIT + BYTES_PER_SAMPLE * self.samples - self.written).max(0.0) as usize
    }

    /// This many bytes were written.
    pub fn wrote(&mut self, bytes: usize) {
        self.written += bytes as f64;
    }

    /// There was a reading at `t`: sets when the next one is due.
    pub fn plan(&mut self, t: Seconds) {
        let samples = ((self.written - CREDIT) / BYTES_PER_SAMPLE - self.samples).max(0.0);
        let affordable = t.0 + samples * t.0 / self.samples.max(1.0);
        let latest = t.0 + (t.0 / FEWEST_READINGS_PER_AGE).max(LONGEST_AT_START);
        let usual = t.0 + (t.0 / READINGS_PER_AGE).max(SHORTEST);
        self.next = usual.max(affordable.min(latest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of readings of this many bytes in an hour.
    fn due(bytes: usize) -> Vec<i32> {
        let mut schedule = ReadingSchedule::default();
        let mut due = Vec::new();
        for t in 0..3600 {
            let at = Seconds(f64::from(t));
            if schedule.is_due(at) {
                schedule.wrote(bytes);
                schedule.plan(at);
                due.push(t);
            }
        }
        due
    }

    #[test]
    fn an_hour_has_less_than_two_hundred_readings() {
        let due = due(0);
        assert_eq!(due[..4], [0, 2, 4, 6]);
        assert!((100..200).contains(&due.len()), "{}", due.len());
    }

    #[test]
    fn many_sites_are_read_less_often() {
        let many = due(400);
        assert!(many.len() < due(60).len(), "{}", many.len());
        assert!((40..80).contains(&many.len()), "{}", many.len());
    }
}
