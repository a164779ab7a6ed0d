//! The newest place of a run is never judged.
//!
//! A run that shuts down ends its workers, deletes its files and gives memory back, all in the last
//! step. So observations are held until the run has gone on to the next step (or moment).

use crate::observation::Observation;

/// Observations at the newest place.
#[derive(Debug, Clone, Default)]
pub(super) struct Newest {
    held: Vec<Observation>,
}

/// A step that takes longer than this many observations is no teardown: the older ones count.
const MOST_HELD: usize = 64;

impl Newest {
    /// Takes an observation, and hands on those that it leaves behind.
    pub(super) fn push(
        &mut self,
        observation: &Observation,
        mut finished: impl FnMut(&Observation),
    ) {
        let goes_on = self
            .held
            .last()
            .is_some_and(|held| is_after(observation, held));
        let behind = match self.held.len() {
            all if goes_on => all,
            MOST_HELD => MOST_HELD / 2,
            _ => 0,
        };
        self.held.drain(..behind).for_each(|held| finished(&held));
        self.held.push(observation.clone());
    }

    /// How many are held.
    pub(super) fn len(&self) -> u64 {
        self.held.len() as u64
    }

    /// The last of them.
    pub(super) fn last(&self) -> Option<&Observation> {
        self.held.last()
    }
}

fn is_after(observation: &Observation, held: &Observation) -> bool {
    match (observation.count, held.count) {
        (Some(now), Some(then)) => now > then,
        (None, None) => observation.t > held.t,
        // Steps begin to be told, or are not told any more.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::units::Seconds;

    use super::*;

    fn at(count: Option<f64>, t: f64) -> Observation {
        Observation {
            count,
            t: Some(Seconds(t)),
            ..Observation::default()
        }
    }

    #[test]
    fn a_step_is_handed_on_when_the_next_has_come() {
        let mut newest = Newest::default();
        let mut finished = Vec::new();
        let moments = [
            (None, 0.0),
            (None, 1.0),
            (Some(1.0), 2.0),
            (Some(1.0), 3.0),
            (Some(2.0), 4.0),
        ];
        for (count, t) in moments {
            newest.push(&at(count, t), |observation| finished.extend(observation.t));
        }
        assert_eq!(finished, [0.0, 1.0, 2.0, 3.0].map(Seconds));
        assert_eq!(newest.len(), 1);
    }

    #[test]
    fn a_step_that_never_ends_is_not_held_for_ever() {
        let mut newest = Newest::default();
        let mut finished = 0;
        for t in 0..1000 {
            newest.push(&at(Some(7.0), f64::from(t)), |_| finished += 1);
        }
        assert!(finished > 900 && newest.len() <= MOST_HELD as u64);
    }
}
