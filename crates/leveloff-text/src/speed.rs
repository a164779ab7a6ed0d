//! How fast a run goes, in words.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::speed::Speed;

/// `20.1 steps per second (19.8 … 20.4)`
pub fn speed_with_interval(speed: Speed, unit: XUnit) -> String {
    let [value, low, high] = [speed.value, speed.low, speed.high].map(three_digits);
    format!("{value} {}s per second ({low} … {high})", unit.name())
}

/// `20.1`, `0.0123`, `1530`
pub fn three_digits(value: f64) -> String {
    if !value.is_finite() || value <= 0.0 {
        return "0".to_owned();
    }
    let places = (2.0 - value.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_say_enough() {
        let printed = [20.14, 0.012_345, 1530.4, 9.999, 0.0].map(three_digits);
        assert_eq!(printed, ["20.1", "0.0123", "1530", "10.00", "0"]);
    }

    #[test]
    fn a_speed_has_its_interval() {
        let speed = Speed {
            value: 20.14,
            low: 19.8,
            high: 20.4,
        };
        let words = speed_with_interval(speed, XUnit::Step);
        assert_eq!(words, "20.1 steps per second (19.8 … 20.4)");
    }
}
