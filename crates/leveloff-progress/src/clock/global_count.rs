//! Composes the counts of epochs to one count that rises through the whole run.

use std::ops::RangeInclusive;

use crate::steps::step_counter::StepChange;

/// One printed count, and what the log says around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Printed {
    /// How many are done.
    pub n: u64,
    /// It is rounded, as `12K`: the same number need not be the same count.
    pub is_rounded: bool,
    /// Of how many.
    pub total: Option<u64>,
    /// The epoch, if one is printed.
    pub epoch: Option<EpochCount>,
}

/// `3` or `3/10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EpochCount {
    /// As printed; the first epoch may be 0 or 1.
    pub number: u64,
    /// Of how many.
    pub of: Option<u64>,
    /// It stands in the line of the count. An epoch in a line of its own may begin or end there.
    pub is_in_line: bool,
}

/// What a new epoch does to a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtEpoch {
    /// Nothing is known.
    #[default]
    Unseen,
    /// Probably it restarts: the count has the form or the name of one within an epoch.
    ProbablyRestarts,
    /// It restarts.
    Restarts,
    /// It goes on.
    GoesOn,
}

/// How many rising counts in a row below the reached one mean that the training restarted. Ranks that print into
/// one log are a line or two apart, which does not give three.
const RESTART_EVIDENCE: u32 = 3;

/// One counter over all epochs.
#[derive(Debug, Clone, Default)]
pub struct GlobalCount {
    /// Steps of the epochs before this one.
    base: u64,
    /// Steps of earlier stages, such as folds, in which the epochs were counted from the start too.
    stages: u64,
    last: Option<Printed>,
    reached: u64,
    /// The largest distance between two counts.
    stride: u64,
    /// The distance between the last two counts of an epoch, and whether it was the same before.
    increment: (u64, bool),
    /// It has the form or the name of a place within an epoch: `it 340`, where `steps: 340` are done.
    is_index: bool,
    /// It rose since its epoch began.
    rose_in_epoch: bool,
    /// An epoch was numbered 0.
    from_zero: bool,
    at_epoch: AtEpoch,
    /// The last count below the one reached, and how many rising ones there were in a row.
    below: Option<(u64, u32)>,
}

impl GlobalCount {
    /// A counter of which this is known. `is_place`: its name is that of one step.
    pub fn new(at_epoch: AtEpoch, is_place: bool) -> GlobalCount {
        GlobalCount {
            at_epoch,
            is_index: is_place || at_epoch == AtEpoch::ProbablyRestarts,
            ..GlobalCount::default()
        }
    }

    /// The step reached.
    pub fn step(&self) -> u64 {
        self.reached
    }

    /// The last printed count.
    pub fn last(&self) -> Option<Printed> {
        self.last
    }

    /// Steps in an epoch, where known.
    pub fn epoch_steps(&self) -> Option<u64> {
        let last = self.last?;
        match self.at_epoch {
            AtEpoch::GoesOn | AtEpoch::Unseen => None,
            AtEpoch::Restarts => last.total,
            AtEpoch::ProbablyRestarts => last.total.filter(|_| last.epoch.is_some()),
        }
    }

    /// Steps of the run, where known.
    pub fn planned(&self) -> Option<u64> {
        let last = self.last?;
        let epochs = last.epoch.and_then(|epoch| {
            // Epochs from 0 that reach their total: it is the number of the last one.
            let is_last = self.from_zero && Some(epoch.number) == epoch.of;
            Some(epoch.of?.saturating_add(u64::from(is_last)))
        });
        match (self.epoch_steps(), epochs) {
            (None, _) => last.total,
            (Some(steps), Some(epochs)) => steps.checked_mul(epochs),
            (Some(_), None) => None,
        }
    }

    /// The epoch as a fraction, where known: 2.5 is half-way through the third.
    pub fn epoch(&self) -> Option<f64> {
        let last = self.last?;
        let epoch = last.epoch.filter(|epoch| epoch.is_in_line)?;
        let index = epoch.number.saturating_sub(self.first_epoch()) as f64;
        match self.epoch_steps().filter(|steps| *steps > 0) {
            Some(steps) => Some(index + (last.n as f64 / steps as f64).min(1.0)),
            None => Some(epoch.number as f64),
        }
    }

    /// Processes a count.
    pub fn observe(&mut self, printed: Printed) -> StepChange {
        self.from_zero |= printed.epoch.is_some_and(|epoch| epoch.number == 0);
        if self.at_epoch == AtEpoch::Unseen && self.is_ahead_of_epoch(printed) {
            self.at_epoch = AtEpoch::ProbablyRestarts;
        }
        let Some(last) = self.last else {
            return self.begin(printed);
        };
        let is_new_epoch = match (printed.epoch, last.epoch) {
            (Some(now), Some(before)) => now.number > before.number,
            // The first epoch line was printed after the first counts: it ends an epoch.
            (Some(_), None) => true,
            (None, _) => false,
        };
        if printed.n > last.n {
            if is_new_epoch && last.epoch.is_some() {
                self.rise_into_epoch(printed, last);
            }
            let by = printed.n - last.n;
            self.stride = self.stride.max(by);
            self.increment = (by, by == self.increment.0);
            self.rose_in_epoch = !is_new_epoch;
            return self.accept(printed, StepChange::Step);
        }
        let may_restart = self.at_epoch != AtEpoch::GoesOn;
        // An epoch in a line of its own may begin or end there: it restarts nothing, a fall does.
        let is_in_line = printed.epoch.is_some_and(|epoch| epoch.is_in_line);
        let was_at_end = self.was_at_end(last);
        // Near the end, ranks that print into one log are a few steps apart.
        let is_far_below = printed.n <= last.n / 2;
        let is_earlier_epoch = match (printed.epoch, last.epoch) {
            (Some(now), Some(before)) => now.is_in_line && now.number < before.number,
            _ => false,
        };
        if is_earlier_epoch && was_at_end && is_far_below {
            self.stages = self.base.saturating_add(last.total.unwrap_or(last.n));
        }
        if printed.is_rounded && printed.n == last.n {
            return StepChange::Unchanged;
        }
        // A count that rose in an epoch and begins the next one where it was has not restarted.
        if printed.n == last.n
            && printed.n > 0
            && is_new_epoch
            && is_in_line
            && printed.total.is_none()
            && self.rose_in_epoch
            && self.at_epoch == AtEpoch::Unseen
        {
            self.at_epoch = AtEpoch::GoesOn;
            self.last = Some(printed);
            return StepChange::Unchanged;
        }
        let has_restarted = is_new_epoch && (is_in_line || printed.n < last.n || was_at_end)
            || was_at_end && is_far_below;
        if may_restart && has_restarted {
            return self.next_epoch(printed, last);
        }
        if printed.n == last.n {
            self.below = None;
            return StepChange::Unchanged;
        }
        self.observe_below(printed)
    }

    /// Whether the count is farther through its total than the epoch in its line is through the epochs, as 400 of 600 is in
    /// epoch 1 of 2: it does not run through all of them.
    fn is_ahead_of_epoch(&self, printed: Printed) -> bool {
        let has_several =
            |epoch: &EpochCount| epoch.is_in_line && epoch.of.is_some_and(|of| of > 1);
        if !printed.epoch.as_ref().is_some_and(has_several) {
            return false;
        }
        // The number of the epoch may be that of the step before.
        let earlier = printed.n.saturating_sub(self.stride.max(1));
        share_of_run(printed, self.epochs_before(printed))
            .is_some_and(|share| earlier as f64 > *share.end())
    }

    /// Processes a count of another format. Some lines print the length of the epoch, or every tenth step once more, just
    /// before the counter's own next line. Such a count is at most one increment ahead.
    pub fn observe_elsewhere(&mut self, n: u64, epoch: Option<EpochCount>) -> StepChange {
        let Some(last) = self.last else {
            return StepChange::Unchanged;
        };
        let are_in_line = |now: EpochCount, before: EpochCount| now.is_in_line && before.is_in_line;
        let names_epoch = epoch
            .zip(last.epoch)
            .is_some_and(|(now, before)| are_in_line(now, before));
        let is_same_epoch = match (epoch, last.epoch) {
            (Some(now), Some(before)) => now.number == before.number,
            (None, before) => {
                self.at_epoch != AtEpoch::Restarts && before.is_none_or(|it| !it.is_in_line)
            }
            (Some(_), None) => false,
        };
        let (by, is_even) = self.increment;
        let is_known = is_even || names_epoch && by > 0;
        let is_next = n > last.n && n - last.n <= by && is_known && last.total.is_none();
        if !is_same_epoch || !is_next || last.is_rounded {
            return StepChange::Unchanged;
        }
        self.accept(Printed { n, ..last }, StepChange::Step)
    }

    fn begin(&mut self, printed: Printed) -> StepChange {
        // The output is read from the middle on, or the training was resumed.
        if self.at_epoch != AtEpoch::GoesOn
            && let Some(total) = printed.total
            && !is_share_of_run(printed, self.epochs_before(printed))
        {
            self.base = self.epochs_before(printed).saturating_mul(total);
        }
        self.accept(printed, StepChange::Step)
    }

    /// A new epoch with a higher count: the count goes on, or only the end of each epoch is printed.
    fn rise_into_epoch(&mut self, printed: Printed, last: Printed) {
        match self.at_epoch {
            AtEpoch::GoesOn => {}
            AtEpoch::Restarts => self.base = self.base_of(printed, last),
            AtEpoch::Unseen | AtEpoch::ProbablyRestarts if printed.n > self.stride.max(1) => {
                self.at_epoch = AtEpoch::GoesOn;
            }
            AtEpoch::Unseen | AtEpoch::ProbablyRestarts => {}
        }
    }

    fn next_epoch(&mut self, printed: Printed, last: Printed) -> StepChange {
        self.at_epoch = AtEpoch::Restarts;
        self.base = self.base_of(printed, last);
        self.rose_in_epoch = false;
        self.accept(printed, StepChange::NextEpoch)
    }

    /// Steps of the epochs before the one of `printed`.
    fn base_of(&self, printed: Printed, last: Printed) -> u64 {
        match (printed.epoch, printed.total) {
            (Some(epoch), Some(total)) if epoch.is_in_line => {
                let before = self.epochs_before(printed).saturating_mul(total);
                self.stages.saturating_add(before)
            }
            (_, Some(total)) if last.total == Some(total) => self.base.saturating_add(total),
            _ => {
                let length = last.n.saturating_add(self.unprinted(printed, last));
                self.base.saturating_add(length)
            }
        }
    }

    /// Steps at the end of an epoch of unknown length that were not printed: the first place of the next epoch is as far
    /// from the last one as places are, if all places are multiples from there: `1, 41, … 361, 1`. A count of what is done
    /// that begins with 0 may have printed its end. In steps of one, 0 is a place: nothing is printed about no step.
    fn unprinted(&self, first: Printed, last: Printed) -> u64 {
        let (by, true) = self.increment else {
            return 0;
        };
        let is_place = first.n > 0 || self.is_index || by == 1;
        let is_even = by > 0 && last.n.saturating_sub(first.n).is_multiple_of(by);
        match is_place && is_even {
            true => by.saturating_sub(first.n),
            false => 0,
        }
    }

    fn epochs_before(&self, printed: Printed) -> u64 {
        let number = printed.epoch.map_or(0, |epoch| epoch.number);
        number.saturating_sub(self.first_epoch())
    }

    fn first_epoch(&self) -> u64 {
        u64::from(!self.from_zero)
    }

    /// Whether the count was so near its total that its next value would have been above it.
    fn was_at_end(&self, last: Printed) -> bool {
        last.total
            .is_some_and(|total| last.n.saturating_add(self.stride.max(1)) > total)
    }

    fn observe_below(&mut self, printed: Printed) -> StepChange {
        let seen = match self.below {
            Some((before, seen)) if printed.n > before => seen + 1,
            Some((before, seen)) if printed.n == before => seen,
            _ => 1,
        };
        self.below = Some((printed.n, seen));
        if seen < RESTART_EVIDENCE {
            return StepChange::Unchanged;
        }
        *self = GlobalCount {
            stride: self.stride,
            ..GlobalCount::new(self.at_epoch, self.is_index)
        };
        self.begin(printed);
        StepChange::Restart(self.reached)
    }

    fn accept(&mut self, printed: Printed, change: fn(u64) -> StepChange) -> StepChange {
        self.last = Some(printed);
        self.below = None;
        self.reached = self.base.saturating_add(printed.n);
        change(self.reached)
    }
}

/// Whether the first count of an output fits one that runs through all epochs: as far through its total as the epoch
/// is through the epochs.
fn is_share_of_run(printed: Printed, epochs_before: u64) -> bool {
    share_of_run(printed, epochs_before).is_some_and(|share| share.contains(&(printed.n as f64)))
}

/// The counts of this epoch if the count runs through all of them.
fn share_of_run(printed: Printed, epochs_before: u64) -> Option<RangeInclusive<f64>> {
    let (total, of) = (printed.total?, printed.epoch?.of?);
    let epoch_steps = total as f64 / of.max(1) as f64;
    let begin = epochs_before as f64 * epoch_steps;
    Some(begin..=begin + epoch_steps)
}
