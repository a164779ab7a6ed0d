//! The period of time that is requested, as a grid.

use std::time::Duration;

use leveloff_model::units::Seconds;

/// Prometheus refuses more than 11,000 points of a series in one answer.
const MOST_POINTS_AT_ONCE: u32 = 10_000;

/// Times at which values are requested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The first time, in seconds since 1970.
    start: f64,
    step: f64,
    places: u32,
}

/// A part of a window that one answer may cover.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chunk {
    /// The first time.
    pub start: f64,
    /// The last time, which is part of it.
    pub end: f64,
}

impl Window {
    /// Up to `now`, on times that are whole steps: who asks again gets the same values, and the server
    /// may have kept them.
    pub fn until(now: f64, since: Duration, step: Duration) -> Window {
        let step = step.as_secs_f64();
        let last = (now / step).floor();
        let before = (since.as_secs_f64() / step).floor().max(1.0);
        Window {
            start: (last - before) * step,
            step,
            places: before as u32 + 1,
        }
    }

    /// How many times there are.
    pub fn places(&self) -> u32 {
        self.places
    }

    /// The time from one to the next.
    pub fn step(&self) -> Seconds {
        Seconds(self.step)
    }

    /// The last time, in seconds since 1970.
    pub fn end(&self) -> f64 {
        self.time(self.places - 1)
    }

    /// The first time.
    pub fn start(&self) -> f64 {
        self.start
    }

    /// When a place is.
    pub fn time(&self, place: u32) -> f64 {
        self.start + f64::from(place) * self.step
    }

    /// Which place a time is; `None` for one that is not ours.
    pub fn place(&self, time: f64) -> Option<u32> {
        let place = ((time - self.start) / self.step).round();
        (place >= 0.0 && place < f64::from(self.places)).then_some(place as u32)
    }

    /// The parts that are fetched one after the other, oldest first.
    pub fn chunks(&self) -> Vec<Chunk> {
        let starts = (0..self.places).step_by(MOST_POINTS_AT_ONCE as usize);
        starts
            .map(|first| Chunk {
                start: self.time(first),
                end: self.time((first + MOST_POINTS_AT_ONCE).min(self.places) - 1),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(since: u64, step: u64) -> Window {
        let (since, step) = (Duration::from_secs(since), Duration::from_secs(step));
        Window::until(1_000_007.0, since, step)
    }

    #[test]
    fn times_are_whole_steps() {
        let window = window(6 * 3600, 15);
        assert_eq!(window.places(), 1441);
        assert_eq!(window.end(), 1_000_005.0);
        assert_eq!(window.place(window.end()), Some(1440));
        assert_eq!(window.place(window.end() + 15.0), None);
        assert_eq!(window.place(window.time(0) - 15.0), None);
        assert_eq!(window.chunks().len(), 1);
    }

    #[test]
    fn a_long_one_is_fetched_in_parts_that_do_not_overlap() {
        let window = window(7 * 86_400, 15);
        let chunks = window.chunks();
        assert_eq!(chunks.len(), 5);
        for pair in chunks.windows(2) {
            assert_eq!(pair[1].start - pair[0].end, 15.0);
        }
        assert_eq!(chunks[4].end, window.end());
        let most = (chunks[0].end - chunks[0].start) / 15.0 + 1.0;
        assert!(most <= 11_000.0);
    }
}
