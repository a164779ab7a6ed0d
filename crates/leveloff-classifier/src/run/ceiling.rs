//! Where the run's memory meets a limit, and when.

use leveloff_model::sample::CeilingKind;
use leveloff_model::units::{Bytes, Limit, Seconds};

use crate::observation::{Observation, XUnit};
use crate::units::{Amount, AmountPerX, X};
use crate::verdict::{Rate, Risk};

/// The nearest limit, in terms of the run's own memory.
#[derive(Debug, Clone)]
pub(super) struct NearestLimit {
    stated: Option<Limit>,
    nearest: Option<(Bytes, CeilingKind)>,
}

/// Growth that may meet a limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    /// How fast.
    pub(super) rate: Rate,
    /// From which height, in terms of the run's memory.
    pub(super) level: Amount,
    /// At which x.
    pub(super) now: X,
    /// What x counts.
    pub(super) unit: XUnit,
    /// How long one of it takes.
    pub(super) pace: Option<Seconds>,
}

impl NearestLimit {
    /// With what the user stated.
    pub(super) fn new(stated: Option<Limit>) -> NearestLimit {
        let nearest = match stated {
            Some(Limit::Size(size)) => Some((size, CeilingKind::Stated)),
            _ => None,
        };
        NearestLimit { stated, nearest }
    }

    /// A ceiling counts what others use as well: the run's memory meets it when the headroom that
    /// is left now has been used up.
    pub(super) fn observe(&mut self, observation: &Observation) {
        let Some(ceiling) = observation.ceiling else {
            return;
        };
        let met = |limit: Bytes| observation.memory + limit.saturating_sub(ceiling.used);
        let stated = match self.stated {
            Some(Limit::Size(size)) => Some((size, CeilingKind::Stated)),
            Some(Limit::Share(share)) => {
                let limit = Bytes((ceiling.limit.0 as f64 * share) as u64);
                Some((met(limit), CeilingKind::Stated))
            }
            None => None,
        };
        let machines = (met(ceiling.limit), ceiling.kind);
        self.nearest = Some(match stated {
            Some(stated) if stated.0 <= machines.0 => stated,
            _ => machines,
        });
    }

    /// The amount of the run's memory at which it is met.
    pub(super) fn amount(&self) -> Option<Bytes> {
        self.nearest.map(|(amount, _)| amount)
    }

    /// When `growth` meets it.
    pub(super) fn risk(&self, growth: &Growth) -> Option<Risk> {
        let (limit, kind) = self.nearest?;
        if growth.rate.value <= AmountPerX(0.0) || !growth.level.0.is_finite() {
            return None;
        }
        let left = Amount((limit.0 as f64 - growth.level.0).max(0.0));
        let met_at = |rate: AmountPerX| growth.now + left / rate;
        let at_x = met_at(growth.rate.value);
        let seconds = match growth.unit {
            XUnit::Second => Some(1.0),
            _ => growth.pace.map(|pace| pace.0),
        };
        Some(Risk {
            limit,
            kind,
            at_x,
            earliest_x: met_at(AmountPerX(growth.rate.high.0.max(growth.rate.value.0))),
            latest_x: (growth.rate.low > AmountPerX(0.0)).then(|| met_at(growth.rate.low)),
            in_time: seconds.map(|seconds| Seconds((at_x - growth.now).0 * seconds)),
        })
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::sample::Ceiling;

    use super::*;

    const GIB: u64 = 1 << 30;

    fn seen(stated: Option<Limit>, memory: u64, limit: u64, used: u64) -> NearestLimit {
        let mut nearest = NearestLimit::new(stated);
        nearest.observe(&Observation {
            memory: Bytes(memory),
            ceiling: Some(Ceiling {
                kind: CeilingKind::Host,
                limit: Bytes(limit),
                used: Bytes(used),
            }),
            ..Observation::default()
        });
        nearest
    }

    #[test]
    fn others_use_of_the_ceiling_counts() {
        let nearest = seen(None, 10 * GIB, 32 * GIB, 14 * GIB);
        assert_eq!(nearest.amount(), Some(Bytes(28 * GIB)));
    }

    #[test]
    fn a_stated_share_is_of_the_ceiling() {
        let nearest = seen(Some(Limit::Share(0.75)), 10 * GIB, 32 * GIB, 14 * GIB);
        assert_eq!(nearest.amount(), Some(Bytes(20 * GIB)));
    }

    #[test]
    fn a_stated_size_is_the_runs_own_and_the_nearer_one_counts() {
        let size = Some(Limit::Size(Bytes(27 * GIB)));
        let nearest = seen(size, 10 * GIB, 32 * GIB, 14 * GIB);
        assert_eq!(
            nearest.nearest,
            Some((Bytes(27 * GIB), CeilingKind::Stated))
        );
        let far = Some(Limit::Size(Bytes(90 * GIB)));
        let nearest = seen(far, 10 * GIB, 32 * GIB, 14 * GIB);
        assert_eq!(nearest.nearest, Some((Bytes(28 * GIB), CeilingKind::Host)));
    }

    #[test]
    fn growth_meets_it_within_its_interval() {
        let nearest = NearestLimit::new(Some(Limit::Size(Bytes(2_000))));
        let growth = Growth {
            rate: Rate {
                high: AmountPerX(20.0),
                ..Rate::around(10.0, 11.0)
            },
            level: Amount(1_000.0),
            now: X(50.0),
            unit: XUnit::Step,
            pace: Some(Seconds(3.0)),
        };
        let risk = nearest.risk(&growth).unwrap();
        assert_eq!((risk.at_x, risk.earliest_x), (X(150.0), X(100.0)));
        assert_eq!(risk.latest_x, None);
        assert_eq!(risk.in_time, Some(Seconds(300.0)));
    }

    #[test]
    fn what_does_not_grow_meets_nothing() {
        let nearest = NearestLimit::new(Some(Limit::Size(Bytes(2_000))));
        let level = Growth {
            rate: Rate::around(0.0, 1.0),
            level: Amount(1_000.0),
            now: X(50.0),
            unit: XUnit::Second,
            pace: None,
        };
        assert_eq!(nearest.risk(&level), None);
    }
}
