//! A comparison with the names and curves of its runs: what every format prints.

use leveloff_classifier::compare::{Comparison, LineChange};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_curves::{RunCurves, Series};
use leveloff_classifier::units::X;

/// Two sides, compared, with what they are called.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// What the user calls the runs before.
    pub before_names: &'a [String],
    /// What the user calls the runs after.
    pub after_names: &'a [String],
    /// What changed.
    pub comparison: &'a Comparison,
    /// The curves of all runs, where they are at hand. A baseline holds none.
    pub curves: Option<BothCurves<'a>>,
    /// The lines of the program whose memory grew, where the runs of both sides were started with `--blame`.
    pub lines: Option<&'a [LineChange]>,
    /// What was left out, guessed or torn while reading.
    pub notes: &'a [String],
}

/// The curves of both sides.
#[derive(Debug, Clone, Copy)]
pub struct BothCurves<'a> {
    /// Of each run before.
    pub before: &'a [&'a RunCurves],
    /// Of each run after.
    pub after: &'a [&'a RunCurves],
}

/// Memory at a place that all runs have been at: the mean of each side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommonPosition {
    /// Where.
    pub x: f64,
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
}

impl<'a> Compared<'a> {
    /// A comparison alone, with nothing but its names.
    pub fn plain(
        before_names: &'a [String],
        after_names: &'a [String],
        comparison: &'a Comparison,
    ) -> Compared<'a> {
        Compared {
            before_names,
            after_names,
            comparison,
            curves: None,
            lines: None,
            notes: &[],
        }
    }

    /// Memory at round places, at most `most` of them, over the stretch that all runs have in common;
    /// its end included. Empty when there is none, or the sides count different things.
    pub fn common_places(&self, most: usize) -> Vec<CommonPosition> {
        let (Some(curves), Some(_)) = (self.curves, self.comparison.unit) else {
            return Vec::new();
        };
        let Some((from, until)) = curves.stretch() else {
            return Vec::new();
        };
        let places = round_places(from, until, most).into_iter();
        places.filter_map(|x| curves.at(x)).collect()
    }
}

impl BothCurves<'_> {
    fn all(&self) -> impl Iterator<Item = &RunCurves> {
        self.before.iter().chain(self.after).copied()
    }

    /// From where the last one began to count to where the first one stopped.
    fn stretch(&self) -> Option<(f64, f64)> {
        let mut common: Option<(f64, f64)> = None;
        for curves in self.all() {
            let counted = || curves.spans().filter_map(|span| span.x);
            let first = counted().map(|x| x.low).reduce(f64::min)?;
            let last = counted().map(|x| x.high).reduce(f64::max)?;
            let (from, until) = common.unwrap_or((first, last));
            common = Some((from.max(first), until.min(last)));
        }
        common.filter(|(from, until)| from <= until)
    }

    fn at(&self, x: f64) -> Option<CommonPosition> {
        Some(CommonPosition {
            x,
            before: mean(self.before, x)?,
            after: mean(self.after, x)?,
        })
    }
}

fn mean(runs: &[&RunCurves], x: f64) -> Option<f64> {
    let values: Option<Vec<f64>> = runs
        .iter()
        .map(|curves| Some(curves.around(Series::Memory, X(x), XUnit::Step)?.0))
        .collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// Multiples of 1, 2 or 5 times a power of ten, then the end.
fn round_places(from: f64, until: f64, most: usize) -> Vec<f64> {
    let room = most.max(3) as f64 - 2.0;
    let least = (until - from) / room;
    if !least.is_finite() || least <= 0.0 {
        return vec![until];
    }
    let power = 10f64.powf(least.log10().floor());
    let grain = [1.0, 2.0, 5.0, 10.0].map(|n| n * power);
    let grain = grain.into_iter().find(|g| *g >= least);
    let grain = grain.unwrap_or(10.0 * power);
    let first = (from / grain).ceil() as i64;
    let last = (until / grain).floor() as i64;
    let mut places: Vec<f64> = (first..=last).map(|n| n as f64 * grain).collect();
    // The end takes the place of a round one that is all but there.
    if places
        .last()
        .is_some_and(|last| until - last < 0.25 * grain)
    {
        places.pop();
    }
    places.push(until);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_round_ones_and_the_end_and_never_too_many() {
        assert_eq!(
            round_places(0.0, 299.0, 8),
            [0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 299.0]
        );
        assert_eq!(
            round_places(3.0, 9.0, 8),
            [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
        );
        assert_eq!(round_places(7.0, 7.0, 8), [7.0]);
        for until in 1..2000 {
            let places = round_places(0.5, f64::from(until), 8);
            assert!(
                places.len() <= 8 && places.is_sorted(),
                "{until}: {places:?}"
            );
        }
    }
}
