//! The marker in words, and growth since then over steps or minutes.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::verdict::Verdict;
use leveloff_model::units::{ByteDelta, Seconds};
use leveloff_text::number::thousands;
use leveloff_text::rate::amount;

use crate::history::Axis;
use crate::run::{Marker, RunState};

/// What lies between the marker and now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stretch {
    /// So many steps.
    Steps(f64),
    /// So many minutes, where no steps are known.
    Minutes(f64),
    /// Nothing yet, or nothing that growth should be divided by.
    Nothing,
}

/// Since when growth is told: `step 10`, `0:30`, `the first sample`.
pub fn marker_words(run: &RunState) -> String {
    let Some(marker) = run.marker() else {
        return "the first sample".to_owned();
    };
    let first = run.history().extent(Axis::Time).map(|whole| whole.start);
    match marker.step {
        Some(step) => format!("step {}", thousands(step.0)),
        None if first == Some(marker.t.0) => "the first sample".to_owned(),
        None => clock(marker.t),
    }
}

/// What lies between the marker and now.
pub fn stretch(run: &RunState) -> Stretch {
    let (Some(marker), Some(sample)) = (run.marker(), run.sample()) else {
        return Stretch::Nothing;
    };
    if is_over_a_warmup(run, marker) {
        return Stretch::Nothing;
    }
    match (marker.step, sample.progress.step) {
        (Some(from), Some(to)) if to > from => Stretch::Steps((to.0 - from.0) as f64),
        (Some(_), _) => Stretch::Nothing,
        (None, _) if sample.t > marker.t => Stretch::Minutes((sample.t - marker.t).0 / 60.0),
        (None, _) => Stretch::Nothing,
    }
}

/// Of a run that is level, growth since before it was tells nothing of each step.
fn is_over_a_warmup(run: &RunState, marker: &Marker) -> bool {
    let Some(verdict) = run.verdict().filter(|it| it.verdict == Verdict::Level) else {
        return false;
    };
    let place = match verdict.x_unit {
        XUnit::Second => Some(marker.t.0),
        _ => marker.step.map(|step| step.0 as f64),
    };
    let since = verdict.judgement.level_since_x;
    place
        .zip(since)
        .is_some_and(|(place, since)| place < since.0)
}

impl Stretch {
    /// The heading of a column of growth over this.
    pub fn heading(self) -> &'static str {
        match self {
            Stretch::Steps(_) | Stretch::Nothing => "PER STEP",
            Stretch::Minutes(_) => "PER MINUTE",
        }
    }

    /// `+164 MiB/step`; `None` before there is anything to divide by.
    pub fn rate(self, growth: ByteDelta) -> Option<String> {
        let (length, unit) = match self {
            Stretch::Steps(steps) => (steps, "step"),
            Stretch::Minutes(minutes) => (minutes, "min"),
            Stretch::Nothing => return None,
        };
        let each = growth.0 as f64 / length;
        // A fraction of a byte is nothing.
        if each.abs() < 1.0 {
            return Some(format!("0 B/{unit}"));
        }
        let sign = if each > 0.0 { "+" } else { "" };
        Some(format!("{sign}{}/{unit}", amount(each)))
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

    #[test]
    fn a_rate_has_a_sign_and_its_base() {
        let steps = Stretch::Steps(10.0);
        assert_eq!(
            steps.rate(ByteDelta(1640 << 20)).as_deref(),
            Some("+164 MiB/step")
        );
        assert_eq!(
            steps.rate(ByteDelta(-(10 << 20))).as_deref(),
            Some("-1.00 MiB/step")
        );
        assert_eq!(steps.rate(ByteDelta(3)).as_deref(), Some("0 B/step"));
        assert_eq!(Stretch::Nothing.rate(ByteDelta(3)), None);
        let half = Stretch::Minutes(0.5);
        assert_eq!(
            half.rate(ByteDelta(1 << 20)).as_deref(),
            Some("+2.00 MiB/min")
        );
    }

    #[test]
    fn a_clock_runs_for_days() {
        let shown = [0.0, 432.9, 4032.0, 184_020.0].map(|t| clock(Seconds(t)));
        assert_eq!(shown, ["0:00", "7:12", "1:07:12", "2 d 03:07"]);
    }
}
