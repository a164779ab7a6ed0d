//! What a run must hold to pass a check.
//!
//! A gate fails only when the evidence is beyond doubt, passes when there is none against it, and is
//! open in between: a check that cries wolf is muted, and then guards nothing.
//!
//! A new gate takes three files: its rule here, its words in `gate.rs` of leveloff-text, and its option in
//! `args/check.rs` of the command. The configuration file gets a key of the same name.

mod result;

use leveloff_model::units::{Bytes, Seconds};

use crate::observation::XUnit;
use crate::run_curves::{RunCurves, Series};
use crate::units::{Amount, AmountPerX, X};
use crate::verdict::{Judgement, LevelGrade, Rate, RunVerdict, Shape, Verdict, WillFinish};

pub use result::{CheckOutcome, GateNumbers, GateReason, GateResult, MeasuredAndBound};

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
mod tests;
