//! Detects that trainers have exited: a run that ends must not look like memory that falls.

use leveloff_model::units::{Bytes, Seconds};

/// After this long with fewer trainers the run goes on without them. Ranks of one job end within
/// seconds of each other; a job that loses a rank and lives on keeps running for much longer.
const PATIENCE: Seconds = Seconds(60.0);

/// Who was the trainer for less was perhaps none: what stands before a command (a shim, an
/// activation) starts helpers that live for seconds at most.
const MOMENTS: Seconds = Seconds(10.0);

/// Trainers hold the memory of a run: each of `n` about an `n`th. When some are missing and less than
/// this part of that is gone with them, they were not the ones who train.
const LEAST_PART: f64 = 0.1;

/// The same for trainers that were there for moments only, of which less is believed.
const LEAST_PART_OF_PASSING: f64 = 0.5;

/// Distinguishes samples of a run from samples of its end.
#[derive(Debug, Clone, Default)]
pub struct TrainerPresence {
    /// As many trainers as the run has.
    full: usize,
    /// Since when it has so many.
    full_since: Option<Seconds>,
    /// What the run held when they were last all there, or since.
    held: Bytes,
    /// Since when there are fewer.
    fewer_since: Option<Seconds>,
    /// Since when what they held is gone with them.
    down_since: Option<Seconds>,
}

/// The living at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Present {
    /// Processes that live.
    pub processes: usize,
    /// Trainers among them.
    pub trainers: usize,
    /// Memory that they hold together.
    pub memory: Bytes,
}

impl TrainerPresence {
    /// Whether the run goes on with the processes that are alive at `t`.
    ///
    /// A run without processes has ended. Where trainers are known, the exit of the last one is the end
    /// too: launchers and helpers remain. An exited trainer starts the teardown, unless the run goes on
    /// without it for a minute. Memory must fall with it: if the memory stays, the process was not a
    /// trainer, and nothing has ended. A run that never had a trainer goes on as long as a process is
    /// alive.
    pub fn goes_on(&mut self, present: Present, t: Option<Seconds>) -> bool {
        if present.processes == 0 {
            return false;
        }
        if present.trainers >= self.full {
            self.complete(present, t);
            return true;
        }
        self.fewer_since = self.fewer_since.or(t);
        if self.memory_stayed(present) {
            self.do_without(present, t);
            return true;
        }
        self.down_since = self.down_since.or(t);
        let is_lasting = self.may_go_on_with(present.trainers) && self.is_lasting(t);
        if is_lasting {
            self.full = present.trainers;
            self.complete(present, t);
        }
        is_lasting
    }

    fn complete(&mut self, present: Present, t: Option<Seconds>) {
        if present.trainers > self.full {
            (self.full, self.full_since) = (present.trainers, t);
        }
        self.held = present.memory;
        (self.fewer_since, self.down_since) = (None, None);
    }

    /// The missing processes were not trainers. Where no trainer is left, a process without that role
    /// trains, and the end shows in the memory of the run.
    fn do_without(&mut self, present: Present, t: Option<Seconds>) {
        if present.trainers > 0 {
            self.full = present.trainers;
            self.complete(present, t);
        } else {
            self.held = self.held.max(present.memory);
            self.down_since = None;
        }
    }

    /// Without any trainer nothing goes on, unless those there were had only been passing: then the
    /// run was never theirs.
    fn may_go_on_with(&self, trainers: usize) -> bool {
        trainers > 0 || self.were_passing() && self.down_since == self.fewer_since
    }

    /// Whether those who are missing held next to nothing of what would have been their part.
    fn memory_stayed(&self, present: Present) -> bool {
        let least = if self.were_passing() {
            LEAST_PART_OF_PASSING
        } else {
            LEAST_PART
        };
        let missing = (self.full - present.trainers) as f64 / self.full as f64;
        let lost = self.held.saturating_sub(present.memory);
        (lost.0 as f64) < least * missing * self.held.0 as f64
    }

    /// Whether the trainers were all there for moments only.
    fn were_passing(&self) -> bool {
        let stay = self.full_since.zip(self.fewer_since);
        stay.is_some_and(|(begin, end)| (end - begin) < MOMENTS)
    }

    fn is_lasting(&self, t: Option<Seconds>) -> bool {
        let since = t.zip(self.down_since);
        since.is_some_and(|(now, since)| (now - since) > PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these moments (time, processes, trainers, memory) belong to the run.
    fn going_on(moments: &[(f64, usize, usize, u64)]) -> Vec<bool> {
        let mut attendance = TrainerPresence::default();
        moments
            .iter()
            .map(|&(t, processes, trainers, memory)| {
                let present = Present {
                    processes,
                    trainers,
                    memory: Bytes(memory),
                };
                attendance.goes_on(present, Some(Seconds(t)))
            })
            .collect()
    }

    #[test]
    fn the_end_of_the_trainer_is_the_end_of_the_run() {
        let moments = [
            (0.0, 2, 0, 20),
            (1.0, 3, 1, 520),
            (2.0, 2, 0, 20),
            (100.0, 2, 0, 20),
            (101.0, 0, 0, 0),
        ];
        let short = going_on(&moments[..3]);
        assert_eq!(short, [true, true, false]);
        let later = moments.map(|(t, all, trainers, memory)| (20.0 * t, all, trainers, memory));
        assert_eq!(going_on(&later), [true, true, false, false, false]);
    }

    #[test]
    fn a_run_without_a_trainer_goes_on_while_a_process_is_alive() {
        assert_eq!(
            going_on(&[(0.0, 2, 0, 20), (1.0, 1, 0, 1), (2.0, 0, 0, 0)]),
            [true, true, false]
        );
    }

    #[test]
    fn ranks_that_end_one_after_another_are_the_end() {
        let ranks = |begin: f64| {
            [
                (0.0, 5, 4, 410),
                (begin, 5, 4, 410),
                (begin + 1.0, 4, 3, 310),
                (begin + 2.0, 3, 2, 210),
                (begin + 3.0, 1, 0, 10),
            ]
        };
        for begin in [1.0, 1000.0] {
            assert_eq!(going_on(&ranks(begin)), [true, true, false, false, false]);
        }
        let of_many = [
            (0.0, 65, 64, 6500),
            (99.0, 65, 64, 6500),
            (100.0, 64, 63, 6400),
        ];
        assert_eq!(going_on(&of_many), [true, true, false]);
    }

    #[test]
    fn a_job_that_lives_on_with_fewer_ranks_goes_on() {
        let moments = [
            (0.0, 5, 4, 410),
            (1.0, 4, 3, 310),
            (60.0, 4, 3, 310),
            (62.0, 4, 3, 310),
            (63.0, 4, 3, 310),
        ];
        assert_eq!(going_on(&moments), [true, false, false, true, true]);
    }

    #[test]
    fn a_trainer_that_is_started_again_goes_on_at_once() {
        let moments = [(0.0, 2, 1, 510), (1.0, 1, 0, 10), (2.0, 2, 1, 30)];
        assert_eq!(going_on(&moments), [true, false, true]);
    }

    #[test]
    fn a_helper_that_was_taken_for_the_trainer_ends_nothing() {
        // A shim's helper goes, and the shim becomes a program that grows. It is known as a launcher
        // to the end, which comes when it goes and a shell is left.
        let grows = (1..600).map(|n| (1.0 + f64::from(n), 2, 0, 100 + 50 * n as u64));
        let moments: Vec<_> = [(0.0, 3, 1, 100), (0.2, 2, 0, 70)]
            .into_iter()
            .chain(grows)
            .collect();
        assert_eq!(going_on(&moments), vec![true; moments.len()]);
        let to_the_end: Vec<_> = moments.into_iter().chain([(601.0, 1, 0, 30)]).collect();
        assert_eq!(going_on(&to_the_end).last(), Some(&false));
    }

    #[test]
    fn one_of_several_trainers_that_leaves_the_memory_behind_ends_nothing() {
        let moments = [
            (0.0, 4, 3, 1000),
            (500.0, 4, 3, 1000),
            (501.0, 3, 2, 995),
            (502.0, 2, 1, 500),
        ];
        assert_eq!(going_on(&moments), [true, true, true, false]);
    }

    #[test]
    fn a_big_helper_that_passed_holds_a_small_run_back_for_a_minute_only() {
        let moments = [
            (0.0, 2, 1, 1000),
            (2.0, 1, 0, 50),
            (60.0, 1, 0, 50),
            (63.0, 1, 0, 50),
            (64.0, 1, 0, 50),
        ];
        assert_eq!(going_on(&moments), [true, false, false, true, true]);
    }
}
