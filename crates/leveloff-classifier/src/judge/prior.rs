//! How long healthy memory grows: the stated prior that turns an age into odds.

use crate::observation::XUnit;
use crate::stats::{lognormal_survival, lognormal_survival_inverse};

use super::Quantity;

/// Lengths of healthy warmups: log-normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    median: f64,
    sigma: f64,
}

/// What came before a growth run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing, or faster growth: it may be the run's warmup.
    Warmup,
    /// A plateau: warmup was over.
    Plateau,
}

/// Odds that a run leaks, before its curve is seen.
const LEAK_ODDS_FROM_START: f64 = 1.0 / 9.0;

/// The same, for growth that begins after a plateau: a third, because warmups are over by then.
const LEAK_ODDS_AFTER_PLATEAU: f64 = 1.0 / 3.0;

/// Odds against health at which it is said to be a leak: nine to one.
const DECIDED_AT: f64 = 9.0;

/// Beyond one and a half epochs a cache that fills in the first is no explanation any more.
pub const PAST_FIRST_EPOCH: f64 = 0.3;

impl Prior {
    /// For what is counted along x, and what grows.
    pub fn of(unit: XUnit, quantity: Quantity) -> Prior {
        let (median, sigma) = match unit {
            XUnit::Step | XUnit::Iteration | XUnit::Sample => (40.0, 1.0),
            XUnit::Second => (120.0, 1.2),
            XUnit::Epoch => (1.2, 1.0),
        };
        let share = match quantity {
            Quantity::Memory => 1.0,
            Quantity::SharedMemory | Quantity::Count => 0.4,
        };
        Prior {
            median: median * share,
            sigma,
        }
    }

    /// The share of healthy warmups that are still growing at this age.
    pub fn still_growing(&self, age: f64) -> f64 {
        lognormal_survival(age, self.median, self.sigma)
    }

    /// The age at which growth is called a leak. `explained_less` below one makes it earlier:
    /// something else speaks against a warmup.
    pub fn decision_age(&self, before: Before, explained_less: f64) -> f64 {
        let odds = match before {
            Before::Warmup => LEAK_ODDS_FROM_START,
            Before::Plateau => LEAK_ODDS_AFTER_PLATEAU,
        };
        let survival = (odds / DECIDED_AT / explained_less).min(0.5);
        lognormal_survival_inverse(survival, self.median, self.sigma)
    }
}
