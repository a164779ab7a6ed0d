//! The axis of steps or time: which of them are written below it.

use std::ops::Range;

use leveloff_classifier::observation::XUnit;

use crate::memory_axis::next_round;
use crate::number::thousands;

/// Columns between two numbers.
const BETWEEN: usize = 3;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Usual distances between ticks of time, up to a day; above, days are counted like any number.
const DISTANCES: [u64; 16] = [
    1,
    2,
    5,
    10,
    15,
    30,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    6 * HOUR,
    12 * HOUR,
];

/// The places that are written below a chart of `columns` columns over `range`, and how.
pub fn places(unit: XUnit, range: &Range<f64>, columns: u16) -> Vec<(f64, String)> {
    let length = range.end - range.start;
    if columns == 0 || !length.is_finite() || length <= 0.0 {
        return Vec::new();
    }
    let per_column = length / f64::from(columns);
    let widest = |step: f64| {
        let ends = [range.start, range.end - step, range.end];
        let widths = ends.map(|x| written(unit, (x / step).round() * step).chars().count());
        widths.into_iter().max().unwrap_or(0) + BETWEEN
    };
    let mut step = next_distance(unit, per_column * (1 + BETWEEN) as f64);
    while step < widest(step) as f64 * per_column {
        step = next_distance(unit, step * 1.01);
    }
    let first = (range.start / step).ceil();
    (0..u32::from(columns))
        .map(|i| (first + f64::from(i)) * step)
        .take_while(|x| *x <= range.end)
        .map(|x| (x, written(unit, x)))
        .collect()
}

/// The next round distance that is no less.
fn next_distance(unit: XUnit, least: f64) -> f64 {
    match unit {
        XUnit::Second => DISTANCES
            .iter()
            .map(|&seconds| seconds as f64)
            .find(|seconds| *seconds >= least)
            .unwrap_or_else(|| DAY as f64 * next_round((least / DAY as f64).max(1.0))),
        // There is something between two epochs, and nothing between two steps.
        XUnit::Epoch => next_round(least.max(0.1)),
        _ => next_round(least.max(1.0)),
    }
}

/// `12,000` for a step; `2.5` for an epoch; `45s`, `2m30s`, `1h30m`, `2d12h` for a time.
pub fn written(unit: XUnit, x: f64) -> String {
    let whole = x.max(0.0).round() as u64;
    match unit {
        XUnit::Second => time(whole),
        XUnit::Epoch if (x - x.round()).abs() > 0.01 => format!("{x:.1}"),
        _ => thousands(whole),
    }
}

fn time(seconds: u64) -> String {
    let units = [(DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (1, "s")];
    let mut left = seconds;
    let mut text = String::new();
    for (unit, name) in units {
        if left >= unit {
            text += &format!("{}{name}", left / unit);
            left %= unit;
        }
    }
    if text.is_empty() {
        "0s".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(unit: XUnit, range: Range<f64>, columns: u16) -> String {
        let places = places(unit, &range, columns);
        let texts: Vec<String> = places.into_iter().map(|(_, text)| text).collect();
        texts.join(" ")
    }

    #[test]
    fn steps_are_round_and_set_apart() {
        assert_eq!(
            texts(XUnit::Step, 10.0..173.0, 70),
            "20 40 60 80 100 120 140 160"
        );
        assert_eq!(
            texts(XUnit::Step, 0.0..12_345.0, 60),
            "0 2,000 4,000 6,000 8,000 10,000 12,000"
        );
        assert_eq!(texts(XUnit::Step, 3.0..5.0, 70), "3 4 5");
        assert_eq!(texts(XUnit::Epoch, 0.0..2.0, 30), "0 0.5 1 1.5 2");
    }

    #[test]
    fn times_say_their_unit() {
        assert_eq!(
            texts(XUnit::Second, 0.0..95.0, 60),
            "0s 15s 30s 45s 1m 1m15s 1m30s"
        );
        assert_eq!(
            texts(XUnit::Second, 3600.0..7300.0, 40),
            "1h 1h15m 1h30m 1h45m 2h"
        );
        assert_eq!(
            texts(XUnit::Second, 0.0..604_800.0, 50),
            "0s 1d 2d 3d 4d 5d 6d 7d"
        );
    }

    #[test]
    fn any_range_has_few_places() {
        for length in [1e-9, 0.5, 2.0, 77.0, 1e6, 1e12, 1e18] {
            for start in [0.0, 12.3, 1e9] {
                for unit in [XUnit::Step, XUnit::Second, XUnit::Epoch] {
                    for columns in [0, 1, 9, 300] {
                        let range = start..start + length;
                        let places = places(unit, &range, columns);
                        assert!(places.len() <= usize::from(columns), "{range:?} {places:?}");
                    }
                }
            }
        }
        assert_eq!(places(XUnit::Step, &(0.0..f64::NAN), 10), []);
        assert_eq!(places(XUnit::Step, &(0.0..f64::INFINITY), 10), []);
    }
}
