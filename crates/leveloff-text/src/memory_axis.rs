//! The axis of memory: what it spans, and the amounts that are written beside it.

use std::ops::Range;

use leveloff_model::folded::Reach;

/// Less than this share of the amount is not blown up to the whole height: noise is not news.
const LEAST_SPAN: f64 = 0.05;
/// The same for hardly any memory, in bytes.
const LEAST_BYTES: f64 = 65536.0;
/// Left free above and below, as a share of what is shown: a line at the border is not seen.
const MARGIN: f64 = 0.05;
/// An axis that would begin below this share of its end begins at zero.
const NEAR_ZERO: f64 = 0.25;
/// Rows for each number. Numbers stand on whole rows: two rows apart, some would be one apart and
/// others three, and a straight line would look bent.
const ROWS_EACH: f64 = 3.0;
/// Up to this many times more numbers are better than half as many.
const RATHER_MORE: f64 = 1.3;
/// Numbers beside a tall chart.
const NUMBERS_MOST: f64 = 8.0;
/// On fewer rows there is room for the lowest and the highest amount only.
const ROWS_FOR_NUMBERS: u16 = 4;

/// The axis of memory.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryAxis {
    /// From its lowest to its highest amount, in bytes.
    pub range: Range<f64>,
    /// The unit of all its numbers.
    pub unit: &'static str,
    /// The numbers: the amount in bytes, and how it is written. Lowest first.
    pub numbers: Vec<(f64, String)>,
}

impl MemoryAxis {
    /// An axis on so many rows that shows all of `shown`.
    pub fn new(shown: Reach, rows: u16) -> MemoryAxis {
        let reach = with_room(shown);
        let unit = Unit::of(reach.high);
        if rows < ROWS_FOR_NUMBERS {
            return MemoryAxis::of_few_rows(shown, reach, unit);
        }
        let wanted = (f64::from(rows) / ROWS_EACH).clamp(2.0, NUMBERS_MOST);
        let step = unit.step((reach.high - reach.low) / unit.bytes / wanted / RATHER_MORE);
        let grain = grain(step);
        let begin = (reach.low / unit.bytes / grain).floor() * grain;
        let end = reach.high / unit.bytes;
        let round = (1..)
            .map(|i| ((begin / step).floor() + f64::from(i)) * step)
            .take_while(|number| *number <= end);
        let numbers: Vec<f64> = std::iter::once(begin).chain(round).collect();
        let decimals = decimals(&[begin, step]);
        MemoryAxis {
            range: begin * unit.bytes..reach.high,
            unit: unit.name,
            numbers: unit.written(&numbers, decimals),
        }
    }

    fn of_few_rows(shown: Reach, reach: Reach, unit: Unit) -> MemoryAxis {
        let numbers = [shown.low, shown.high].map(|bytes| bytes / unit.bytes);
        let span = (reach.high - reach.low) / unit.bytes;
        let decimals = (1.0 - span.log10()).ceil().clamp(0.0, 3.0) as usize;
        MemoryAxis {
            range: reach.low..reach.high,
            unit: unit.name,
            numbers: unit.written(&numbers, decimals),
        }
    }

    /// What stands above the numbers: the unit, and where they begin if that is not at zero.
    pub fn caption(&self) -> String {
        match self.numbers.first() {
            Some((bytes, text)) if *bytes > 0.0 => format!("{} from {text}", self.unit),
            _ => self.unit.to_owned(),
        }
    }
}

/// A little more than what is shown, and never next to nothing.
fn with_room(shown: Reach) -> Reach {
    let least = (LEAST_SPAN * shown.high).max(LEAST_BYTES);
    let missing = (least - (shown.high - shown.low)).max(0.0) / 2.0;
    let (low, high) = (shown.low - missing, shown.high + missing);
    let margin = MARGIN * (high - low);
    let (low, high) = (low - margin, high + margin);
    Reach {
        low: if low < NEAR_ZERO * high { 0.0 } else { low },
        high,
    }
}

/// A unit of memory.
#[derive(Debug, Clone, Copy)]
struct Unit {
    name: &'static str,
    bytes: f64,
}

impl Unit {
    /// The largest of which there is one.
    fn of(bytes: f64) -> Unit {
        const KIB: f64 = 1024.0;
        let (name, bytes) = match bytes {
            b if b < KIB * KIB => ("KiB", KIB),
            b if b < KIB * KIB * KIB => ("MiB", KIB * KIB),
            b if b < KIB * KIB * KIB * KIB => ("GiB", KIB * KIB * KIB),
            _ => ("TiB", KIB * KIB * KIB * KIB),
        };
        Unit { name, bytes }
    }

    /// The next round number that is no less. GiB go by powers of two, as machines do: 8, 16, 24, 32.
    fn step(self, least: f64) -> f64 {
        let comes_in_powers = matches!(self.name, "GiB" | "TiB");
        if comes_in_powers && least > 1.0 {
            return least.log2().ceil().exp2();
        }
        next_round(least)
    }

    fn written(self, numbers: &[f64], decimals: usize) -> Vec<(f64, String)> {
        numbers
            .iter()
            .map(|number| (number * self.bytes, format!("{number:.decimals$}")))
            .collect()
    }
}

/// The next of … 0.1, 0.2, 0.5, 1, 2, 5, 10 … that is no less.
pub fn next_round(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-9).log10().floor());
    let round = [1.0, 2.0, 5.0].map(|digit| digit * power);
    // What was meant to be exact may have come out a little less.
    let is_enough = |number: &f64| *number >= least * (1.0 - 1e-9);
    round.into_iter().find(is_enough).unwrap_or(10.0 * power)
}

/// Where the axis begins is a multiple of this: finer than a step, so that little room is lost, and
/// still round. Half of 5, 50 or 0.5 is not.
fn grain(step: f64) -> f64 {
    let is_half_of_ten = (step.log10() - 5_f64.log10()).fract().abs() < 1e-9;
    step / if is_half_of_ten { 5.0 } else { 2.0 }
}

/// Decimals that write these numbers exactly, as far as three do.
fn decimals(numbers: &[f64]) -> usize {
    let is_exact = |decimals: &usize| {
        numbers.iter().all(|number| {
            let shifted = number * 10_f64.powi(*decimals as i32);
            (shifted - shifted.round()).abs() < 1e-6
        })
    };
    (0..3).find(is_exact).unwrap_or(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = 1073741824.0;
    const MIB: f64 = 1048576.0;

    fn written(low: f64, high: f64, rows: u16) -> String {
        let axis = MemoryAxis::new(Reach { low, high }, rows);
        let numbers: Vec<&str> = axis.numbers.iter().map(|(_, text)| text.as_str()).collect();
        format!("{}: {}", axis.caption(), numbers.join(" "))
    }

    #[test]
    fn numbers_are_round_and_say_where_they_begin() {
        let written = [
            written(5.4 * GIB, 32.0 * GIB, 5),
            written(5.4 * GIB, 32.0 * GIB, 12),
            written(5.4 * GIB, 17.7 * GIB, 12),
            written(510.0 * MIB, 560.0 * MIB, 12),
            written(17.36 * GIB, 17.44 * GIB, 8),
        ];
        assert_eq!(
            written,
            [
                "GiB: 0 16 32",
                "GiB: 0 8 16 24 32",
                "GiB from 4: 4 8 12 16",
                "MiB from 500: 500 520 540 560",
                "GiB from 16.9: 16.9 17.0 17.5",
            ]
        );
    }

    #[test]
    fn few_rows_have_the_lowest_and_the_highest() {
        assert_eq!(
            written(16.0 * GIB, 17.4 * GIB, 3),
            "GiB from 16.0: 16.0 17.4"
        );
    }

    #[test]
    fn nothing_is_at_the_border_but_zero() {
        for (low, high) in [(1.0, 1.0), (5e9, 5e9), (3e9, 9e9), (1e15, 1e15), (0.0, 0.0)] {
            for rows in [1, 2, 5, 40] {
                let axis = MemoryAxis::new(Reach { low, high }, rows);
                let span = axis.range.end - axis.range.start;
                assert!(span > 0.0, "{axis:?}");
                assert!(axis.range.end - high > 0.04 * span, "{axis:?}");
                let starts_at_zero = axis.range.start == 0.0;
                assert!(
                    starts_at_zero || low - axis.range.start > 0.04 * span,
                    "{axis:?}"
                );
                assert!(
                    !axis.numbers.is_empty() && axis.numbers.len() < 20,
                    "{axis:?}"
                );
            }
        }
    }

    #[test]
    fn round_numbers() {
        let rounded = [0.011, 0.2, 0.3, 1.0, 3.0, 7.0, 4e5].map(next_round);
        assert_eq!(rounded, [0.02, 0.2, 0.5, 1.0, 5.0, 10.0, 5e5]);
    }
}
