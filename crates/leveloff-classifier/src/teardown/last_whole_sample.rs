//! The state that a run that has ended is reported by.

use leveloff_model::process::Role;
use leveloff_model::units::Seconds;

use crate::observation::Observation;

/// The newest observation at which the run was whole: no worker had left, no memory was given back.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastWholeSample {
    whole: Option<Observation>,
    began: Option<Seconds>,
    /// The first observation of a possible teardown: its time and its step.
    teardown: Option<(Option<Seconds>, Option<f64>)>,
}

/// Memory that falls below this share of what the run held is given back. Noise of a plateau is
/// smaller.
const GIVEN_BACK: f64 = 0.98;

/// Workers that are gone for longer than this share of the run are not part of a teardown …
const WORKERS_GONE_SHARE: f64 = 0.05;
/// … but the wait is at least this long, as an interpreter has been seen to take to exit …
const SHORTEST_WAIT: Seconds = Seconds(10.0);
/// … unless that is more than this share of a short run …
const MOST_OF_SHORT_RUN: f64 = 0.2;
/// … and a long one at most this long.
const LONGEST_WAIT: Seconds = Seconds(60.0);

/// Without steps, memory that stays low for longer than this was freed by a run that goes on: an
/// interpreter frees what it holds in its last one to three samples, measured at one a second.
const FREEING_TAKES: Seconds = Seconds(5.0);

impl LastWholeSample {
    /// Takes the next observation.
    pub(crate) fn observe(&mut self, observation: &Observation) {
        self.began = self.began.or(observation.t);
        // One number alone does not distinguish a teardown from any other fall: the newest sample is whole, and is
        // not kept here.
        if observation.processes.is_empty() {
            (self.whole, self.teardown) = (None, None);
            return;
        }
        let Some(whole) = &self.whole else {
            self.whole = Some(observation.clone());
            return;
        };
        let workers_left = workers_left(whole, observation);
        let freed = (observation.memory.0 as f64) < GIVEN_BACK * whole.memory.0 as f64;
        if (workers_left || freed) && !self.goes_on(observation, workers_left) {
            return;
        }
        self.teardown = None;
        match &mut self.whole {
            Some(whole) => whole.clone_from(observation),
            None => self.whole = Some(observation.clone()),
        }
    }

    /// Whether it is the newest observation.
    pub(crate) fn is_newest(&self) -> bool {
        self.teardown.is_none()
    }

    /// The observation; `None` before the first, and where the source knows no processes.
    pub(crate) fn get(&self) -> Option<&Observation> {
        self.whole.as_ref()
    }

    /// Whether what looked like a teardown was none: the run has gone on for too long since.
    fn goes_on(&mut self, now: &Observation, workers_left: bool) -> bool {
        let (since, step) = *self.teardown.get_or_insert((now.t, now.count));
        let lasted = now.t.zip(since).map(|(now, since)| now - since);
        let lasts_longer = |than: Seconds| lasted.is_none_or(|lasted| lasted > than);
        let next_step = now.count.zip(step).map(|(now, step)| now > step);
        match (workers_left, next_step) {
            // torch has been seen to take ten seconds from the exit of its workers to its own.
            (_, Some(false)) => lasted.is_some_and(|lasted| lasted > LONGEST_WAIT),
            (true, _) => lasts_longer(self.wait_for_workers(now)),
            (false, Some(true)) => true,
            (false, None) => lasts_longer(FREEING_TAKES),
        }
    }

    fn wait_for_workers(&self, now: &Observation) -> Seconds {
        let run = now
            .t
            .zip(self.began)
            .map_or(0.0, |(now, began)| (now - began).0);
        let shortest = SHORTEST_WAIT.0.min(MOST_OF_SHORT_RUN * run);
        Seconds((WORKERS_GONE_SHARE * run).clamp(shortest, LONGEST_WAIT.0))
    }
}

/// Whether a lasting role has fewer processes than it had. One that has given its memory back is
/// exiting.
fn workers_left(before: &Observation, now: &Observation) -> bool {
    let count = |observation: &Observation, role: Role| {
        let of_role = observation
            .processes
            .iter()
            .filter(|share| share.role == role && share.rss.0 > 0);
        of_role.count()
    };
    Role::ALL
        .into_iter()
        .any(|role| role.is_lasting() && count(now, role) < count(before, role))
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::{Pid, ProcessIndex};
    use leveloff_model::units::Bytes;

    use super::*;
    use crate::observation::ProcessShare;

    fn share(index: u32, role: Role, memory: u64) -> ProcessShare {
        let pid = Pid(100 + index as i32);
        ProcessShare::with_memory(ProcessIndex(index), pid, role, Bytes(memory))
    }

    /// A trainer with `trainer` bytes and `workers` workers of 10 bytes.
    fn at(t: f64, step: Option<f64>, trainer: u64, workers: u32) -> Observation {
        let mut processes = vec![share(0, Role::Trainer, trainer)];
        processes.extend((1..=workers).map(|index| share(index, Role::DataloaderWorker, 10)));
        Observation {
            t: Some(Seconds(t)),
            count: step,
            memory: processes.iter().map(|process| process.memory).sum(),
            processes,
            ..Observation::default()
        }
    }

    fn end_of(observations: &[Observation]) -> f64 {
        let mut last = LastWholeSample::default();
        for observation in observations {
            last.observe(observation);
        }
        last.get().and_then(|whole| whole.t).unwrap().0
    }

    #[test]
    fn memory_freed_in_the_last_step_is_not_the_end() {
        let mut run: Vec<Observation> = (0..100)
            .map(|n| at(f64::from(n), Some(f64::from(n)), 1000, 0))
            .collect();
        run.push(at(99.5, Some(99.0), 500, 0));
        run.push(at(100.0, Some(99.0), 20, 0));
        assert_eq!(end_of(&run), 99.0);
        // The next step shows that the run goes on.
        run.push(at(101.0, Some(100.0), 20, 0));
        assert_eq!(end_of(&run), 101.0);
    }

    #[test]
    fn without_steps_a_few_seconds_decide() {
        let mut run: Vec<Observation> = (0..50).map(|n| at(f64::from(n), None, 1000, 0)).collect();
        run.extend((50..53).map(|n| at(f64::from(n), None, 100, 0)));
        assert_eq!(end_of(&run), 49.0);
        run.extend((53..60).map(|n| at(f64::from(n), None, 100, 0)));
        assert_eq!(end_of(&run), 59.0);
    }

    #[test]
    fn workers_that_exit_before_the_trainer_are_part_of_the_end() {
        let mut run: Vec<Observation> = (0..100)
            .map(|n| at(f64::from(n), Some(f64::from(n)), 1000, 4))
            .collect();
        run.extend((100..104).map(|n| at(f64::from(n), Some(f64::from(n)), 1030, 0)));
        assert_eq!(end_of(&run), 99.0);
        run.extend((104..130).map(|n| at(f64::from(n), Some(f64::from(n)), 1030, 0)));
        assert_eq!(
            end_of(&run),
            129.0,
            "a run that goes on without them is whole"
        );
    }

    #[test]
    fn workers_that_are_replaced_have_not_left() {
        let mut last = LastWholeSample::default();
        for n in 0..40 {
            let mut observation = at(f64::from(n), Some(f64::from(n)), 1000, 2);
            for process in &mut observation.processes[1..] {
                process.index.0 += 10 * (n as u32 / 10);
            }
            last.observe(&observation);
        }
        assert_eq!(last.get().unwrap().t, Some(Seconds(39.0)));
    }
}
