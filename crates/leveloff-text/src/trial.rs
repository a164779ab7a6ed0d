//! Trials in words: what each change does, what it means if the growth stops with it, and what a trial comes to.

mod answer;
mod arm;
mod progress;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::trial::{ArmResult, Effect, SpeedChange};

use crate::rate::change_with_interval;
use crate::speed::three_digits;

pub use answer::{Answer, TrialJob, answer};
pub use arm::{ArmWords, arm_words, change_by_hand, common_words, excluded_by, family_name};
pub use progress::{GoingRun, TrialProgress, progress_words, so_far};

/// A stable name, as in JSON.
pub fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Stops => "stops",
        Effect::Reduces => "reduces",
        Effect::None => "none",
        Effect::Undecided => "undecided",
    }
}

/// For tables.
pub fn effect_words(effect: Effect) -> &'static str {
    match effect {
        Effect::Stops => "growth stops",
        Effect::Reduces => "grows less",
        Effect::None => "no effect",
        Effect::Undecided => "undecided",
    }
}

/// `no effect, +1.01 MiB (+0.88 … +1.14) per step`
pub fn result_words(result: &ArmResult, unit: XUnit) -> String {
    let rate = result.growth;
    format!(
        "{}, {} per {}",
        effect_words(result.effect),
        change_with_interval(rate.value.0, rate.low.0, rate.high.0),
        unit.name()
    )
}

/// `12 % slower (8 … 16 %)`; a change that may be none is said as such.
pub fn speed_words(speed: SpeedChange) -> String {
    let percent = |share: f64| 100.0 * share;
    let SpeedChange { value, low, high } = speed;
    if low <= 0.0 && high >= 0.0 {
        let most = percent(low.abs().max(high));
        return format!("no change of speed beyond ±{most:.0} %");
    }
    let (word, low, high) = match value < 0.0 {
        true => ("slower", -high, -low),
        false => ("faster", low, high),
    };
    format!(
        "{:.0} % {word} ({:.0} … {:.0})",
        percent(value.abs()),
        percent(low),
        percent(high)
    )
}

/// The same for a table: `−12 ± 4 %`.
pub fn speed_cell(speed: SpeedChange) -> String {
    let value = format!("{:+.0}", 100.0 * speed.value);
    let value = match value.as_str() {
        "+0" | "-0" => "0".to_owned(),
        _ => value.replace('-', "−"),
    };
    let reach = (speed.high - speed.value).max(speed.value - speed.low);
    format!("{value} ± {:.0} %", 100.0 * reach)
}

/// The speed of the control runs: `20.1 / s`.
pub fn pace_cell(seconds: f64) -> String {
    format!("{} / s", three_digits(1.0 / seconds))
}

/// For narrow tables; `once` if it was not repeated, as it should be.
pub fn effect_cell(effect: Effect, is_unconfirmed: bool) -> String {
    let words = match effect {
        Effect::Stops => "stops",
        Effect::Reduces => "less",
        Effect::None => "no effect",
        Effect::Undecided => "undecided",
    };
    match is_unconfirmed {
        true => format!("{words}, once"),
        false => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_that_may_be_the_same_is_no_change() {
        let speed = |value, low, high| speed_words(SpeedChange { value, low, high });
        assert_eq!(speed(-0.12, -0.16, -0.08), "12 % slower (8 … 16)");
        assert_eq!(speed(0.25, 0.2, 0.3), "25 % faster (20 … 30)");
        assert_eq!(speed(0.01, -0.05, 0.07), "no change of speed beyond ±7 %");
    }
}
