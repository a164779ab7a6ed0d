//! Growth, which cannot be printed without its unit and its base.
//!
//! "170 MB" per step was once reported as growth per ten steps, unnoticed. A rate therefore prints only with
//! its base, and other bases can be printed beside it.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::AmountPerX;
use leveloff_classifier::verdict::Rate;
use leveloff_model::units::Seconds;

use crate::number::thousands;

/// Growth of memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryRate {
    rate: Rate,
    per: XUnit,
}

/// Growth of something counted: descriptors, processes, tensors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountRate {
    rate: Rate,
    per: XUnit,
    /// What is counted, in the plural.
    things: &'static str,
}

impl MemoryRate {
    /// `rate` in bytes for each `per`.
    pub fn new(rate: Rate, per: XUnit) -> MemoryRate {
        MemoryRate { rate, per }
    }

    /// A rate that is no estimate, such as a bound.
    pub fn exact(value: AmountPerX, per: XUnit) -> MemoryRate {
        let (low, high) = (value, value);
        MemoryRate::new(Rate { value, low, high }, per)
    }

    /// `165 MiB per step`
    pub fn alone(&self) -> String {
        amount_per(self.rate.value.0, self.per.name())
    }

    /// `165 MiB per step (160 … 171)`
    pub fn with_interval(&self) -> String {
        let scale = Scale::of(self.rate.value.0);
        let shown =
            |bytes: f64| significant(bytes / scale.divisor, self.rate.value.0 / scale.divisor);
        self.alone() + &interval(self.rate, shown)
    }

    /// What it cannot be more than: `0.4 MiB per step`. `None` when it cannot be growth at all.
    /// Where that is less than a page of memory, it is given for more steps at once.
    pub fn at_most(&self) -> Option<String> {
        let most = self.rate.high.0;
        let bases = [1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0];
        let base = bases.into_iter().find(|base| most * base >= PAGE);
        let base = base.unwrap_or(1_000_000.0);
        (most > 0.0 && most.is_finite()).then(|| amount_per(most * base, &self.base(base)))
    }

    /// The same in other bases: `1.61 GiB per 10 steps`, `1.03 GiB per minute`. The bases are chosen
    /// so that the amounts are at least a mebibyte, where possible.
    pub fn conversions(&self, pace: Option<Seconds>) -> Vec<String> {
        let mut texts = Vec::new();
        if self.per != XUnit::Second {
            let many = [10.0, 100.0].into_iter();
            let many = first_to_picture(many, 1000.0, |n| self.rate.value.0 * n);
            texts.push(amount_per(self.rate.value.0 * many, &self.base(many)));
        }
        if let Some(a_second) = self.a_second(pace) {
            let times = [60.0, 3600.0].into_iter();
            let time = first_to_picture(times, 86_400.0, |n| a_second * n);
            let base = match time {
                60.0 => "minute",
                3600.0 => "hour",
                _ => "day",
            };
            texts.push(amount_per(a_second * time, base));
        }
        texts
    }

    /// `step`, `1,000 steps`
    fn base(&self, many: f64) -> String {
        match many {
            1.0 => self.per.name().to_owned(),
            many => format!("{} {}s", thousands(many as u64), self.per.name()),
        }
    }

    fn a_second(&self, pace: Option<Seconds>) -> Option<f64> {
        match self.per {
            XUnit::Second => Some(self.rate.value.0),
            _ => pace
                .filter(|pace| pace.0 > 0.0)
                .map(|pace| self.rate.value.0 / pace.0),
        }
    }
}

impl CountRate {
    /// `rate` in `things` for each `per`.
    pub fn new(rate: Rate, per: XUnit, things: &'static str) -> CountRate {
        CountRate { rate, per, things }
    }

    /// `1.05 tensors per step`
    pub fn alone(&self) -> String {
        let value = significant(self.rate.value.0, self.rate.value.0);
        format!("{value} {} per {}", self.things, self.per.name())
    }

    /// `1.05 tensors per step (1.00 … 1.10)`
    pub fn with_interval(&self) -> String {
        let shown = |count: f64| significant(count, self.rate.value.0);
        self.alone() + &interval(self.rate, shown)
    }
}

/// An amount of memory that may be a fraction of a byte, or negative, with three digits.
pub fn amount(bytes: f64) -> String {
    let scale = Scale::of(bytes);
    let value = bytes / scale.divisor;
    format!("{} {}", significant(value, value), scale.unit)
}

/// A change of memory with the ends of its interval: `+1.50 GiB (+1.21 … +1.79)`. All three in the unit
/// of the largest, so that noise around nothing does not look like something.
pub fn change_with_interval(change: f64, low: f64, high: f64) -> String {
    let largest = [change, low, high].map(f64::abs).into_iter();
    let largest = largest.filter(|n| n.is_finite()).fold(0.0, f64::max);
    let scale = Scale::of(largest);
    let shown = |bytes: f64| signed(bytes / scale.divisor, largest / scale.divisor);
    let (change, low, high) = (shown(change), shown(low), shown(high));
    format!("{change} {} ({low} … {high})", scale.unit)
}

/// A change of memory alone: `+1.50 GiB`.
pub fn change(bytes: f64) -> String {
    let scale = Scale::of(bytes);
    let value = bytes / scale.divisor;
    format!("{} {}", signed(value, value), scale.unit)
}

/// With its sign, plus as well; nothing has none.
fn signed(number: f64, guide: f64) -> String {
    let text = significant(number, guide);
    let is_nothing = text.trim_matches(['0', '.']).is_empty();
    match number {
        n if n > 0.0 && !is_nothing => format!("+{text}"),
        _ => text,
    }
}

fn amount_per(bytes: f64, base: &str) -> String {
    format!("{} per {base}", amount(bytes))
}

/// Less than this is nothing that a process can take.
const PAGE: f64 = 4096.0;

/// Amounts below this are hard to picture: a larger base is chosen.
const PICTURED: f64 = 1048576.0;

/// The first base in which the growth can be pictured, else the last resort.
fn first_to_picture(
    mut bases: impl Iterator<Item = f64>,
    last_resort: f64,
    growth: impl Fn(f64) -> f64,
) -> f64 {
    bases
        .find(|&base| growth(base).abs() >= PICTURED)
        .unwrap_or(last_resort)
}

/// An interval that was not found is not printed as one.
fn interval(rate: Rate, shown: impl Fn(f64) -> String) -> String {
    if rate.low.0.is_finite() && rate.high.0.is_finite() {
        format!(" ({} … {})", shown(rate.low.0), shown(rate.high.0))
    } else {
        String::new()
    }
}

/// `number` with as many decimals as give `guide` three digits, so that an estimate and the ends of
/// its interval are equally precise.
fn significant(number: f64, guide: f64) -> String {
    let decimals = match guide.abs() {
        g if g >= 99.95 => 0,
        g if g >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        // Minus nothing is nothing.
        Some(rest) if rest.trim_matches(['0', '.']).is_empty() => rest.to_owned(),
        _ => text,
    }
}

struct Scale {
    unit: &'static str,
    divisor: f64,
}

impl Scale {
    fn of(bytes: f64) -> Scale {
        const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
        let mut scale = Scale {
            unit: UNITS[0],
            divisor: 1.0,
        };
        for unit in &UNITS[1..] {
            // 1,000 of a unit is one of the next: four digits are more than three.
            if bytes.abs() / scale.divisor < 999.5 {
                break;
            }
            scale = Scale {
                unit,
                divisor: scale.divisor * 1024.0,
            };
        }
        scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1048576.0;

    fn rate(value: f64, low: f64, high: f64) -> MemoryRate {
        let (value, low, high) = (value * MIB, low * MIB, high * MIB);
        let rate = Rate {
            value: AmountPerX(value),
            low: AmountPerX(low),
            high: AmountPerX(high),
        };
        MemoryRate::new(rate, XUnit::Step)
    }

    #[test]
    fn a_rate_prints_with_unit_base_and_interval() {
        let story = rate(165.2, 160.0, 171.1);
        assert_eq!(story.with_interval(), "165 MiB per step (160 … 171)");
        let slow = rate(2.061, 2.03, 2.09);
        assert_eq!(slow.with_interval(), "2.06 MiB per step (2.03 … 2.09)");
        let unsure = rate(0.2, -0.1, 0.5);
        assert_eq!(unsure.with_interval(), "205 KiB per step (-102 … 512)");
        let unbounded = rate(2.0, f64::NEG_INFINITY, 3.0);
        assert_eq!(unbounded.with_interval(), "2.00 MiB per step");
    }

    #[test]
    fn the_other_bases_are_named_too() {
        let story = rate(165.2, 160.0, 171.1);
        assert_eq!(
            story.conversions(Some(Seconds(9.4))),
            ["1.61 GiB per 10 steps", "1.03 GiB per minute"]
        );
        assert_eq!(story.conversions(None), ["1.61 GiB per 10 steps"]);
        let slow = rate(0.02, 0.01, 0.03);
        assert_eq!(
            slow.conversions(Some(Seconds(60.0))),
            ["2.00 MiB per 100 steps", "1.20 MiB per hour"]
        );
        let of_time = MemoryRate::new(story.rate, XUnit::Second);
        assert_eq!(of_time.conversions(None), ["9.68 GiB per minute"]);
    }

    #[test]
    fn a_bound_is_growth_or_nothing() {
        assert_eq!(rate(0.1, -0.2, 0.4).at_most().unwrap(), "410 KiB per step");
        let tiny = 0.18 / 1048576.0;
        let of_many = "17.6 KiB per 100,000 steps";
        assert_eq!(rate(0.0, 0.0, tiny).at_most().unwrap(), of_many);
        assert_eq!(rate(-0.3, -0.4, -0.2).at_most(), None);
        assert_eq!(rate(0.1, 0.0, f64::INFINITY).at_most(), None);
    }

    #[test]
    fn amounts_have_three_digits() {
        let printed = [0.0, 0.3, -1500.0, 1023.0 * MIB, 12.34 * MIB].map(amount);
        assert_eq!(
            printed,
            ["0.00 B", "0.30 B", "-1.46 KiB", "1.00 GiB", "12.3 MiB"]
        );
    }

    #[test]
    fn what_is_counted_is_named() {
        let rate = Rate {
            value: AmountPerX(1.05),
            low: AmountPerX(1.0),
            high: AmountPerX(1.1),
        };
        let tensors = CountRate::new(rate, XUnit::Step, "tensors");
        assert_eq!(
            tensors.with_interval(),
            "1.05 tensors per step (1.00 … 1.10)"
        );
    }

    #[test]
    fn a_change_has_its_sign_and_one_unit_for_all() {
        let gib = 1073741824.0;
        assert_eq!(
            change_with_interval(1.5 * gib, 1.21 * gib, 1.79 * gib),
            "+1.50 GiB (+1.21 … +1.79)"
        );
        let mib = gib / 1024.0;
        assert_eq!(
            change_with_interval(-0.1 * mib, -300.0 * mib, 299.0 * mib),
            "0 MiB (-300 … +299)"
        );
        assert_eq!(change(-2.5 * mib), "-2.50 MiB");
    }
}
