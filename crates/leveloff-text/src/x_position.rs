//! Where on the x axis something is, in words: never a number without what it counts.

use std::fmt;

use leveloff_classifier::observation::{Moment, XUnit};
use leveloff_classifier::units::X;
use leveloff_model::units::Seconds;

use crate::number::thousands;

/// A position on the x axis: `step 9,400`, `epoch 2.5`, `minute 12`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct XPosition {
    x: X,
    unit: XUnit,
}

impl XPosition {
    /// The position `x`, counted in `unit`.
    pub fn new(x: X, unit: XUnit) -> XPosition {
        XPosition { x, unit }
    }

    /// With what it may be instead: `step 168 (163 … 173)`, in the same unit throughout. Without an
    /// upper end: `step 168 (163 or later)`.
    pub fn with_range(self, low: X, high: Option<X>) -> String {
        let scale = self.scale();
        let low = scale.number(low);
        match high.filter(|high| high.0.is_finite()) {
            Some(high) => format!("{self} ({low} … {})", scale.number(high)),
            None => format!("{self} ({low} or later)"),
        }
    }

    /// The word of the unit that it is printed in: `step`, `minute`.
    pub fn word(self) -> &'static str {
        self.scale().word
    }

    /// Another position as a number in the same unit.
    pub fn number_of(self, x: X) -> String {
        self.scale().number(x)
    }

    fn scale(self) -> Scale {
        match self.unit {
            XUnit::Second => Scale::of_time(self.x.0),
            XUnit::Epoch => Scale::plain(self.unit.name(), 1),
            unit => Scale::plain(unit.name(), 0),
        }
    }
}

impl fmt::Display for XPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.scale();
        f.pad(&format!("{} {}", scale.word, scale.number(self.x)))
    }
}

/// A moment of a run: `step 88`; `minute 12` where the run counts nothing.
pub fn moment_words(moment: Moment, unit: XUnit) -> String {
    match (moment.x(unit), moment.t) {
        (Some(x), _) => XPosition::new(X(x), unit).to_string(),
        (None, Some(t)) => XPosition::new(X(t.0), XUnit::Second).to_string(),
        (None, None) => "the first sample".to_owned(),
    }
}

/// How much of the x axis: `90 steps`, `12 min`.
pub fn extent(length: X, unit: XUnit) -> String {
    let X(length) = length;
    match unit {
        XUnit::Second => Seconds(length).to_string(),
        _ if whole(length, 0) == "1" => format!("1 {}", unit.name()),
        XUnit::Epoch => format!("{} epochs", whole(length, 1)),
        _ => format!("{} {}s", whole(length, 0), unit.name()),
    }
}

/// The stretch that was judged: `steps 10–80`, and for time, whose zero means little, `41 min`.
pub fn stretch((first, last): (X, X), unit: XUnit) -> String {
    match unit {
        XUnit::Second => Seconds((last - first).0).to_string(),
        _ if first == last => XPosition::new(last, unit).to_string(),
        _ => {
            let decimals = usize::from(unit == XUnit::Epoch);
            let name = unit.name();
            format!(
                "{name}s {}–{}",
                whole(first.0, decimals),
                whole(last.0, decimals)
            )
        }
    }
}

/// The unit and the precision in which a position is printed.
#[derive(Debug, Clone, Copy)]
struct Scale {
    word: &'static str,
    divisor: f64,
    decimals: usize,
}

impl Scale {
    fn plain(word: &'static str, decimals: usize) -> Scale {
        Scale {
            word,
            divisor: 1.0,
            decimals,
        }
    }

    /// Seconds up to two minutes, minutes up to two hours, hours up to two days.
    fn of_time(seconds: f64) -> Scale {
        let (word, divisor) = match seconds {
            s if s < 120.0 => ("second", 1.0),
            s if s < 7200.0 => ("minute", 60.0),
            s if s < 172_800.0 => ("hour", 3600.0),
            _ => ("day", 86_400.0),
        };
        Scale {
            word,
            divisor,
            // A whole second says little of the first ten.
            decimals: usize::from(divisor > 1.0 || seconds < 10.0),
        }
    }

    fn number(&self, x: X) -> String {
        whole(x.0 / self.divisor, self.decimals)
    }
}

/// Rounded to so many decimals, without a trailing zero fraction, thousands set apart.
fn whole(x: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", x.abs());
    let (integer, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    // A number too large for a count is printed as it is.
    let integer = integer
        .parse()
        .map_or_else(|_| integer.to_owned(), thousands);
    let sign = if x < 0.0 && !text.trim_matches(['0', '.']).is_empty() {
        "-"
    } else {
        ""
    };
    match fraction {
        "" => format!("{sign}{integer}"),
        fraction => format!("{sign}{integer}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(x: f64, unit: XUnit) -> String {
        XPosition::new(X(x), unit).to_string()
    }

    #[test]
    fn a_position_says_what_it_counts() {
        assert_eq!(place(9400.4, XUnit::Step), "step 9,400");
        assert_eq!(place(2.5, XUnit::Epoch), "epoch 2.5");
        assert_eq!(place(3.0, XUnit::Epoch), "epoch 3");
        assert_eq!(place(0.31, XUnit::Second), "second 0.3");
        assert_eq!(place(45.0, XUnit::Second), "second 45");
        assert_eq!(place(750.0, XUnit::Second), "minute 12.5");
        assert_eq!(place(90_000.0, XUnit::Second), "hour 25");
        assert_eq!(place(-0.2, XUnit::Step), "step 0");
        assert_eq!(place(1e300, XUnit::Step).len(), "step ".len() + 301);
    }

    #[test]
    fn a_range_is_in_the_unit_of_its_middle() {
        let step = XPosition::new(X(168.0), XUnit::Step);
        assert_eq!(
            step.with_range(X(163.0), Some(X(173.0))),
            "step 168 (163 … 173)"
        );
        assert_eq!(step.with_range(X(163.0), None), "step 168 (163 or later)");
        let minute = XPosition::new(X(150.0), XUnit::Second);
        assert_eq!(
            minute.with_range(X(90.0), Some(X(6000.0))),
            "minute 2.5 (1.5 … 100)"
        );
    }

    #[test]
    fn lengths_and_stretches_are_counted_in_words() {
        assert_eq!(extent(X(1.0), XUnit::Step), "1 step");
        assert_eq!(extent(X(1200.0), XUnit::Iteration), "1,200 iterations");
        assert_eq!(extent(X(720.0), XUnit::Second), "12 min");
        assert_eq!(stretch((X(10.0), X(80.0)), XUnit::Step), "steps 10–80");
        assert_eq!(stretch((X(10.0), X(10.0)), XUnit::Step), "step 10");
        assert_eq!(stretch((X(100.0), X(145.0)), XUnit::Second), "45 s");
    }
}
