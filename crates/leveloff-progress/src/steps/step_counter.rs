//! Turns printed counts into steps that rise across epochs and do not fall by mistake.

/// How many rising counts in a row below the reached one mean that the training restarted. Ranks that
/// print into one log are a line or two apart, and a bar is cleared to 0 once before the next epoch;
/// neither gives three.
const RESTART_EVIDENCE: u32 = 3;

/// One printed count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// How many are done.
    pub n: u64,
    /// Of how many, if that was printed.
    pub total: Option<u64>,
    /// In which epoch, if that was printed.
    pub epoch: Option<u64>,
}

/// What a count means for the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepChange {
    /// No new step, or not enough evidence yet.
    Unchanged,
    /// The training reached this step.
    Step(u64),
    /// The training reached this step, and the count restarted after its end, so it counts the steps of
    /// an epoch.
    NextEpoch(u64),
    /// The training restarted at this step.
    Restart(u64),
}

/// Follows one counter.
#[derive(Debug, Default)]
pub struct StepCounter {
    /// Steps of the epochs before this one.
    base: u64,
    last: Option<Count>,
    /// The largest distance between two counts.
    stride: u64,
    /// The last count below the one reached, and how many rising ones there were in a row.
    below: Option<(u64, u32)>,
}

impl StepCounter {
    /// A counter whose first count comes after `base` steps.
    pub fn starting_at(base: u64) -> StepCounter {
        StepCounter {
            base,
            ..StepCounter::default()
        }
    }

    /// Processes a count.
    pub fn observe(&mut self, count: Count) -> StepChange {
        let Some(last) = self.last else {
            return self.accept(count, StepChange::Step);
        };
        if count.n > last.n {
            self.stride = self.stride.max(count.n - last.n);
            self.accept(count, StepChange::Step)
        } else if count.n == last.n {
            self.below = None;
            StepChange::Unchanged
        } else if last.is_full() || count.epoch > last.epoch && last.epoch.is_some() {
            self.base = self.base.saturating_add(last.n);
            self.accept(count, StepChange::NextEpoch)
        } else if let Some(total) = self.total_almost_reached(last, count) {
            self.base = self.base.saturating_add(total);
            self.accept(count, StepChange::NextEpoch)
        } else {
            self.observe_below(count)
        }
    }

    /// The reached step.
    pub fn step(&self) -> u64 {
        self.base.saturating_add(self.last.map_or(0, |last| last.n))
    }

    /// The total of a bar that starts again when its next drawing would have been past its end. A bar that is removed at its
    /// end is never drawn at its total.
    fn total_almost_reached(&self, last: Count, count: Count) -> Option<u64> {
        let is_begun = count.n <= self.stride && count.total == last.total;
        let is_at_end = |total: &u64| last.n.saturating_add(self.stride) > *total;
        last.total
            .filter(|total| is_begun && last.n > total / 2 && is_at_end(total))
    }

    fn observe_below(&mut self, count: Count) -> StepChange {
        let seen = match self.below {
            Some((before, seen)) if count.n > before => seen + 1,
            Some((before, seen)) if count.n == before => seen,
            _ => 1,
        };
        self.below = Some((count.n, seen));
        if seen < RESTART_EVIDENCE {
            return StepChange::Unchanged;
        }
        self.base = 0;
        self.accept(count, StepChange::Restart)
    }

    fn accept(&mut self, count: Count, change: fn(u64) -> StepChange) -> StepChange {
        self.last = Some(count);
        self.below = None;
        change(self.step())
    }
}

impl Count {
    fn is_full(&self) -> bool {
        self.total == Some(self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is change of counts that are printed as `n/total`, total 0 standing for none.
    fn change(counts: &[(u64, u64)]) -> Vec<StepChange> {
        let mut counter = StepCounter::default();
        counts
            .iter()
            .map(|&(n, total)| {
                counter.observe(Count {
                    n,
                    total: (total > 0).then_some(total),
                    epoch: None,
                })
            })
            .collect()
    }

    #[test]
    fn a_count_that_was_full_goes_on_with_the_next_epoch() {
        let change = change(&[(39, 40), (40, 40), (40, 40), (0, 40), (1, 40)]);
        assert_eq!(
            change,
            [
                StepChange::Step(39),
                StepChange::Step(40),
                StepChange::Unchanged,
                StepChange::NextEpoch(40),
                StepChange::Step(41)
            ]
        );
    }

    #[test]
    fn a_bar_that_is_removed_before_its_end_goes_on_with_the_next_epoch() {
        let drawn = [(0, 40), (13, 40), (27, 40), (38, 40), (0, 40), (12, 40)];
        assert_eq!(
            change(&drawn)[4..],
            [StepChange::NextEpoch(40), StepChange::Step(52)]
        );
        // It was far from its end: the training was started again.
        let stopped = [(0, 40), (9, 40), (18, 40), (1, 40), (9, 40)];
        assert_eq!(change(&stopped)[3..], [StepChange::Unchanged; 2]);
    }

    #[test]
    fn going_back_is_believed_only_after_three_rising_counts() {
        let counts = [(500, 0), (10, 0), (20, 0), (30, 0), (40, 0)];
        assert_eq!(
            change(&counts)[1..],
            [
                StepChange::Unchanged,
                StepChange::Unchanged,
                StepChange::Restart(30),
                StepChange::Step(40)
            ]
        );
    }

    #[test]
    fn ranks_that_lag_behind_in_one_log_are_no_restart() {
        let counts = [
            (10, 0),
            (9, 0),
            (11, 0),
            (10, 0),
            (10, 0),
            (12, 0),
            (10, 0),
            (11, 0),
            (13, 0),
        ];
        let steps: Vec<StepChange> = change(&counts)
            .into_iter()
            .filter(|h| *h != StepChange::Unchanged)
            .collect();
        assert_eq!(
            steps,
            [
                StepChange::Step(10),
                StepChange::Step(11),
                StepChange::Step(12),
                StepChange::Step(13)
            ]
        );
    }

    #[test]
    fn a_higher_epoch_explains_a_lower_count() {
        let mut counter = StepCounter::default();
        let mut observe_epoch = |n, epoch| {
            counter.observe(Count {
                n,
                total: None,
                epoch: Some(epoch),
            })
        };
        assert_eq!(observe_epoch(120, 3), StepChange::Step(120));
        assert_eq!(observe_epoch(10, 4), StepChange::NextEpoch(130));
    }
}
