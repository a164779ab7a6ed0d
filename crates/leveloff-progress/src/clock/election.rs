//! Which of the counters is the clock.

use std::cmp::Ordering;

use leveloff_model::progress::StepUnit;

use super::counter::Counter;
use super::global_count::EpochCount;
use super::line_counts::LabelledCount;
use super::{Clock, ClockStep, LAST_EPOCH, TAKE_OVER};
use crate::label::Label;
use crate::line_facts::LineFacts;
use crate::steps::step_counter::StepChange;
use crate::vocabulary::StepName;

/// Rises of a number in the clock's own lines after which the clock, which did not rise, counts nothing any more.
const STANDS_STILL: u32 = 30;

/// The metrics of a heading stand at most this many lines below it.
const LINES_BELOW_HEADING: u64 = 2;

/// A count that may stand above its metrics.
#[derive(Debug, Clone, Copy)]
pub struct Heading {
    key: u64,
    line: u64,
}

impl Clock {
    /// Whether the counter is a clock, and a better one than the best of the line so far.
    pub fn is_better(&self, key: u64, best: Option<u64>, facts: &LineFacts) -> bool {
        if !self.may_be_clock(key, facts) {
            return false;
        }
        let Some(counter) = self.counters.get(key) else {
            return false;
        };
        let Some(best) = best.and_then(|best| self.counters.get(best)) else {
            return true;
        };
        // A number that stands still beside one that rises is a setting.
        if best.is_finer_than(counter) || counter.counts_less_than_epochs(best) {
            return false;
        }
        if best.counts_less_than_epochs(counter) {
            return true;
        }
        if (best.rises > 0) != (counter.rises > 0) {
            return counter.rises > 0;
        }
        // Of two equal names, the livelier one: epochs are often printed in front of steps.
        let is_much_livelier = counter.rises > 2 * best.rises;
        let is_as_lively = counter.rises * 2 >= best.rises;
        match counter.quality().cmp(&best.quality()) {
            Ordering::Greater => is_as_lively,
            Ordering::Equal if self.current == Some(key) => is_as_lively,
            // Samples and tokens are multiples of the steps.
            Ordering::Equal if counter.label == Label::Unknown && best.label == Label::Unknown => {
                counter.rises > best.rises
                    || counter.rises == best.rises && counter.global.step() < best.global.step()
            }
            Ordering::Equal => {
                (counter.rises, counter.global.step()) > (best.rises, best.global.step())
            }
            // A number without a name beside a step counts something else, and names are rounded at times: `step:12K`.
            Ordering::Less if counter.label == Label::Epoch => false,
            Ordering::Less if counter.is_finer_than(best) => counter.rises > 0,
            Ordering::Less => is_much_livelier && !(counter.is_unnamed() && best.is_step()),
        }
    }

    /// Remembers a named count of a line without a metric while there is no clock: the next lines may be its metrics.
    /// Returns its key.
    pub fn note_heading(&mut self, counts: &[LabelledCount], facts: &LineFacts) -> Option<u64> {
        let is_other_work = facts.is_preparation
            || facts.is_settings
            || facts.is_inference
            || facts.evaluation_from.is_some();
        if self.has_clock() || facts.has_metric || is_other_work {
            return None;
        }
        let may_head = |count: &&LabelledCount| {
            let is_named = match count.label {
                Label::Step(_) | Label::Unit(StepUnit::Timesteps | StepUnit::Episodes) => true,
                Label::Epoch => count.n <= LAST_EPOCH,
                _ => false,
            };
            is_named && !count.is_glued
        };
        let key = counts.iter().find(may_head)?.key;
        let line = self.log.lines;
        self.heading = Some(Heading { key, line });
        Some(key)
    }

    /// Makes the count of a heading the clock when a line of its metrics follows. That line counts nothing itself.
    pub fn elect_heading(
        &mut self,
        counts: &[LabelledCount],
        facts: &LineFacts,
    ) -> Option<ClockStep> {
        let heading = self.heading?;
        let is_below = self.log.lines - heading.line <= LINES_BELOW_HEADING;
        let is_of_training = facts.has_result && facts.evaluation_from.is_none();
        let counts_itself = counts.iter().any(|count| match count.label {
            Label::Metric | Label::Other => false,
            Label::Unknown => count.total.is_some(),
            _ => true,
        });
        if self.has_clock() || !is_below || !is_of_training || facts.is_settings || counts_itself {
            return None;
        }
        self.heading = None;
        let counter = self.counters.get(heading.key)?;
        let step = counter.global.step();
        self.elect(heading.key, StepChange::Step(step), counts)
    }

    /// Whether the counter is a clock, or was one before and may go on in this line.
    pub fn may_be_clock(&self, key: u64, facts: &LineFacts) -> bool {
        let is_current = self.current == Some(key);
        let is_clock = |counter: &Counter| {
            counter.is_clock(facts, self.log) || is_current && counter.stays_clock(facts)
        };
        self.counters.get(key).is_some_and(is_clock)
    }

    /// Makes the best counter of a line the clock, if it is better than the present one.
    pub fn elect(
        &mut self,
        key: u64,
        change: StepChange,
        counts: &[LabelledCount],
    ) -> Option<ClockStep> {
        let before = self.current;
        if before != Some(key) {
            if !self.takes_over(key) {
                return None;
            }
            self.current = Some(key);
            self.rises += 1;
        }
        let counter = self.counters.get(key)?;
        let (epoch_steps, planned) = self.lengths(counter, counts);
        let step = counter.global.step();
        // The count may have risen in a line that does not make it the clock, such as a heading in front of this one.
        let is_late = step > self.reported;
        let change = match change {
            StepChange::Unchanged if before != Some(key) || is_late => StepChange::Step(step),
            change => change,
        };
        self.reported = step;
        Some(ClockStep {
            change,
            unit: counter.unit(),
            epoch: counter.global.epoch(),
            epoch_steps,
            planned,
            is_new: before != Some(key),
            replaces_other: before.is_some() && before != Some(key),
        })
    }

    /// Advances the clock by a step that a line of another format prints. Its counter must have come as far as the clock
    /// before, or state the length of each epoch.
    pub fn advance_by_other(
        &mut self,
        counts: &[LabelledCount],
        epoch: Option<EpochCount>,
    ) -> Option<ClockStep> {
        let key = self.current?;
        let is_same = |count: &&LabelledCount| {
            let is_step = matches!(count.label, Label::Step(name) if name >= StepName::Step);
            let rises = self.counters.get(count.key).map_or(0, |other| other.rises);
            let is_known = epoch.is_some() || rises >= TAKE_OVER;
            is_step && is_known && count.total.is_none() && !count.is_evaluation
        };
        if counts.iter().any(|count| count.key == key) {
            return None;
        }
        let n = counts.iter().find(is_same)?.n;
        let counter = self.counters.get_mut(key)?;
        match counter.global.observe_elsewhere(n, epoch) {
            StepChange::Unchanged => None,
            change => self.elect(key, change, counts),
        }
    }

    /// Steps of an epoch and of the run. Where the clock has no total, a count with one that goes with it may stand in
    /// the same line: `epoch 3: 10/40 … num_updates=90`.
    fn lengths(&self, clock: &Counter, counts: &[LabelledCount]) -> (Option<u64>, Option<u64>) {
        let own = (clock.global.epoch_steps(), clock.global.planned());
        if own != (None, None) {
            return own;
        }
        let beside = counts
            .iter()
            .filter_map(|count| self.counters.get(count.key));
        // A line of another writer may have the same count with its total, again and again.
        let elsewhere = (self.counters.iter()).filter(|other| other.rises >= TAKE_OVER);
        beside
            .chain(elsewhere)
            .filter(|other| {
                !other.is_evaluation
                    && matches!(other.label, Label::None | Label::Unknown | Label::Step(_))
            })
            .find(|other| {
                let has_total = other.global.last().is_some_and(|last| last.total.is_some());
                has_total && other.global.step().abs_diff(clock.global.step()) <= 1
            })
            .map_or(own, |other| {
                (other.global.epoch_steps(), other.global.planned())
            })
    }

    fn takes_over(&self, key: u64) -> bool {
        let Some(current) = self.current.and_then(|key| self.counters.get(key)) else {
            return true;
        };
        let Some(counter) = self.counters.get(key) else {
            return false;
        };
        let lead = if counter.lead_since == self.rises {
            counter.lead
        } else {
            0
        };
        // Evaluation takes fewer steps than the training around it.
        if counter.is_shorter_than(current) && counter.restarts == 0 {
            return false;
        }
        let is_beside = counter.last_line == current.last_line;
        if counter.is_unnamed()
            && current.is_step()
            && is_beside
            && lead < STANDS_STILL
            && !counter.is_finer_than(current)
        {
            return false;
        }
        let (is_epoch, was_epoch) = (counter.label == Label::Epoch, current.label == Label::Epoch);
        if is_epoch != was_epoch {
            return was_epoch && counter.rises > 0 && !counter.counts_less_than_epochs(current)
                || current.counts_less_than_epochs(counter);
        }
        lead >= TAKE_OVER
            || current.rises == 0 && lead + 1 >= TAKE_OVER
            || counter.quality() > current.quality()
                && counter.rises > 0
                && counter.rises * 2 >= current.rises
    }
}
