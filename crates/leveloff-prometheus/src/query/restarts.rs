//! The newest start of a run within its series, and values that are only repeated.
//!
//! A fall of memory at a restart is not a sawtooth, and the time before it says nothing about the run now: only what
//! follows the last restart is judged.

use leveloff_model::units::{Bytes, Seconds};

use super::series::Series;
use super::window::Window;

/// A gap longer than this may hide a restart: Prometheus itself forgets a value after five minutes.
const LONG_GAP: Seconds = Seconds(300.0);

/// After a long gap, memory below this share of what it was before is another process's.
const AFTER_A_GAP: f64 = 0.5;

/// Without one, it must fall below this share between two looks. Caches and collectors give back less.
const AT_ONCE: f64 = 0.25;

/// What falls so deeply more often than this is a pattern of the run's, and no restart.
const MOST_RESTARTS: usize = 3;

/// A restart within a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Restart {
    /// The index of the first value after it.
    pub from: usize,
    /// The evidence.
    pub why: String,
}

/// The last restart. Steps that go back are certain evidence; memory must fall further than it ever does in a
/// training.
pub fn last_restart(memory: &Series, steps: Option<&Series>, window: &Window) -> Option<Restart> {
    let stepped_back = steps.and_then(|steps| step_back(memory, steps));
    stepped_back.or_else(|| fall(memory, window))
}

/// How many looks show the same scrape: values that change at every k-th place only were scraped less
/// often than they are requested. Repeated, one reading would count as k.
pub fn repetition(memory: &Series) -> usize {
    const FEWEST_CHANGES: usize = 12;
    const MOSTLY: f64 = 0.8;
    let points: Vec<(u32, f64)> = memory.iter().collect();
    let pairs = points.windows(2);
    let changes: Vec<u32> = pairs
        .filter(|pair| pair[0].1 != pair[1].1)
        .map(|pair| pair[1].0)
        .collect();
    if changes.len() < FEWEST_CHANGES {
        return 1;
    }
    let mut distances: Vec<u32> = changes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort_unstable();
    let usual = distances[distances.len() / 2].max(1);
    let whole = distances.iter().filter(|distance| *distance % usual == 0);
    let is_regular = whole.count() as f64 >= MOSTLY * distances.len() as f64;
    // A slow staircase changes rarely and irregularly; a scrape brings something new nearly every time.
    let is_usual = changes.len() as f64 >= 0.5 * points.len() as f64 / f64::from(usual);
    if is_regular && is_usual {
        usual as usize
    } else {
        1
    }
}

fn step_back(memory: &Series, steps: &Series) -> Option<Restart> {
    let mut last: Option<f64> = None;
    let mut found = None;
    for (from, (place, _)) in memory.iter().enumerate() {
        let Some(step) = steps.at(place) else {
            continue;
        };
        if let Some(before) = last.filter(|before| step < *before) {
            let why = format!("step {step:.0} came after step {before:.0}");
            found = Some(Restart { from, why });
        }
        last = Some(step);
    }
    found
}

fn fall(memory: &Series, window: &Window) -> Option<Restart> {
    let points: Vec<(u32, f64)> = memory.iter().collect();
    let mut falls = Vec::new();
    for (place, pair) in points.windows(2).enumerate() {
        let gap = Seconds(window.time(pair[1].0) - window.time(pair[0].0));
        let left = pair[1].1 / pair[0].1.max(1.0);
        let least = if gap > LONG_GAP { AFTER_A_GAP } else { AT_ONCE };
        if left < least {
            let bytes = |value: f64| Bytes(value as u64);
            let (before, after) = (bytes(pair[0].1), bytes(pair[1].1));
            let why = format!("memory fell from {before} to {after} within {gap}");
            falls.push(Restart {
                from: place + 1,
                why,
            });
        }
    }
    if falls.len() > MOST_RESTARTS {
        return None;
    }
    falls.pop()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::response::Sample;
    use super::*;

    fn window() -> Window {
        Window::until(1e6, Duration::from_secs(15_000), Duration::from_secs(15))
    }

    fn series(value: impl Fn(u32) -> Option<f64>) -> Series {
        let window = window();
        let samples = (0..1000).filter_map(|i| Some(Sample(window.time(i), value(i)?)));
        let mut series = Series::default();
        series.extend(&samples.collect::<Vec<_>>(), &window);
        series
    }

    fn restarted_at(memory: &Series, steps: Option<&Series>) -> Option<usize> {
        last_restart(memory, steps, &window()).map(|restart| restart.from)
    }

    #[test]
    fn a_deep_fall_is_another_life() {
        let rises = |i: u32| 1e9 + f64::from(i % 600) * 1e7;
        assert_eq!(restarted_at(&series(|i| Some(rises(i))), None), Some(600));
        let halves = series(|i| Some(if i < 500 { 8e9 } else { 3e9 }));
        assert_eq!(restarted_at(&halves, None), None, "a cache was given back");
    }

    #[test]
    fn after_a_long_gap_half_is_enough() {
        let gap = series(|i| match i {
            0..500 => Some(8e9),
            500..540 => None,
            _ => Some(3e9),
        });
        assert_eq!(restarted_at(&gap, None), Some(500));
    }

    #[test]
    fn what_falls_again_and_again_is_a_pattern() {
        let sawtooth = series(|i| Some(1e9 + f64::from(i % 50) * 1e9));
        assert_eq!(restarted_at(&sawtooth, None), None);
    }

    #[test]
    fn steps_that_go_back_tell_for_sure() {
        let memory = series(|_| Some(8e9));
        let steps = series(|i| Some(f64::from(if i < 300 { i } else { i - 250 })));
        assert_eq!(restarted_at(&memory, Some(&steps)), Some(300));
    }

    #[test]
    fn values_scraped_less_often_than_requested_are_not_counted_twice() {
        let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 20);
        assert_eq!(repetition(&series(|i| Some(1e9 + noise(i)))), 1);
        assert_eq!(repetition(&series(|i| Some(1e9 + noise(i / 4)))), 4);
        assert_eq!(repetition(&series(|_| Some(1e9))), 1, "level is level");
        let slow = |i: u32| (f64::from(i) * 1e5 / 5e6 + noise(i) / 2e4).floor() * 5e6;
        assert_eq!(repetition(&series(|i| Some(slow(i)))), 1, "rounded growth");
    }
}
