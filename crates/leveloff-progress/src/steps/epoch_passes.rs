//! What a bar counts that names an epoch: the steps of that epoch, or those of the run.

use crate::formats::bar::Bar;
use crate::formats::bar_purpose::EpochNumber;

/// What a bar counts that names an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passes {
    /// The steps of that epoch, which was passed so many times before under the same number.
    OfEpoch(u64),
    /// The steps of the run: `Epoch 2/6, Steps: 30%|███ | 180/600 […]`.
    OfRun,
}

impl Default for Passes {
    fn default() -> Passes {
        Passes::OfEpoch(0)
    }
}

/// The drawing before.
#[derive(Debug, Clone, Copy)]
pub struct EpochBefore {
    /// The epoch that it named.
    pub number: u64,
    /// Its count.
    pub n: u64,
    /// What the bar was taken for.
    pub passes: Passes,
}

/// How far the share of the epochs may be from that of the steps when a bar of the run names the next epoch.
const SHARE_IS_NEAR: f64 = 0.05;

impl Passes {
    /// What the bar counts, from how it goes on. `None`: it was cleared.
    pub fn of(bar: &Bar<'_>, epoch: EpochNumber, before: Option<EpochBefore>) -> Option<Passes> {
        let Some(before) = before else {
            return Some(Passes::default());
        };
        let Passes::OfEpoch(earlier) = before.passes else {
            return Some(before.passes);
        };
        let is_full = Some(before.n) == bar.total;
        let goes_on = epoch.number == before.number + 1 && bar.n > before.n && !is_full;
        if goes_on && is_of_run(bar, epoch, before) {
            return Some(Passes::OfRun);
        }
        if epoch.number == before.number && is_full && bar.n < before.n {
            return (bar.n > 0).then_some(Passes::OfEpoch(earlier + 1));
        }
        Some(before.passes)
    }
}

/// Whether the next epoch begins where its share of the run does; an epoch for each step needs no number of epochs.
fn is_of_run(bar: &Bar<'_>, epoch: EpochNumber, before: EpochBefore) -> bool {
    let Some(of) = epoch.of else {
        return bar.n == before.n + 1;
    };
    let share = before.number as f64 / of.max(1) as f64;
    let done = before.n as f64 / bar.total.unwrap_or(1).max(1) as f64;
    (share - done).abs() <= SHARE_IS_NEAR
}
