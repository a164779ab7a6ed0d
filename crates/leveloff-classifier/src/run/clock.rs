//! What makes memory grow: the training's own events, or something regular that it does not report.

use super::events::{Account, Events};
use crate::units::{Amount, X};
use crate::verdict::{Clock, ClockTick, Judgement, Shape};

/// Events that explain this much of the growth are its clock.
const EXPLAINS: f64 = 0.6;
/// Events that explain less than this leave the growth to the steps between them.
const EXPLAINS_NOTHING: f64 = 0.3;
/// Fewer events than this are a coincidence.
const LEAST_EVENTS: u64 = 3;

/// The clock of growth by `growth` since `onset`, as `judgement` saw it.
pub(super) fn clock(
    events: &Events,
    judgement: &Judgement,
    onset: f64,
    growth: f64,
) -> Option<Clock> {
    if growth <= 0.0 {
        return None;
    }
    let accounts: Vec<Account> = events
        .accounts(onset)
        .filter(|account| account.count >= LEAST_EVENTS)
        .collect();
    let explaining = accounts
        .iter()
        .filter(|account| account.growth >= EXPLAINS * growth)
        .min_by(|a, b| a.variation.total_cmp(&b.variation));
    if let Some(account) = explaining {
        return Some(Clock {
            tick: account.tick,
            growth: Amount(account.growth / account.count as f64),
            ticks: account.count,
            every: account.every.map(X),
        });
    }
    if judgement.shape == Shape::Staircase {
        return regular(judgement, onset);
    }
    let innocent = |account: &Account| account.growth < EXPLAINS_NOTHING * growth;
    (!accounts.is_empty() && accounts.iter().all(innocent))
        .then(|| each_step(judgement, onset))
        .flatten()
}

fn regular(judgement: &Judgement, onset: f64) -> Option<Clock> {
    let (period, rate) = (judgement.period?, judgement.rate?);
    let ticks = ((judgement.span?.1.0 - onset) / period.0).floor();
    (period.0 > 0.0 && ticks >= 1.0).then_some(Clock {
        tick: ClockTick::Regular,
        growth: rate.value * period,
        ticks: ticks as u64,
        every: Some(period),
    })
}

fn each_step(judgement: &Judgement, onset: f64) -> Option<Clock> {
    let (rate, (_, now)) = (judgement.rate?, judgement.span?);
    Some(Clock {
        tick: ClockTick::Step,
        growth: rate.value * X(1.0),
        ticks: (now.0 - onset).max(0.0) as u64,
        every: Some(X(1.0)),
    })
}
