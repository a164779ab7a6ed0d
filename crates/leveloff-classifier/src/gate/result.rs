//! How a run stands against its gates.

use crate::compare::{Comparison, Outcome};
use crate::gate::Gate;
use crate::units::{Amount, AmountPerX, X};
use crate::verdict::{Grade, Verdict};

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
    pub(super) fn of_decision(outcome: CheckOutcome) -> GateReason {
        match outcome {
            CheckOutcome::Open => GateReason::NotDecided,
            _ => GateReason::Measured,
        }
    }
}

impl GateResult {
    /// A run that counts no steps cannot be held to one.
    pub(super) fn no_steps(step: X) -> GateResult {
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

    pub(super) fn at_most<T: Copy + PartialOrd>(
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
