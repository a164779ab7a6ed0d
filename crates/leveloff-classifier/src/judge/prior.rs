//! How long healthy memory grows: the stated prior that turns an age into odds.

use std::cell::OnceCell;

use crate::observation::XUnit;
use crate::stats::{lognormal_survival, lognormal_survival_inverse};

use super::Quantity;

/// Lengths of healthy warmups: log-normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    median: f64,
    sigma: f64,
}

/// The ages at which growth of one curve is called a leak, each worked out at its first use:
/// every stretch needs one of the same four, and to find one is a bisection.
#[derive(Debug, Clone)]
pub struct DecisionAges {
    prior: Prior,
    ages: [OnceCell<f64>; 4],
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

/// Odds against health at which it is called a leak: nine to one.
const DECIDED_AT: f64 = 9.0;

/// Beyond one and a half epochs a cache that fills in the first is no explanation any more.
const PAST_FIRST_EPOCH: f64 = 0.3;

/// Where only samples are counted, a step is taken to have this many: more than most batches have, so that
/// an age in steps is rather too low than too high, and no warmup is called a leak.
const SAMPLES_OF_A_STEP: f64 = 256.0;

/// The same in tokens: half a million is the batch of GPT-2's and nanochat's pre-training.
const TOKENS_OF_A_STEP: f64 = 524_288.0;

/// The same in environment steps: PPO's rollout in stable-baselines3, 2,048 steps before each update.
const TIMESTEPS_OF_A_STEP: f64 = 2048.0;

impl Prior {
    /// For what is counted along x, and what grows.
    pub fn of(unit: XUnit, quantity: Quantity) -> Prior {
        let (median, sigma) = match unit {
            XUnit::Step | XUnit::Iteration | XUnit::Sample | XUnit::Episode => (40.0, 1.0),
            XUnit::TrainingSample => (40.0 * SAMPLES_OF_A_STEP, 1.0),
            XUnit::Token => (40.0 * TOKENS_OF_A_STEP, 1.0),
            XUnit::Timestep => (40.0 * TIMESTEPS_OF_A_STEP, 1.0),
            XUnit::Second => (60.0, 1.0),
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

impl DecisionAges {
    /// Of a prior.
    pub fn of(prior: Prior) -> DecisionAges {
        DecisionAges {
            prior,
            ages: Default::default(),
        }
    }

    /// The age for growth after `before` that a cache of the first epoch explains, or no longer does.
    pub fn at(&self, before: Before, past_first_epoch: bool) -> f64 {
        let place = 2 * usize::from(before == Before::Plateau) + usize::from(past_first_epoch);
        let less = if past_first_epoch {
            PAST_FIRST_EPOCH
        } else {
            1.0
        };
        *self.ages[place].get_or_init(|| self.prior.decision_age(before, less))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_that_are_kept_are_those_of_the_prior() {
        let prior = Prior::of(XUnit::Step, Quantity::Memory);
        let ages = DecisionAges::of(prior);
        for _ in 0..2 {
            for before in [Before::Warmup, Before::Plateau] {
                assert_eq!(ages.at(before, false), prior.decision_age(before, 1.0));
                let past = prior.decision_age(before, PAST_FIRST_EPOCH);
                assert_eq!(ages.at(before, true), past);
            }
        }
    }
}
