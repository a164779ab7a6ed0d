//! Baseline × candidate → what changed, and whether it is more than noise.
//!
//! The same training never needs the same memory twice: threads race, allocators keep what they
//! like. How much two repeats differ is what a difference must be held against. With a few repeats
//! their own spread is a poor estimate of it, with one there is none; so a usual spread is counted as
//! if it had been seen in a few runs more. That is the moderated t-test of Smyth (2004,
//! doi 10.2202/1544-6115.1027) with the prior stated instead of estimated.

mod line_changes;

pub use line_changes::{LineChange, LineRate, line_changes};

use crate::judge::{self, material};
use crate::observation::XUnit;
use crate::profile::{Quantity, Repeated, Side};
use crate::stats::student_quantile;

/// Two sides, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What x counts; `None` when one side counts something else than the other.
    pub unit: Option<XUnit>,
    /// The earlier side.
    pub before: Side,
    /// The later side.
    pub after: Side,
    /// Each quantity that both know, the ones that decide first.
    pub differences: Vec<Difference>,
    /// What it comes to.
    pub outcome: Outcome,
    /// The reason, when a leak appeared or disappeared; the differences show the rest.
    pub leak: LeakChange,
}

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No difference that is more than noise and matters.
    Same,
    /// Less memory, or a leak is gone.
    Better,
    /// More memory, or a leak came.
    Worse,
    /// Undecided: too few repeats agree.
    Undecided,
}

/// Whether a leak came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeakChange {
    /// Neither.
    None,
    /// More than half of the runs leak now, and before they were level.
    Came,
    /// The other way round.
    Went,
    /// Both sides leak.
    Stayed,
    /// One side leaks; the other is undecided.
    Unclear,
    /// Some of the repeats leak, and not more than half.
    Disputed,
}

/// One quantity, before and after.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Which.
    pub quantity: Quantity,
    /// Before.
    pub before: Repeated,
    /// After.
    pub after: Repeated,
    /// After less before.
    pub change: f64,
    /// The lower end of the interval of the change.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// A change less than this does not matter.
    pub material: f64,
    /// What it comes to.
    pub finding: ChangeFinding,
}

/// What a difference comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeFinding {
    /// No more than noise.
    Noise,
    /// More than noise, but less than matters.
    Immaterial,
    /// It became more.
    More,
    /// It became less.
    Less,
}

/// How sure an interval is. A check is made at every change of the code, so one in a thousand is a
/// false alarm every few years, and one in a hundred one every few weeks.
pub const CONFIDENCE: f64 = 0.999;

/// With fewer points nothing can be said of a run, and so not of two.
pub const FEWEST_POINTS: u64 = 6;

/// Repeats of a training on one machine are taken to differ by this share of their memory. Seen: 0.01 to
/// 0.5 % with real torch, 1.5 % where loader workers copy on write, and 1.5 % with the reference trainer,
/// whose 10 MiB make an allocator's grain large (`scripts/bench/check`).
pub const USUAL_SPREAD: f64 = 0.01;

/// And by no less than the grain of an allocator, in bytes.
const SMALLEST_SPREAD: f64 = 1e6;

/// The highest of all samples differs more than their median.
const PEAK_SPREADS: f64 = 2.0;

/// Repeats of a training differ by this share of their pace, on a machine that does other work as well.
pub(crate) const PACE_SPREAD: f64 = 0.03;

/// A change of speed below this share does not matter.
const MATERIAL_SPEED: f64 = 0.05;

/// The usual spread counts as if it had been seen in so many runs more than one.
const USUAL_SPREAD_WEIGHT: f64 = 8.0;

/// Compares what came after with what was before.
///
/// ```
/// use leveloff_classifier::compare::{Outcome, compare};
/// use leveloff_classifier::observation::{Observation, XUnit};
/// use leveloff_classifier::profile::{RunProfile, Side};
/// use leveloff_classifier::run_analysis::RunAnalysis;
/// use leveloff_model::recording::StatedFacts;
/// use leveloff_model::units::{Bytes, Step};
///
/// let run_of = |memory: Bytes| {
///     let mut run = RunAnalysis::new(XUnit::Step, &StatedFacts::default());
///     for step in 1..=400 {
///         run.observe(&Observation::at_step(Step(step), memory));
///     }
///     RunProfile::of(&run.verdict().unwrap(), run.curves())
/// };
/// let before = Side::of(&[run_of(Bytes(8_000_000_000)), run_of(Bytes(8_010_000_000))]).unwrap();
/// let after = Side::of(&[run_of(Bytes(9_500_000_000))]).unwrap();
/// assert_eq!(compare(&before, &after).outcome, Outcome::Worse);
/// assert_eq!(compare(&before, &before).outcome, Outcome::Same);
/// ```
pub fn compare(before: &Side, after: &Side) -> Comparison {
    let is_mixed = before.is_mixed || after.is_mixed;
    let unit = (before.unit == after.unit && !is_mixed).then_some(before.unit);
    let mut differences: Vec<Difference> = before
        .measured
        .keys()
        .filter(|quantity| unit.is_some() || quantity.is_memory())
        .filter_map(|&quantity| difference(quantity, before, after))
        .collect();
    differences.sort_by_key(|difference| difference.quantity);
    let leak = leak_change(before, after);
    Comparison {
        unit,
        outcome: match before.points.min(after.points) {
            0..FEWEST_POINTS => Outcome::Undecided,
            _ => outcome(leak, &differences),
        },
        leak,
        differences,
        before: before.clone(),
        after: after.clone(),
    }
}

impl Comparison {
    /// The difference in a quantity, if both sides know it.
    pub fn of(&self, quantity: Quantity) -> Option<&Difference> {
        let is = |difference: &&Difference| difference.quantity == quantity;
        self.differences.iter().find(is)
    }
}

fn leak_change(before: &Side, after: &Side) -> LeakChange {
    match (Leaks::of(before), Leaks::of(after)) {
        (Leaks::No, Leaks::Yes) => LeakChange::Came,
        (Leaks::Yes, Leaks::Yes) => LeakChange::Stayed,
        (Leaks::Yes, Leaks::No) => LeakChange::Went,
        (_, Leaks::Perhaps) if after.leaks > 0 => LeakChange::Disputed,
        (Leaks::Perhaps, Leaks::Yes) | (Leaks::Yes, Leaks::Perhaps) => LeakChange::Unclear,
        (Leaks::No | Leaks::Perhaps, Leaks::No | Leaks::Perhaps) => LeakChange::None,
    }
}

/// Whether a side leaks. What is warming up or undecided may.
enum Leaks {
    Yes,
    No,
    Perhaps,
}

impl Leaks {
    fn of(side: &Side) -> Leaks {
        if 2 * side.leaks > side.runs {
            Leaks::Yes
        } else if side.leaks == 0 && 2 * side.levels > side.runs {
            Leaks::No
        } else {
            Leaks::Perhaps
        }
    }
}

/// A leak speaks first: while memory grows, its level only says how long one has waited.
fn outcome(leak: LeakChange, differences: &[Difference]) -> Outcome {
    let found = |finding: ChangeFinding| {
        let mut deciding = differences.iter().filter(|d| d.quantity.decides());
        deciding.any(|difference| difference.finding == finding)
    };
    match leak {
        LeakChange::Came => Outcome::Worse,
        _ if found(ChangeFinding::More) => Outcome::Worse,
        LeakChange::Disputed | LeakChange::Unclear => Outcome::Undecided,
        LeakChange::Went => Outcome::Better,
        _ if found(ChangeFinding::Less) => Outcome::Better,
        _ => Outcome::Same,
    }
}

fn difference(quantity: Quantity, before: &Side, after: &Side) -> Option<Difference> {
    let total = before
        .get(Quantity::Level)?
        .mean
        .max(after.get(Quantity::Level)?.mean);
    let scale = Scale::of(quantity, total, before, after);
    let (was, is) = (before.get(quantity)?, after.get(quantity)?);
    let change = is.mean - was.mean;
    let reach = reach(was, is, scale.usual_spread);
    let (low, high) = (change - reach, change + reach);
    let finding = if low <= 0.0 && high >= 0.0 {
        ChangeFinding::Noise
    } else if change.abs() < scale.material {
        ChangeFinding::Immaterial
    } else if change > 0.0 {
        ChangeFinding::More
    } else {
        ChangeFinding::Less
    };
    Some(Difference {
        quantity,
        before: was,
        after: is,
        change,
        low,
        high,
        material: scale.material,
        finding,
    })
}

/// What is usual and what matters for a quantity.
struct Scale {
    usual_spread: f64,
    material: f64,
}

impl Scale {
    fn of(quantity: Quantity, total: f64, before: &Side, after: &Side) -> Scale {
        let material = material(total, judge::Quantity::Memory);
        let of_memory = Scale {
            // A tiny run has a finer grain.
            usual_spread: (USUAL_SPREAD * total).max(SMALLEST_SPREAD.min(0.5 * material)),
            material,
        };
        match quantity {
            Quantity::Peak => Scale {
                usual_spread: PEAK_SPREADS * of_memory.usual_spread,
                ..of_memory
            },
            Quantity::Growth => {
                // Growth matters when it adds up to something over the stretch that was seen.
                let stretch = before.until.min(after.until).0.max(1.0);
                Scale {
                    usual_spread: of_memory.usual_spread / stretch,
                    material: of_memory.material / stretch,
                }
            }
            Quantity::WarmupEnd => {
                let stretch = before.until.min(after.until).0.max(1.0);
                Scale {
                    usual_spread: 0.1 * stretch,
                    material: 0.1 * stretch,
                }
            }
            Quantity::Speed => {
                let speed = before.get(quantity).map_or(0.0, |speed| speed.mean);
                Scale {
                    usual_spread: PACE_SPREAD * speed,
                    material: MATERIAL_SPEED * speed,
                }
            }
            _ => of_memory,
        }
    }
}

/// How far the interval of the change reaches to either side.
fn reach(before: Repeated, after: Repeated, usual_spread: f64) -> f64 {
    let (n, m) = (f64::from(before.runs), f64::from(after.runs));
    let seen = |side: Repeated, n: f64| {
        let spread = side.spread.unwrap_or(0.0);
        (n - 1.0) * spread * spread
    };
    let freedom = USUAL_SPREAD_WEIGHT + (n - 1.0) + (m - 1.0);
    let usual = USUAL_SPREAD_WEIGHT * usual_spread * usual_spread;
    let variance = (usual + seen(before, n) + seen(after, m)) / freedom;
    // Repeats of a coarse measurement may agree by chance; each stays as uncertain as it is.
    let within = before.error * before.error / n + after.error * after.error / m;
    let error = (variance * (1.0 / n + 1.0 / m) + within).sqrt();
    student_quantile(0.5 + 0.5 * CONFIDENCE, freedom) * error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Measured, RunProfile};
    use crate::units::X;
    use crate::verdict::{Grade, LevelGrade, Verdict};

    const GIB: f64 = 1073741824.0;

    fn run(level: f64, verdict: Verdict) -> RunProfile {
        let measured = |value: f64| Measured {
            value,
            error: 0.001 * value,
        };
        RunProfile {
            unit: XUnit::Step,
            until: X(300.0),
            verdict,
            points: 300,
            measured: [
                (Quantity::Level, measured(level)),
                (Quantity::Peak, measured(1.02 * level)),
            ]
            .into(),
        }
    }

    fn side(levels: &[f64]) -> Side {
        let runs: Vec<RunProfile> = levels
            .iter()
            .map(|level| run(level * GIB, Verdict::Level(LevelGrade::Confirmed)))
            .collect();
        Side::of(&runs).unwrap()
    }

    fn check(before: &[f64], after: &[f64], expected: Outcome) {
        let comparison = compare(&side(before), &side(after));
        assert_eq!(comparison.outcome, expected, "{before:?} {after:?}");
    }

    #[test]
    fn what_repeats_differ_by_is_no_regression() {
        check(&[10.0], &[10.0], Outcome::Same);
        check(&[10.0], &[10.4], Outcome::Same);
        check(&[10.0, 10.5, 9.5], &[10.7, 10.2, 10.9], Outcome::Same);
    }

    #[test]
    fn more_than_noise_is_and_less_is_better() {
        check(&[10.0], &[11.5], Outcome::Worse);
        check(&[10.0], &[8.5], Outcome::Better);
        check(&[10.0, 10.02, 9.99], &[10.5, 10.52, 10.49], Outcome::Worse);
    }

    #[test]
    fn repeats_that_agree_let_smaller_differences_be_seen() {
        let one = compare(&side(&[10.0]), &side(&[10.5]));
        let three = compare(&side(&[10.0, 10.01, 9.99]), &side(&[10.5, 10.51, 10.49]));
        let width = |comparison: &Comparison| {
            let level = comparison.of(Quantity::Level).unwrap();
            level.high - level.low
        };
        assert!(width(&three) < 0.5 * width(&one));
        assert_eq!(one.outcome, Outcome::Same);
        assert_eq!(three.outcome, Outcome::Worse);
    }

    #[test]
    fn a_certain_but_tiny_difference_is_reported_and_does_not_decide() {
        let many = |level: f64| side(&[level; 40]);
        let comparison = compare(&many(10.0), &many(10.15));
        let level = comparison.of(Quantity::Level).unwrap();
        assert_eq!(level.finding, ChangeFinding::Immaterial);
        assert_eq!(comparison.outcome, Outcome::Same);
    }

    #[test]
    fn a_leak_decides_when_most_repeats_have_it() {
        let leak = Verdict::Leak(Grade::Early);
        let sides = |leaks: usize| {
            let runs: Vec<RunProfile> = (0..3)
                .map(|n| {
                    run(
                        GIB,
                        if n < leaks {
                            leak
                        } else {
                            Verdict::Level(LevelGrade::Confirmed)
                        },
                    )
                })
                .collect();
            Side::of(&runs).unwrap()
        };
        let outcome = |before, after| compare(&sides(before), &sides(after)).outcome;
        assert_eq!(outcome(0, 3), Outcome::Worse);
        assert_eq!(outcome(0, 2), Outcome::Worse);
        assert_eq!(outcome(0, 1), Outcome::Undecided);
        assert_eq!(outcome(3, 0), Outcome::Better);
        assert_eq!(outcome(3, 3), Outcome::Same);
    }

    #[test]
    fn what_is_undecided_is_not_taken_for_level() {
        let one = |verdict| Side::of(&[run(GIB, verdict)]).unwrap();
        let leak = Verdict::Leak(Grade::Confirmed);
        let outcome = |before, after| compare(&one(before), &one(after)).outcome;
        assert_eq!(outcome(Verdict::WarmingUp, leak), Outcome::Undecided);
        assert_eq!(outcome(leak, Verdict::Undecided), Outcome::Undecided);
        assert_eq!(
            outcome(Verdict::WarmingUp, Verdict::Level(LevelGrade::Confirmed)),
            Outcome::Same
        );
        assert_eq!(
            outcome(Verdict::Level(LevelGrade::Confirmed), leak),
            Outcome::Worse
        );
    }

    #[test]
    fn much_more_memory_is_worse_whatever_the_repeats_say_of_leaks() {
        let before = side(&[1.0, 1.0, 1.0]);
        let verdicts = [
            Verdict::Leak(Grade::Early),
            Verdict::WarmingUp,
            Verdict::WarmingUp,
        ];
        let after: Vec<RunProfile> = verdicts.map(|verdict| run(20.0 * GIB, verdict)).into();
        let comparison = compare(&before, &Side::of(&after).unwrap());
        assert_eq!(comparison.outcome, Outcome::Worse);
    }

    #[test]
    fn one_sample_decides_nothing() {
        let mut few = side(&[20.0]);
        few.points = 1;
        assert_eq!(compare(&side(&[1.0]), &few).outcome, Outcome::Undecided);
    }

    #[test]
    fn steps_and_seconds_are_not_compared_as_places() {
        let mut after = side(&[10.0]);
        after.unit = XUnit::Second;
        let comparison = compare(&side(&[10.0]), &after);
        assert_eq!(comparison.unit, None);
        assert!(
            comparison
                .differences
                .iter()
                .all(|d| d.quantity.is_memory())
        );
    }
}
