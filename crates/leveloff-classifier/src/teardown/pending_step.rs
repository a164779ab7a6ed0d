//! The newest step of a run is never judged.
//!
//! A run that shuts down ends its workers, deletes its files and gives memory back, all in the last
//! step. So observations wait until the run has gone on to the next step (or moment).

use std::slice;

use leveloff_model::units::Seconds;

use crate::observation::Observation;

/// Observations of the newest step.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingStep {
    waiting: Vec<Observation>,
    thinned: u64,
    /// The newest was handed on and is kept only to be asked for.
    is_finished: bool,
}

/// So many observations are handed on once the step has lasted for [`LONGEST_TEARDOWN`].
const ENOUGH: usize = 64;

/// More than this are thinned out, so that memory stays bounded.
const MOST: usize = 256;

/// A step that takes longer than this is no teardown: the older observations count. On a busy machine
/// an interpreter with loader workers has been seen to take ten seconds to exit.
const LONGEST_TEARDOWN: Seconds = Seconds(60.0);

impl PendingStep {
    /// Takes an observation, and hands on those that it leaves behind.
    pub(crate) fn push(
        &mut self,
        observation: &Observation,
        mut finished: impl FnMut(&Observation),
    ) {
        let goes_on = self
            .waiting
            .last()
            .is_some_and(|waiting| is_after(observation, waiting));
        let behind = match self.waiting.len() {
            all if goes_on => all,
            many if many >= ENOUGH && self.lasts_until(observation) => many / 2,
            _ => 0,
        };
        // Lent, then dropped in place: an observation is large, so moving each one out is slow.
        self.waiting[..behind].iter().for_each(&mut finished);
        self.waiting.drain(..behind);
        if self.waiting.len() == MOST {
            self.thin();
        }
        self.waiting.extend_from_slice(slice::from_ref(observation));
    }

    /// Hands on all but the newest value, which stays for questions about now.
    pub(crate) fn finish(&mut self, mut finished: impl FnMut(&Observation)) {
        self.waiting.iter().for_each(&mut finished);
        self.waiting.drain(..self.waiting.len().saturating_sub(1));
        self.is_finished = true;
    }

    /// Hands on all observations: those that come next count on another clock.
    pub(crate) fn drain(&mut self, finished: impl FnMut(Observation)) {
        self.waiting.drain(..).for_each(finished);
    }

    /// The newest observation.
    pub(crate) fn newest(&self) -> Option<&Observation> {
        self.waiting.last()
    }

    /// How many observations are here, and how many were thinned out so far.
    pub(crate) fn count(&self) -> u64 {
        match self.is_finished {
            true => self.thinned,
            false => self.waiting.len() as u64 + self.thinned,
        }
    }

    /// Whether the step has lasted for too long to be a teardown. Without times, the number of
    /// observations decides.
    fn lasts_until(&self, observation: &Observation) -> bool {
        let since = self.waiting.first().and_then(|first| first.t);
        match (since, observation.t) {
            (Some(since), Some(now)) => now - since > LONGEST_TEARDOWN,
            _ => true,
        }
    }

    /// Drops every second observation; its marks go to the next one.
    fn thin(&mut self) {
        let (mut marks, mut counts) = (Vec::new(), Vec::new());
        for (place, mut waiting) in std::mem::take(&mut self.waiting).into_iter().enumerate() {
            marks.append(&mut waiting.marks);
            counts.append(&mut waiting.counts_at_marks);
            if place % 2 == 0 {
                self.thinned += 1;
            } else {
                waiting.marks = std::mem::take(&mut marks);
                waiting.counts_at_marks = std::mem::take(&mut counts);
                self.waiting.push(waiting);
            }
        }
    }
}

fn is_after(observation: &Observation, before: &Observation) -> bool {
    match (observation.count, before.count) {
        (Some(now), Some(then)) => now > then,
        (None, None) => observation.t > before.t,
        // Steps begin to be reported, or are not reported any more.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::progress::MarkKind;

    use super::*;

    fn at(count: Option<f64>, t: f64) -> Observation {
        Observation {
            count,
            t: Some(Seconds(t)),
            ..Observation::default()
        }
    }

    #[test]
    fn a_step_is_handed_on_when_the_next_one_begins() {
        let mut pending = PendingStep::default();
        let mut finished = Vec::new();
        let moments = [
            (None, 0.0),
            (None, 1.0),
            (Some(1.0), 2.0),
            (Some(1.0), 3.0),
            (Some(2.0), 4.0),
        ];
        for (count, t) in moments {
            pending.push(&at(count, t), |observation| finished.extend(observation.t));
        }
        assert_eq!(finished, [0.0, 1.0, 2.0, 3.0].map(Seconds));
        assert_eq!(pending.waiting.len(), 1);
    }

    #[test]
    fn a_step_that_never_ends_does_not_wait_for_ever() {
        let mut pending = PendingStep::default();
        let mut finished = 0;
        for t in 0..1000 {
            pending.push(&at(Some(7.0), f64::from(t)), |_| finished += 1);
        }
        assert!(finished > 900 && pending.waiting.len() <= MOST);
    }

    #[test]
    fn a_teardown_waits_at_any_sampling_interval() {
        let mut pending = PendingStep::default();
        let mut finished = 0;
        for tenth in 0..500 {
            let mut observation = at(Some(1000.0), f64::from(tenth) / 10.0);
            observation.marks = vec![MarkKind::Event("saved".to_owned())];
            pending.push(&observation, |_| finished += 1);
        }
        assert_eq!((finished, pending.count()), (0, 500));
        assert!(pending.waiting.len() <= MOST);
        let said: usize = pending.waiting.iter().map(|one| one.marks.len()).sum();
        assert_eq!(said, 500, "what the training said is not thinned out");
    }
}
