//! Counts become steps that go on: over epochs that begin at 0 again, and never back by mistake.

/// How often in a row a rising count must lie below the one already reached before it is
/// believed that the training began anew. Ranks that print into one log are a line or two apart,
/// and a bar is cleared to 0 once before the next epoch; neither makes three.
const RESTART_EVIDENCE: u32 = 3;

/// One count that was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// How many are done.
    pub n: u64,
    /// Of how many, if that was printed.
    pub total: Option<u64>,
    /// In which epoch, if that was printed.
    pub epoch: Option<u64>,
}

/// What a count told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Nothing new, or not to be believed yet.
    Nothing,
    /// This step is reached.
    Step(u64),
    /// This step is reached, and the count had begun anew after its end: what it counts is an
    /// epoch's steps.
    NextEpoch(u64),
    /// The training began anew at this step.
    Restart(u64),
}

/// Follows one count.
#[derive(Debug, Default)]
pub struct StepCounter {
    /// Steps of the epochs before this one.
    base: u64,
    last: Option<Count>,
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

    /// Takes in a count.
    pub fn hear(&mut self, count: Count) -> Heard {
        let Some(last) = self.last else {
            return self.accept(count, Heard::Step);
        };
        if count.n > last.n {
            self.accept(count, Heard::Step)
        } else if count.n == last.n {
            self.below = None;
            Heard::Nothing
        } else if last.is_full() || count.epoch > last.epoch && last.epoch.is_some() {
            self.base = self.base.saturating_add(last.n);
            self.accept(count, Heard::NextEpoch)
        } else {
            self.hear_below(count)
        }
    }

    /// Whether the count has reached its total.
    pub fn is_full(&self) -> bool {
        self.last.is_some_and(|last| last.is_full())
    }

    /// The step that was reached.
    pub fn step(&self) -> u64 {
        self.base.saturating_add(self.last.map_or(0, |last| last.n))
    }

    fn hear_below(&mut self, count: Count) -> Heard {
        let seen = match self.below {
            Some((before, seen)) if count.n > before => seen + 1,
            Some((before, seen)) if count.n == before => seen,
            _ => 1,
        };
        self.below = Some((count.n, seen));
        if seen < RESTART_EVIDENCE {
            return Heard::Nothing;
        }
        self.base = 0;
        self.accept(count, Heard::Restart)
    }

    fn accept(&mut self, count: Count, heard: fn(u64) -> Heard) -> Heard {
        self.last = Some(count);
        self.below = None;
        heard(self.step())
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

    /// What is heard of counts that are printed as `n/total`, total 0 standing for none.
    fn heard(counts: &[(u64, u64)]) -> Vec<Heard> {
        let mut counter = StepCounter::default();
        counts
            .iter()
            .map(|&(n, total)| {
                counter.hear(Count {
                    n,
                    total: (total > 0).then_some(total),
                    epoch: None,
                })
            })
            .collect()
    }

    #[test]
    fn a_count_that_was_full_goes_on_with_the_next_epoch() {
        let heard = heard(&[(39, 40), (40, 40), (40, 40), (0, 40), (1, 40)]);
        assert_eq!(
            heard,
            [
                Heard::Step(39),
                Heard::Step(40),
                Heard::Nothing,
                Heard::NextEpoch(40),
                Heard::Step(41)
            ]
        );
    }

    #[test]
    fn going_back_is_believed_only_after_three_rising_counts() {
        let counts = [(500, 0), (10, 0), (20, 0), (30, 0), (40, 0)];
        assert_eq!(
            heard(&counts)[1..],
            [
                Heard::Nothing,
                Heard::Nothing,
                Heard::Restart(30),
                Heard::Step(40)
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
        let steps: Vec<Heard> = heard(&counts)
            .into_iter()
            .filter(|h| *h != Heard::Nothing)
            .collect();
        assert_eq!(
            steps,
            [
                Heard::Step(10),
                Heard::Step(11),
                Heard::Step(12),
                Heard::Step(13)
            ]
        );
    }

    #[test]
    fn a_higher_epoch_explains_a_lower_count() {
        let mut counter = StepCounter::default();
        let mut hear = |n, epoch| {
            counter.hear(Count {
                n,
                total: None,
                epoch: Some(epoch),
            })
        };
        assert_eq!(hear(120, 3), Heard::Step(120));
        assert_eq!(hear(10, 4), Heard::NextEpoch(130));
    }
}
