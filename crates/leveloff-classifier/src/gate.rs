//! What a run must hold to pass a check.
//!
//! A gate fails only when the evidence is beyond doubt, passes when there is none against it, and is
//! open in between: a check that cries wolf is muted, and then guards nothing.
//!
//! A new gate takes three files: its rule here, its words in `gate.rs` of leveloff-text, and its option in
//! `args/check.rs` of the command. The configuration file gets a key of the same name.

use leveloff_model::units::{Bytes, Seconds};

use crate::compare::{Comparison, Outcome};
use crate::observation::XUnit;
use crate::run_curves::{RunCurves, Series};
use crate::units::{Amount, AmountPerX, X};
use crate::verdict::{Grade, Judgement, LevelGrade, Rate, RunVerdict, Shape, Verdict, WillFinish};

/// The requirements on a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gates {
    /// It must have levelled off by then.
    pub level_by: Option<Horizon>,
    /// It must not level off above this.
    pub max_level: Option<Bytes>,
    /// No sample may be above this.
    pub max_peak: Option<Bytes>,
    /// It must not grow faster than this.
    pub max_growth: Option<GrowthBound>,
    /// It must reach its planned end below the limit.
    pub will_finish: bool,
    /// Steps in an epoch, where they are known: growth may be bounded for each epoch.
    pub epoch_steps: Option<X>,
}

/// By when a run must have levelled off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Horizon {
    /// By a step that the user stated.
    Step(X),
    /// By a step that the check assumes: a run that counts no steps is not held to it.
    AssumedStep(X),
    /// By a time after the first sample.
    Time(Seconds),
}

/// The most that a run may grow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthBound {
    /// This amount…
    pub amount: Amount,
    /// …for each of these.
    pub per: XUnit,
}

/// One requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Gate {
    /// It does not leak.
    Leak,
    /// It levels off in time.
    LevelBy,
    /// It does not level off too high.
    MaxLevel,
    /// It does not grow too fast.
    MaxGrowth,
    /// It does not peak too high.
    MaxPeak,
    /// It reaches its planned end below the limit.
    WillFinish,
    /// It is not worse than before.
    Baseline,
}

/// How one of them went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateResult {
    /// Which.
    pub gate: Gate,
    /// How.
    pub outcome: CheckOutcome,
    /// What was measured and what it was held against; `None` for a comparison, which has a table of numbers.
    pub numbers: Option<GateNumbers>,
    /// The reason, where the numbers do not show it.
    pub reason: GateReason,
}

/// The numbers of a result, in the unit of its gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GateNumbers {
    /// Amounts of memory.
    Memory(MeasuredAndBound<Amount>),
    /// Growth; of a leak, that of the series that decided.
    Growth(MeasuredAndBound<AmountPerX>),
    /// Positions on x.
    Position(MeasuredAndBound<X>),
}

/// What was measured, and what it was held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredAndBound<T> {
    /// What was measured.
    pub measured: Option<T>,
    /// The bound.
    pub bound: Option<T>,
}

/// What a gate, a run or a whole check came to, better first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckOutcome {
    /// No evidence against the requirement.
    Passed,
    /// Undecided.
    Open,
    /// The requirement is certainly violated.
    Failed,
    /// A run could not be read. It is worse than a failure: a part of the runs must not pass for all of them.
    Broken,
}

/// Why a gate went as it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateReason {
    /// The numbers say it.
    Measured,
    /// The run itself is not decided.
    NotDecided,
    /// The interval holds the bound.
    TooCloseToCall,
    /// The run counts something else than the bound is for.
    OtherUnit,
    /// Nothing was measured that could be held against it.
    NotMeasured,
    /// No steps were read, and the bound is a step.
    NoSteps,
}

/// What the bound of a gate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundUnit {
    /// An amount of memory.
    Bytes,
    /// An amount of memory for each unit of x.
    BytesPerX,
    /// A whole number, such as of steps.
    Count,
}

/// Where a plateau begins is not known to the step: so much later is not too late.
const LATE: f64 = 1.1;

impl Gate {
    /// Every gate, in the order of the results.
    pub const ALL: [Gate; Gate::Baseline as usize + 1] = [
        Gate::Leak,
        Gate::LevelBy,
        Gate::MaxLevel,
        Gate::MaxGrowth,
        Gate::MaxPeak,
        Gate::WillFinish,
        Gate::Baseline,
    ];

    /// The unit of its bound, if the user states one: the option and the key of the configuration file have the
    /// name of the gate.
    pub fn bound_unit(self) -> Option<BoundUnit> {
        match self {
            Gate::MaxLevel | Gate::MaxPeak => Some(BoundUnit::Bytes),
            Gate::MaxGrowth => Some(BoundUnit::BytesPerX),
            Gate::LevelBy => Some(BoundUnit::Count),
            Gate::Leak | Gate::WillFinish | Gate::Baseline => None,
        }
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Gate::Leak => "leak",
            Gate::LevelBy => "level-by",
            Gate::MaxLevel => "max-level",
            Gate::MaxGrowth => "max-growth",
            Gate::MaxPeak => "max-peak",
            Gate::WillFinish => "will-finish",
            Gate::Baseline => "baseline",
        }
    }
}

impl CheckOutcome {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            CheckOutcome::Passed => "passed",
            CheckOutcome::Open => "undecided",
            CheckOutcome::Failed => "failed",
            CheckOutcome::Broken => "error",
        }
    }

    /// The same, with an open outcome counted as the user wants it.
    pub fn counted(self, open_counts_as: CheckOutcome) -> CheckOutcome {
        match self {
            CheckOutcome::Open => open_counts_as,
            outcome => outcome,
        }
    }
}

impl From<Verdict> for CheckOutcome {
    fn from(verdict: Verdict) -> CheckOutcome {
        match verdict {
            Verdict::Level(_) => CheckOutcome::Passed,
            Verdict::Leak(Grade::Early | Grade::Confirmed) => CheckOutcome::Failed,
            Verdict::Leak(Grade::Suspected) | Verdict::WarmingUp | Verdict::Undecided => {
                CheckOutcome::Open
            }
        }
    }
}

impl From<Outcome> for CheckOutcome {
    fn from(outcome: Outcome) -> CheckOutcome {
        match outcome {
            Outcome::Same | Outcome::Better => CheckOutcome::Passed,
            Outcome::Worse => CheckOutcome::Failed,
            Outcome::Undecided => CheckOutcome::Open,
        }
    }
}

impl GateReason {
    fn of_decision(outcome: CheckOutcome) -> GateReason {
        match outcome {
            CheckOutcome::Open => GateReason::NotDecided,
            _ => GateReason::Measured,
        }
    }
}

impl Gates {
    /// Checks a run against every requirement.
    ///
    /// ```
    /// use leveloff_classifier::gate::{Gate, CheckOutcome, Gates};
    /// use leveloff_classifier::observation::{Observation, XUnit};
    /// use leveloff_classifier::run_analysis::RunAnalysis;
    /// use leveloff_model::recording::StatedFacts;
    /// use leveloff_model::units::{Bytes, Step};
    ///
    /// let mut run = RunAnalysis::new(XUnit::Step, &StatedFacts::default());
    /// for step in 1..=400 {
    ///     run.observe(&Observation::at_step(Step(step), Bytes(8_000_000_000)));
    /// }
    /// let gates = Gates {
    ///     max_peak: Some(Bytes(6_000_000_000)),
    ///     ..Gates::default()
    /// };
    /// let results = gates.hold(&run.verdict().unwrap(), run.curves());
    /// let outcomes: Vec<_> = results.iter().map(|it| (it.gate, it.outcome)).collect();
    /// let (leak, peak) = (CheckOutcome::Passed, CheckOutcome::Failed);
    /// assert_eq!(outcomes, [(Gate::Leak, leak), (Gate::MaxPeak, peak)]);
    /// ```
    pub fn hold(&self, verdict: &RunVerdict, curves: &RunCurves) -> Vec<GateResult> {
        let mut results = vec![leak(verdict)];
        results.extend(self.level_by.and_then(|by| by.hold(verdict, curves)));
        let at_most = |gate: Gate, most: Bytes, measured: Option<Amount>| {
            GateResult::at_most(gate, GateNumbers::Memory, most.into(), measured)
        };
        if let Some(most) = self.max_level {
            let level = curves.settled(Series::Memory);
            results.push(at_most(Gate::MaxLevel, most, level));
        }
        if let Some(bound) = self.max_growth {
            results.push(growth(bound, self.epoch_steps, verdict));
        }
        if let Some(most) = self.max_peak {
            results.push(at_most(Gate::MaxPeak, most, curves.peak(Series::Memory)));
        }
        if self.will_finish {
            results.push(will_finish(verdict));
        }
        results
    }
}

impl Horizon {
    /// Only a run that is level can have levelled off too late; another one fails or is open as a leak.
    fn hold(self, verdict: &RunVerdict, curves: &RunCurves) -> Option<GateResult> {
        let unit = verdict.x_unit;
        let counts_steps = !matches!(unit, XUnit::Second | XUnit::Epoch);
        let by = match self {
            Horizon::Step(step) if !counts_steps => return Some(GateResult::no_steps(step)),
            Horizon::AssumedStep(_) if !counts_steps => None,
            Horizon::Step(step) | Horizon::AssumedStep(step) => Some(step),
            Horizon::Time(time) => curves.position_after(time, unit),
        };
        let by = by.filter(|_| matches!(verdict.verdict, Verdict::Level(_)))?;
        Some(level_by(by, verdict, curves))
    }
}

impl GateResult {
    /// A run that counts no steps cannot be held to one.
    fn no_steps(step: X) -> GateResult {
        GateResult {
            gate: Gate::LevelBy,
            outcome: CheckOutcome::Open,
            numbers: Some(GateNumbers::Position(MeasuredAndBound {
                measured: None,
                bound: Some(step),
            })),
            reason: GateReason::NoSteps,
        }
    }

    /// The gate on a comparison with earlier runs: nothing may be worse.
    pub fn of_comparison(comparison: &Comparison) -> GateResult {
        let outcome = CheckOutcome::from(comparison.outcome);
        GateResult {
            gate: Gate::Baseline,
            outcome,
            numbers: None,
            reason: GateReason::of_decision(outcome),
        }
    }

    fn at_most<T: Copy + PartialOrd>(
        gate: Gate,
        numbers: fn(MeasuredAndBound<T>) -> GateNumbers,
        bound: T,
        measured: Option<T>,
    ) -> GateResult {
        let (outcome, reason) = match measured {
            Some(measured) if measured > bound => (CheckOutcome::Failed, GateReason::Measured),
            Some(_) => (CheckOutcome::Passed, GateReason::Measured),
            None => (CheckOutcome::Open, GateReason::NotMeasured),
        };
        GateResult {
            gate,
            outcome,
            numbers: Some(numbers(MeasuredAndBound {
                measured,
                bound: Some(bound),
            })),
            reason,
        }
    }
}

impl GateNumbers {
    /// What was measured and the bound, as plain numbers.
    pub fn plain(self) -> (Option<f64>, Option<f64>) {
        match self {
            GateNumbers::Memory(of) => of.plain(|amount| amount.0),
            GateNumbers::Growth(of) => of.plain(|rate| rate.0),
            GateNumbers::Position(of) => of.plain(|x| x.0),
        }
    }
}

impl<T> MeasuredAndBound<T> {
    fn plain(self, number: fn(T) -> f64) -> (Option<f64>, Option<f64>) {
        (self.measured.map(number), self.bound.map(number))
    }
}

fn leak(verdict: &RunVerdict) -> GateResult {
    let outcome = match verdict.verdict {
        // Growth that would matter is not ruled out: a gate must not pass on that.
        Verdict::Level(LevelGrade::Early) => CheckOutcome::Open,
        verdict => CheckOutcome::from(verdict),
    };
    GateResult {
        gate: Gate::Leak,
        outcome,
        numbers: Some(GateNumbers::Growth(MeasuredAndBound {
            measured: verdict.judgement.rate.map(|rate| rate.value),
            bound: None,
        })),
        reason: GateReason::of_decision(outcome),
    }
}

fn will_finish(verdict: &RunVerdict) -> GateResult {
    let (outcome, measured, bound) = match verdict.will_finish {
        WillFinish::Yes(end) => (CheckOutcome::Passed, Some(end.memory), Some(end.limit)),
        WillFinish::No(met) => (CheckOutcome::Failed, None, Some(met.limit)),
        WillFinish::Unknown(_) => (CheckOutcome::Open, None, None),
    };
    GateResult {
        gate: Gate::WillFinish,
        outcome,
        numbers: Some(GateNumbers::Memory(MeasuredAndBound {
            measured,
            bound: bound.map(Amount::from),
        })),
        reason: GateReason::of_decision(outcome),
    }
}

/// A run that levelled off, but later than it should: gradually, and higher than it had ever been by
/// then. A lasting jump, such as the first evaluation's, and what rises and returns are no late warmup.
fn level_by(by: X, verdict: &RunVerdict, curves: &RunCurves) -> GateResult {
    let Judgement {
        level_since_x: since,
        material,
        ..
    } = verdict.memory;
    let unit = verdict.x_unit;
    let too_late = X(LATE * by.0);
    let grew_late = || {
        // Between two samples that lie far apart, the time of the growth is unknown.
        let reached = curves.peak_until(Series::Memory, too_late, unit)?;
        let by_then = reached.max(curves.around(Series::Memory, too_late, unit)?);
        Some(curves.settled(Series::Memory)? - by_then > material)
    };
    let gradually = matches!(
        verdict.shape,
        Shape::Saturating | Shape::Linear | Shape::Filling | Shape::Staircase
    );
    let is_late = since.is_some_and(|since| since > too_late);
    let outcome = match is_late && gradually && grew_late() == Some(true) {
        true => CheckOutcome::Failed,
        false => CheckOutcome::Passed,
    };
    GateResult {
        gate: Gate::LevelBy,
        outcome,
        numbers: Some(GateNumbers::Position(MeasuredAndBound {
            measured: since,
            bound: Some(by),
        })),
        reason: GateReason::Measured,
    }
}

fn growth(bound: GrowthBound, epoch_steps: Option<X>, verdict: &RunVerdict) -> GateResult {
    let Some(rate) = verdict.memory.rate else {
        // What shows no growth at all does not grow too fast.
        let none = verdict.verdict.is_level().then_some(AmountPerX(0.0));
        let bound = bound.amount / X(1.0);
        return GateResult::at_most(Gate::MaxGrowth, GateNumbers::Growth, bound, none);
    };
    let numbers = |bound| {
        Some(GateNumbers::Growth(MeasuredAndBound {
            measured: Some(rate.value),
            bound,
        }))
    };
    let Some(per) = units_in(bound.per, epoch_steps, verdict) else {
        return GateResult {
            gate: Gate::MaxGrowth,
            outcome: CheckOutcome::Open,
            numbers: numbers(None),
            reason: GateReason::OtherUnit,
        };
    };
    let bound = bound.amount / per;
    let (outcome, reason) = against(rate, bound);
    GateResult {
        gate: Gate::MaxGrowth,
        outcome,
        numbers: numbers(Some(bound)),
        reason,
    }
}

fn against(rate: Rate, bound: AmountPerX) -> (CheckOutcome, GateReason) {
    if rate.value <= bound {
        (CheckOutcome::Passed, GateReason::Measured)
    } else if rate.low > bound {
        (CheckOutcome::Failed, GateReason::Measured)
    } else {
        (CheckOutcome::Open, GateReason::TooCloseToCall)
    }
}

/// How many of the run's own units one of these is.
fn units_in(per: XUnit, epoch_steps: Option<X>, verdict: &RunVerdict) -> Option<X> {
    match (per, verdict.x_unit) {
        (per, unit) if per == unit => Some(X(1.0)),
        // Users call the row number of a table a step, whatever the table counts.
        (XUnit::Step, XUnit::Iteration | XUnit::Sample) => Some(X(1.0)),
        (XUnit::Epoch, XUnit::Step) => epoch_steps,
        (XUnit::Second, _) => verdict.pace.map(|pace| X(1.0 / pace.0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::recording::StatedFacts;

    use super::*;
    use crate::observation::Observation;
    use crate::run::RunJudge;

    const MIB: f64 = 1048576.0;

    /// A run of one number at each step, and what every gate says of it.
    fn held(gates: &Gates, steps: u32, memory: impl Fn(f64) -> f64) -> Vec<(Gate, CheckOutcome)> {
        let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
        let mut curves = RunCurves::new();
        for step in 0..steps {
            let wobble = f64::from(step * 7919 % 13) * 0.2;
            let observation = Observation {
                count: Some(f64::from(step)),
                t: Some(Seconds(2.0 * f64::from(step))),
                memory: Bytes(((memory(f64::from(step)) + wobble) * MIB) as u64),
                ..Observation::default()
            };
            judge.observe(&observation);
            curves.observe(&observation);
        }
        let results = gates.hold(&judge.verdict(), &curves);
        results.iter().map(|r| (r.gate, r.outcome)).collect()
    }

    fn level_by(step: f64) -> Gates {
        Gates {
            level_by: Some(Horizon::Step(X(step))),
            ..Gates::default()
        }
    }

    fn growth(bytes: f64, per: XUnit) -> Gates {
        Gates {
            max_growth: Some(GrowthBound {
                amount: Amount(bytes),
                per,
            }),
            ..Gates::default()
        }
    }

    #[test]
    fn a_leak_fails_and_what_is_too_young_is_open() {
        let line = |step: f64| 500.0 + 2.0 * step;
        assert_eq!(
            held(&Gates::default(), 1200, line),
            [(Gate::Leak, CheckOutcome::Failed)]
        );
        assert_eq!(
            held(&Gates::default(), 40, line),
            [(Gate::Leak, CheckOutcome::Open)]
        );
    }

    #[test]
    fn a_warmup_may_end_by_the_stated_step_and_not_much_later() {
        let until_150 = |step: f64| 500.0 + 4.0 * step.min(150.0);
        let by = |step| held(&level_by(step), 600, until_150)[1];
        assert_eq!(by(90.0), (Gate::LevelBy, CheckOutcome::Failed));
        assert_eq!(by(160.0), (Gate::LevelBy, CheckOutcome::Passed));
    }

    #[test]
    fn growth_between_distant_samples_is_not_called_late() {
        // Nothing was sampled from step 70 to step 100.
        let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
        let mut curves = RunCurves::new();
        for step in (0..=70).chain(100..=300).step_by(10) {
            let memory = (100.0 + 0.7 * f64::from(step).min(98.0)) * MIB;
            let observation = Observation {
                count: Some(f64::from(step)),
                memory: Bytes(memory as u64),
                ..Observation::default()
            };
            judge.observe(&observation);
            curves.observe(&observation);
        }
        let results = level_by(90.0).hold(&judge.verdict(), &curves);
        assert!(
            results
                .iter()
                .all(|result| result.outcome != CheckOutcome::Failed)
        );
    }

    #[test]
    fn one_lasting_jump_is_no_late_warmup() {
        let evaluated = |step: f64| if step < 200.0 { 500.0 } else { 620.0 };
        let results = held(&level_by(90.0), 900, evaluated);
        assert!(
            results.contains(&(Gate::LevelBy, CheckOutcome::Passed)),
            "{results:?}"
        );
    }

    #[test]
    fn growth_is_held_against_its_bound_in_steps_and_in_time() {
        let line = |step: f64| 500.0 + 2.0 * step;
        let outcome = |gates: &Gates| held(gates, 900, line)[1].1;
        assert_eq!(
            outcome(&growth(3.0 * MIB, XUnit::Step)),
            CheckOutcome::Passed
        );
        assert_eq!(
            outcome(&growth(1.0 * MIB, XUnit::Step)),
            CheckOutcome::Failed
        );
        // A step takes two seconds.
        assert_eq!(
            outcome(&growth(0.6 * MIB, XUnit::Second)),
            CheckOutcome::Failed
        );
        assert_eq!(
            outcome(&growth(1.4 * MIB, XUnit::Second)),
            CheckOutcome::Passed
        );
        assert_eq!(
            outcome(&growth(1.0 * MIB, XUnit::Epoch)),
            CheckOutcome::Open
        );
        let in_epochs = |bytes: f64| Gates {
            epoch_steps: Some(X(100.0)),
            ..growth(bytes, XUnit::Epoch)
        };
        assert_eq!(outcome(&in_epochs(100.0 * MIB)), CheckOutcome::Failed);
        assert_eq!(outcome(&in_epochs(300.0 * MIB)), CheckOutcome::Passed);
        let flat = held(&growth(1.0 * MIB, XUnit::Step), 300, |_| 500.0);
        assert_eq!(flat[1].1, CheckOutcome::Passed);
    }

    #[test]
    fn levels_and_peaks_are_held_against_theirs() {
        let gates = Gates {
            max_level: Some(Bytes(600 << 20)),
            max_peak: Some(Bytes(600 << 20)),
            ..Gates::default()
        };
        let spike = |step: f64| if step == 100.0 { 700.0 } else { 500.0 };
        let results = held(&gates, 300, spike);
        assert!(results.contains(&(Gate::MaxLevel, CheckOutcome::Passed)));
        assert!(results.contains(&(Gate::MaxPeak, CheckOutcome::Failed)));
    }
}
