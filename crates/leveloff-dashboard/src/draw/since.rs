//! How fast growth goes, and the run's clock, in words.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_analysis::{Amounts, GrowthOrigin, RunAccount};
use leveloff_classifier::units::AmountPerX;
use leveloff_classifier::verdict::Verdict;
use leveloff_model::units::Seconds;
use leveloff_text::rate::change;

/// How fast memory grows now: `+164 MiB/step`; over time, for each minute. Around a level, what two
/// samples differ by is noise and no rate.
pub fn rate_now(memory: &Amounts, account: &RunAccount) -> Option<String> {
    let verdict = account.verdict.as_ref().map(|verdict| verdict.verdict);
    let is_noise =
        verdict.is_some_and(Verdict::is_level) && account.since.origin != GrowthOrigin::Marker;
    let rate = memory.rate.filter(|_| !is_noise)?;
    Some(rate_words(rate, account.unit()))
}

fn rate_words(AmountPerX(rate): AmountPerX, unit: XUnit) -> String {
    let (each, unit) = match unit {
        XUnit::Second => (60.0 * rate, "min"),
        unit => (rate, unit.name()),
    };
    // A fraction of a byte is nothing.
    match each.abs() < 1.0 {
        true => format!("0 B/{unit}"),
        false => format!("{}/{unit}", change(each)),
    }
}

/// A time of the recording as on a clock: `7:12`, `1:07:12`, `2 d 03:07`.
pub fn clock(t: Seconds) -> String {
    let whole = t.0.max(0.0) as u64;
    let (days, hours) = (whole / 86_400, whole / 3600 % 24);
    let (minutes, seconds) = (whole / 60 % 60, whole % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes}:{seconds:02}"),
        (0, _) => format!("{hours}:{minutes:02}:{seconds:02}"),
        _ => format!("{days} d {hours:02}:{minutes:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1048576.0;

    #[test]
    fn a_rate_has_a_sign_and_its_base() {
        assert_eq!(
            rate_words(AmountPerX(164.0 * MIB), XUnit::Step),
            "+164 MiB/step"
        );
        assert_eq!(
            rate_words(AmountPerX(-MIB), XUnit::Epoch),
            "-1.00 MiB/epoch"
        );
        assert_eq!(rate_words(AmountPerX(0.3), XUnit::Step), "0 B/step");
        assert_eq!(
            rate_words(AmountPerX(MIB / 30.0), XUnit::Second),
            "+2.00 MiB/min"
        );
    }

    #[test]
    fn a_clock_runs_for_days() {
        let shown = [0.0, 432.9, 4032.0, 184_020.0].map(|t| clock(Seconds(t)));
        assert_eq!(shown, ["0:00", "7:12", "1:07:12", "2 d 03:07"]);
    }
}
