//! The numbers of a run that runs are compared by, and of several repeats together.

use std::collections::BTreeMap;

use leveloff_model::process::Role;

use crate::observation::XUnit;
use crate::run_curves::{RunCurves, Series};
use crate::speed;
use crate::units::{Amount, X};
use crate::verdict::{Kind, RunVerdict, Verdict};

/// Something that runs are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// Memory in the last fifth of the stretch.
    Level,
    /// The highest memory that lasted for two samples.
    Peak,
    /// Growth at the end, in bytes for each unit of x.
    Growth,
    /// Memory when the run began to count: the model is loaded.
    Baseline,
    /// Where it levelled off.
    WarmupEnd,
    /// Steps, or what else x counts, in a second.
    Speed,
    /// Memory of a role in the last fifth.
    Role(Role),
    /// A kind of memory in the last fifth.
    Kind(Kind),
}

/// One run in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct RunProfile {
    /// What x counts.
    pub unit: XUnit,
    /// How far it went.
    pub until: X,
    /// What is said of it.
    pub verdict: Verdict,
    /// Points that it was judged by.
    pub points: u64,
    /// What is known.
    pub measured: BTreeMap<Quantity, Measured>,
}

/// A number, and how far off it may be for reasons that lie within the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

/// Repeats of the same run.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// What x counts.
    pub unit: XUnit,
    /// Whether some of them count something else.
    pub is_mixed: bool,
    /// Points of the one with the fewest.
    pub points: u64,
    /// How far the shortest went.
    pub until: X,
    /// How far the longest went.
    pub longest: X,
    /// How many runs.
    pub runs: u32,
    /// How many of them leak.
    pub leaks: u32,
    /// How many of them levelled off.
    pub levels: u32,
    /// What is known of them together.
    pub measured: BTreeMap<Quantity, Repeated>,
}

/// A number that was measured once in each of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repeated {
    /// In how many runs.
    pub runs: u32,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation; `None` of one.
    pub spread: Option<f64>,
    /// The mean standard error within a run.
    pub error: f64,
}

/// The interval of a rate reaches about so many standard errors to either side.
const RATE_INTERVAL_REACH: f64 = 3.0;

/// Where a plateau began is known to about this share of where it began.
const WARMUP_END_ERROR: f64 = 0.1;

impl Quantity {
    /// Whether it is an amount of memory, and not a rate or a place.
    pub fn is_memory(self) -> bool {
        !matches!(
            self,
            Quantity::Growth | Quantity::WarmupEnd | Quantity::Speed
        )
    }

    /// Whether more of it is a regression by itself; the others only explain one.
    pub fn decides(self) -> bool {
        matches!(self, Quantity::Level | Quantity::Peak | Quantity::Growth)
    }
}

impl RunProfile {
    /// The numbers of a run.
    pub fn of(verdict: &RunVerdict, curves: &RunCurves) -> RunProfile {
        let mut measured = BTreeMap::new();
        let noise = verdict.memory.noise.0;
        let mut set = |quantity: Quantity, value: Option<f64>, error: f64| {
            if let Some(value) = value {
                measured.insert(quantity, Measured { value, error });
            }
        };
        let plain = |amount: Option<Amount>| amount.map(|amount| amount.0);
        // The median of a fifth of the points, whose neighbours are alike.
        let late = (0.2 * verdict.memory.points as f64).max(1.0);
        let alike = verdict.memory.autocorrelation.clamp(0.0, 0.95);
        let settled = noise * (1.6 * (1.0 + alike) / (1.0 - alike) / late).sqrt().min(1.0);
        set(
            Quantity::Level,
            plain(curves.settled(Series::Memory)),
            settled,
        );
        set(Quantity::Peak, plain(curves.lasting_peak()), noise);
        set(
            Quantity::Baseline,
            plain(curves.baseline(Series::Memory)),
            noise,
        );
        let since = verdict.memory.level_since_x;
        let since = since.filter(|_| verdict.memory.verdict.is_level());
        let since = since.map(|since| since.0);
        set(
            Quantity::WarmupEnd,
            since,
            WARMUP_END_ERROR * since.unwrap_or(0.0).abs(),
        );
        if let Some(rate) = verdict.memory.rate {
            let error = (rate.high.0 - rate.low.0) / (2.0 * RATE_INTERVAL_REACH);
            set(Quantity::Growth, Some(rate.value.0), error);
        }
        if let Some(pace) = speed::pace(curves, verdict.x_unit) {
            let speed = 1.0 / pace.value;
            set(
                Quantity::Speed,
                Some(speed),
                speed * pace.error / pace.value,
            );
        }
        for series in curves.series() {
            let quantity = match series {
                Series::Role(role) => Quantity::Role(role),
                Series::Kind(kind) if series.is_bytes() => Quantity::Kind(kind),
                _ => continue,
            };
            set(quantity, plain(curves.settled(series)), settled);
        }
        RunProfile {
            unit: verdict.x_unit,
            until: verdict.span.map_or(X(0.0), |(_, last)| last),
            verdict: verdict.verdict,
            points: verdict.points,
            measured,
        }
    }
}

impl Side {
    /// Several runs together; `None` of none. What only some of them know is left to those.
    pub fn of(runs: &[RunProfile]) -> Option<Side> {
        let first = runs.first()?;
        let count = |is: fn(Verdict) -> bool| {
            let these = runs.iter().filter(|run| is(run.verdict)).count();
            u32::try_from(these).unwrap_or(u32::MAX)
        };
        let mut values: BTreeMap<Quantity, Vec<Measured>> = BTreeMap::new();
        for run in runs {
            for (&quantity, &measured) in &run.measured {
                values.entry(quantity).or_default().push(measured);
            }
        }
        Some(Side {
            unit: first.unit,
            is_mixed: runs.iter().any(|run| run.unit != first.unit),
            points: runs.iter().map(|run| run.points).min().unwrap_or(0),
            until: runs
                .iter()
                .map(|run| run.until)
                .fold(X(f64::INFINITY), X::min),
            longest: runs.iter().map(|run| run.until).fold(X(0.0), X::max),
            runs: count(|_| true),
            leaks: count(Verdict::is_alarm),
            levels: count(Verdict::is_level),
            measured: values
                .into_iter()
                .map(|(quantity, values)| (quantity, Repeated::of(&values)))
                .collect(),
        })
    }

    /// The number, if it is known of at least one run.
    pub fn get(&self, quantity: Quantity) -> Option<Repeated> {
        self.measured.get(&quantity).copied()
    }
}

impl Repeated {
    /// At least one value.
    fn of(values: &[Measured]) -> Repeated {
        let n = values.len() as f64;
        let mean = values.iter().map(|measured| measured.value).sum::<f64>() / n;
        let squares = values
            .iter()
            .map(|measured| (measured.value - mean).powi(2));
        let spread = (values.len() > 1).then(|| (squares.sum::<f64>() / (n - 1.0)).sqrt());
        Repeated {
            runs: u32::try_from(values.len()).unwrap_or(u32::MAX),
            mean,
            spread,
            error: values.iter().map(|measured| measured.error).sum::<f64>() / n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::LevelGrade;

    fn profile(level: f64, until: f64, verdict: Verdict) -> RunProfile {
        let measured = Measured {
            value: level,
            error: 1.0,
        };
        RunProfile {
            unit: XUnit::Step,
            until: X(until),
            verdict,
            points: 300,
            measured: [(Quantity::Level, measured)].into(),
        }
    }

    #[test]
    fn repeats_have_a_mean_and_a_spread_and_one_run_has_none() {
        let runs = [
            profile(10.0, 300.0, Verdict::Level(LevelGrade::Confirmed)),
            profile(12.0, 280.0, Verdict::Level(LevelGrade::Confirmed)),
            profile(14.0, 310.0, Verdict::WarmingUp),
        ];
        let side = Side::of(&runs).unwrap();
        assert_eq!((side.runs, side.levels, side.leaks), (3, 2, 0));
        assert_eq!((side.until, side.longest), (X(280.0), X(310.0)));
        let level = side.get(Quantity::Level).unwrap();
        assert_eq!((level.mean, level.spread), (12.0, Some(2.0)));
        let alone = Side::of(&runs[..1]).unwrap();
        assert_eq!(alone.get(Quantity::Level).unwrap().spread, None);
        assert!(Side::of(&[]).is_none());
    }
}
