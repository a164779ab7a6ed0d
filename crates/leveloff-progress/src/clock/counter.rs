//! One number of a format, followed from line to line.

use leveloff_model::progress::StepUnit;

use super::LAST_EPOCH;
use super::global_count::{AtEpoch, GlobalCount, Printed};
use super::log_evidence::LogEvidence;
use crate::label::Label;
use crate::line_facts::LineFacts;
use crate::steps::step_counter::StepChange;
use crate::vocabulary::StepName;

/// A followed number.
#[derive(Debug, Clone)]
pub struct Counter {
    /// What it is called.
    pub label: Label,
    /// Its name says that it is a sum.
    is_total: bool,
    /// It counts an evaluation.
    pub is_evaluation: bool,
    /// The count over all epochs.
    pub global: GlobalCount,
    /// How often it rose.
    pub rises: u32,
    /// How often it rose since the clock rose last.
    pub lead: u32,
    /// The number of the clock's rise that `lead` counts from.
    pub lead_since: u64,
    /// The line that it was last seen in.
    pub last_line: u64,
    /// How often it was seen.
    pub lines: u64,
    /// How often it reached its end and began again since the clock rose last.
    pub restarts: u32,
    /// How often it fell without a new epoch.
    falls: u32,
    /// How often it fell and rose again from there.
    unexplained_restarts: u32,
    /// With how many other totals its format was seen.
    pub other_totals: u32,
    /// How often the whole line had the skeleton of the time before.
    repeats: u32,
    /// It is the first number of its line.
    is_first: bool,
    /// Its form is that of a count: `10 (0.03%)`, `#10`.
    has_count_form: bool,
    /// Its name says that it belongs to the training.
    is_of_training: bool,
    /// Its name stands behind it: `412 iterations` may sum something up.
    is_named_behind: bool,
    /// Its name is that of many: `iterations: 412`.
    is_plural: bool,
    /// Its line stands below the names of columns that no training has.
    in_other_table: bool,
    skeleton: u64,
    increment: u64,
    same_increments: u32,
    /// What it was when it was first seen.
    first: u64,
    /// The greatest common divisor of its counts.
    divisor: u64,
}

/// Where a counter was first seen.
#[derive(Debug, Clone, Copy)]
pub struct CounterPlace {
    /// Its name says that it is a sum.
    pub is_total: bool,
    /// It counts an evaluation.
    pub is_evaluation: bool,
    /// It is the first number of its line.
    pub is_first: bool,
    /// Its form is that of a count: `10 (0.03%)`, `#10`.
    pub has_count_form: bool,
    /// Its line stands below the names of columns that no training has.
    pub in_other_table: bool,
    /// Its name says that it belongs to the training.
    pub is_of_training: bool,
    /// Its name stands behind it: `412 iterations` may sum something up.
    pub is_named_behind: bool,
    /// Its name is that of many: `steps: 340` are done, where `step: 340` is one of them.
    pub is_plural: bool,
    /// Words stand in front of it.
    pub is_named: bool,
}

/// How good a clock a counter would be: by what it counts, then by its name.
pub type Quality = (u8, Option<StepName>);

/// A larger number without a name is a time since 1970 or an identifier.
const LARGEST_UNNAMED: u64 = 1_000_000_000;

/// How often an unnamed count must rise in lines without a known word.
const LONG_RISE: u32 = 4;

/// The same for a count with a total beside values of any name.
const FEW_VALUES: u32 = 2;

/// The same for a count that rises by one.
const VERY_LONG_RISE: u32 = 20;

/// A number that restarts more often than this many rises is no counter.
const FEW_RISES: u32 = 8;

/// How many increments ranks may be apart.
const RANKS_APART: u64 = 4;

/// Counts that are those of samples and not of steps.
struct SamplesOfBatches {
    /// They are multiples of this.
    of: u64,
    /// But not of this, because trainings print every 10th, 50th, 400th or 2,000th step.
    and_not_of: u64,
    /// The epoch has at least this many of them.
    fewest: u64,
}

/// Batches hold a multiple of 32 samples, or of 16 or 8. The smaller, the sooner steps are printed like that.
const SAMPLES_OF_BATCHES: [SamplesOfBatches; 3] = [
    SamplesOfBatches {
        of: 32,
        and_not_of: u64::MAX,
        fewest: 4,
    },
    SamplesOfBatches {
        of: 16,
        and_not_of: 400,
        fewest: 4,
    },
    SamplesOfBatches {
        of: 8,
        and_not_of: 40,
        fewest: 50,
    },
];

impl SamplesOfBatches {
    fn have(&self, divisor: u64, total: u64) -> bool {
        divisor > 0
            && divisor.is_multiple_of(self.of)
            && !divisor.is_multiple_of(self.and_not_of)
            && total >= self.fewest.saturating_mul(divisor)
    }
}

impl Counter {
    /// A counter that was just seen for the first time.
    pub fn new(label: Label, place: CounterPlace) -> Counter {
        let at_epoch = match label {
            Label::Step(StepName::GlobalStep) | Label::Unit(_) => AtEpoch::GoesOn,
            Label::Step(StepName::Step) => AtEpoch::Unseen,
            _ => AtEpoch::ProbablyRestarts,
        };
        Counter {
            label,
            is_total: place.is_total,
            is_evaluation: place.is_evaluation,
            global: GlobalCount::new(at_epoch, place.is_named && !place.is_plural),
            rises: 0,
            lead: 0,
            lead_since: 0,
            last_line: 0,
            lines: 0,
            restarts: 0,
            falls: 0,
            unexplained_restarts: 0,
            other_totals: 0,
            repeats: 0,
            is_first: place.is_first,
            has_count_form: place.has_count_form,
            in_other_table: place.in_other_table,
            is_of_training: place.is_of_training,
            is_named_behind: place.is_named_behind,
            is_plural: place.is_plural,
            skeleton: 0,
            increment: 0,
            same_increments: 0,
            first: 0,
            divisor: 0,
        }
    }

    /// Follows it to the next line.
    pub fn observe(&mut self, printed: Printed, skeleton: u64) -> StepChange {
        let before = self.global.last();
        if before.is_none() {
            self.first = printed.n;
        }
        self.lines += 1;
        self.repeats += u32::from(before.is_some() && self.skeleton == skeleton);
        self.skeleton = skeleton;
        self.divisor = greatest_common_divisor(self.divisor, printed.n);
        // Ranks that print into one log are a few steps apart.
        let apart = self.increment.max(1).saturating_mul(RANKS_APART);
        let is_below = before.is_some_and(|before| printed.n.saturating_add(apart) < before.n);
        let rise = before
            .and_then(|before| printed.n.checked_sub(before.n))
            .filter(|by| *by > 0);
        if let Some(by) = rise {
            self.same_increments += u32::from(by == self.increment);
            self.increment = by;
        }
        let change = self.global.observe(printed);
        match change {
            StepChange::Unchanged => self.falls += u32::from(is_below),
            StepChange::Restart(_) => {
                self.falls = 0;
                self.unexplained_restarts += 1;
            }
            StepChange::Step(_) => self.rises += u32::from(before.is_some()),
            StepChange::NextEpoch(_) => {
                self.rises += 1;
                self.restarts += 1;
            }
        }
        change
    }

    /// Whether both have totals and this one's is lower.
    pub fn is_shorter_than(&self, other: &Counter) -> bool {
        let total = |counter: &Counter| counter.global.last().and_then(|last| last.total);
        match (total(self), total(other)) {
            (Some(own), Some(other)) => own < other,
            _ => false,
        }
    }

    /// Whether it has no known name.
    pub fn is_unnamed(&self) -> bool {
        matches!(self.label, Label::None | Label::Unknown | Label::Metric)
    }

    /// Whether it has the name of a step, and rises, or is rounded so that it may rise unseen.
    pub fn is_step(&self) -> bool {
        let is_rounded = || self.global.last().is_some_and(|last| last.is_rounded);
        matches!(self.label, Label::Step(name) if name >= StepName::Step)
            && (self.rises > 0 || is_rounded())
    }

    /// Whether it has a strange name and rises no oftener than a count of epochs beside it, `Ep 12 | dots= 30`, or is the score
    /// of each epoch: `Epoch 3: 9120/10000`.
    pub fn counts_less_than_epochs(&self, epochs: &Counter) -> bool {
        let is_strange =
            matches!(self.label, Label::Unknown | Label::Metric) && self.rises <= 2 * epochs.rises;
        let is_part = |last: Printed| last.total.is_some_and(|total| last.n < total);
        let is_score = self.label == Label::None
            && self.global.last().is_some_and(is_part)
            && self.lines <= u64::from(epochs.rises) + 1
            && !self.rises_evenly();
        (is_strange || is_score) && epochs.label == Label::Epoch && epochs.rises > 1
    }

    /// Whether it counts every step of an epoch, `37/400`, where the other one is rounded: `12.3k`.
    pub fn is_finer_than(&self, other: &Counter) -> bool {
        let is_rounded = |counter: &Counter| counter.global.last().is_some_and(|it| it.is_rounded);
        !self.is_evaluation
            && matches!(self.label, Label::None | Label::Step(_))
            && self.has_total()
            && self.has_epoch()
            && !is_rounded(self)
            && is_rounded(other)
    }

    /// What it counts.
    pub fn unit(&self) -> StepUnit {
        match self.label {
            Label::Unit(unit) => unit,
            Label::Epoch | Label::Epochs => StepUnit::Epochs,
            Label::None | Label::Unknown if self.counts_samples() => StepUnit::Samples,
            _ => StepUnit::Steps,
        }
    }

    /// Unnamed counts of a long epoch that advance by whole batches.
    fn counts_samples(&self) -> bool {
        let Some(total) = self.global.last().and_then(|last| last.total) else {
            return false;
        };
        SAMPLES_OF_BATCHES
            .iter()
            .any(|batches| batches.have(self.divisor, total))
    }

    /// How good a clock it would be.
    pub fn quality(&self) -> Quality {
        let by_unit = match self.unit() {
            // A table of reinforcement learning has iterations of many timesteps beside them.
            StepUnit::Timesteps if self.is_total => 6,
            StepUnit::Steps => 5,
            StepUnit::Timesteps => 4,
            StepUnit::Episodes => 3,
            StepUnit::Samples => 2,
            StepUnit::Tokens => 1,
            StepUnit::Epochs => 0,
        };
        let name = match self.label {
            Label::Step(name) => Some(name),
            _ => None,
        };
        (by_unit, name)
    }

    /// Whether what was seen so far, in lines like this one, makes it a clock.
    pub fn is_clock(&self, facts: &LineFacts, log: LogEvidence) -> bool {
        if self.is_evaluation || self.is_erratic() || facts.is_settings && self.rises < LONG_RISE {
            return false;
        }
        // An evaluation counts its episodes and batches in lines like those of a training.
        if log.is_only_inference() && !facts.has_metric {
            return false;
        }
        // Only the names of steps, and a loss beside a count of batches, are no evaluation's.
        if log.began_with_evaluation {
            match self.label {
                Label::Step(name) if name >= StepName::Step || facts.names_loss => {}
                Label::Unit(_) => {}
                _ => return false,
            }
        }
        // A caption and its score for each picture.
        let is_caption = facts.names_media && !facts.is_training && !log.is_training;
        if is_caption && self.is_unnamed() {
            return false;
        }
        let rises_in_same_line = self.rises_in_same_line(facts, log);
        match self.label {
            Label::Step(name) => self.is_named_clock(name, facts, log),
            Label::Unit(StepUnit::Timesteps | StepUnit::Episodes) => {
                facts.is_bare && log.has_metrics
                    || facts.is_bare
                        && self.has_total()
                        && self.repeats >= LONG_RISE
                        && !log.is_inference
                    || self.rises > 0
                        && (facts.has_metric || rises_in_same_line || self.has_epoch())
            }
            Label::Unit(_) => facts.has_metric && self.rises > 0,
            Label::Epoch => {
                // "Processing epoch 3": the epoch says more than the other word.
                let facts = LineFacts {
                    is_preparation: false,
                    ..*facts
                };
                let rises_in_same_line = self.rises_in_same_line(&facts, log);
                self.is_epoch_number()
                    && (facts.has_result && !facts.is_dictionary
                        || self.rises > 0 && facts.has_metric
                        || self.rises > 1 && (rises_in_same_line || self.is_heading(&facts, log)))
            }
            Label::Length => rises_in_same_line,
            Label::None => self.is_unnamed_clock(facts, log),
            Label::Unknown if self.has_total() => {
                facts.has_metric && self.rises > 0 || self.counts_values(facts, log)
            }
            Label::Unknown => {
                // A depth and a score, both whole, are those of a search.
                let has_result = facts.has_fraction || log.is_training;
                let is_measured = facts.has_metric && has_result && self.rises > 2
                    || facts.is_training && facts.has_fraction && self.rises > LONG_RISE;
                is_measured
                    && self.is_steady()
                    && self.is_small()
                    && self.rises_mostly()
                    && self.unexplained_restarts <= 1
            }
            // "Train loss 7 35.9" has the step behind the name of the metric.
            Label::Metric => {
                !self.has_total()
                    && facts.has_fraction
                    && self.rises > if self.is_of_training { 1 } else { LONG_RISE }
                    && self.same_increments + 1 >= self.rises
            }
            // "Epochs: 1000 | Loss: 0.31": so many are done.
            Label::Epochs => facts.has_result && self.rises > 1,
            Label::EpochLength | Label::Other => false,
        }
    }

    /// Whether it is still the clock in lines that would not make it the clock.
    pub fn stays_clock(&self, facts: &LineFacts) -> bool {
        matches!(self.label, Label::Step(_) | Label::Unit(_))
            && self.rises >= LONG_RISE
            && !self.is_evaluation
            && !self.is_erratic()
            && !facts.is_preparation
            && !facts.is_settings
    }

    /// `step 10`, `iteration 10`, `batch 10`.
    fn is_named_clock(&self, name: StepName, facts: &LineFacts, log: LogEvidence) -> bool {
        // "Iterations: 18, final cost: 0.3" may sum something up.
        let is_sum =
            self.is_named_behind || self.is_plural && name < StepName::Step && !self.has_total();
        if facts.has_metric && (!is_sum || self.rises > 0) {
            return true;
        }
        // "Learning iteration 3/1500" is a heading of its metrics.
        if self.is_of_training && self.has_total() && !facts.is_preparation {
            return true;
        }
        if self.begins_record(name, facts) {
            return true;
        }
        // Benchmarks and data preparation count iterations and batches too.
        let is_part = name < StepName::Step && !self.has_epoch();
        if facts.is_preparation || is_part && !log.has_metrics && !log.is_only_training() {
            return false;
        }
        // A loop that prints nothing but its steps.
        let is_alone = name >= StepName::Step && self.lines * 3 > log.lines * 2;
        self.has_epoch()
            || facts.is_bare && (log.has_metrics || is_alone)
            || facts.has_quantity
                && (self.is_first || self.rises > 0 || self.has_total())
                && (name >= StepName::Step && log.may_train() || log.has_metrics)
            || self.rises_in_same_line(facts, log)
    }

    /// `[3][10/40]`, `[1, 2000]`, `100 2.31`.
    fn is_unnamed_clock(&self, facts: &LineFacts, log: LogEvidence) -> bool {
        let has_epoch = self.has_epoch();
        if self.has_total() {
            let is_measured = facts.has_metric
                || has_epoch && facts.has_fraction && self.rises > 0
                || facts.has_epoch
                    && (has_epoch || facts.has_rate)
                    && self.rises > 1
                    && !facts.is_preparation
                || self.counts_values(facts, log);
            return is_measured && (has_epoch || self.rises > 0);
        }
        self.is_small()
            && self.is_steady()
            && (facts.has_metric && self.rises > 1
                || self.has_count_form && (log.is_training || facts.has_metric) && self.rises > 0
                || self.begins_columns(facts, log)
                || self.begins_values(facts))
    }

    /// `[0] 340 || B: 6.2 | C: 5.1 | M: 4.4`, and `[12] train's l2: 0.02`: values of a training behind a number that rises evenly.
    fn begins_values(&self, facts: &LineFacts) -> bool {
        let has_value = facts.has_fraction && facts.has_named_value;
        let has_values = facts.has_many_values || facts.is_training && has_value && self.is_first;
        has_values
            && !facts.is_inference
            && !facts.is_preparation
            && !self.in_other_table
            && self.rises > LONG_RISE
            && self.repeats > LONG_RISE
            && self.rises_evenly()
    }

    /// `Época 3/20 - pérdida: 0.41 - exactitud: 0.90`: values of any name beside a count of so many, again and again.
    fn counts_values(&self, facts: &LineFacts, log: LogEvidence) -> bool {
        facts.has_values
            && !facts.has_quantity
            && !facts.is_preparation
            && !log.is_inference
            && self.rises >= FEW_VALUES
            && self.repeats >= FEW_VALUES
            && self.rises_evenly()
    }

    /// Installers, image builds and recipes count steps too, but each of their lines is another, or is one of many others.
    fn rises_in_same_line(&self, facts: &LineFacts, log: LogEvidence) -> bool {
        let is_named = matches!(self.label, Label::Step(_) | Label::Unit(_) | Label::Epoch);
        let enough = if is_named { 1 } else { 2 };
        let dominates =
            self.rises > enough && self.is_from_start(facts) && self.lines * 3 > log.lines * 2;
        self.rises > 0
            && self.repeats > 0
            && !facts.is_preparation
            && (log.has_metrics || dominates && (!facts.has_quantity || log.may_train()))
    }

    /// Whether it falls and restarts too often for a counter.
    fn is_erratic(&self) -> bool {
        let restarts = self.unexplained_restarts;
        self.falls * 3 > self.rises + 2 || restarts > 1 && restarts * FEW_RISES > self.rises
    }

    fn has_total(&self) -> bool {
        self.global.last().is_some_and(|last| last.total.is_some())
    }

    /// Whether its line has the epoch too.
    fn has_epoch(&self) -> bool {
        let epoch = self.global.last().and_then(|last| last.epoch);
        epoch.is_some_and(|epoch| epoch.is_in_line)
    }

    /// Lines such as `100 2.31` and `12: 0.93, 0.95 avg`: without a known word, only a long and even rise counts. Row numbers of
    /// a printed table rise by one.
    fn begins_columns(&self, facts: &LineFacts, log: LogEvidence) -> bool {
        self.is_first
            && !self.in_other_table
            && facts.has_fraction
            && !facts.is_preparation
            && self.rises >= LONG_RISE
            && self.repeats >= LONG_RISE
            && self.rises_evenly()
            && !facts.has_loose_words
            && (self.increment > 1
                || log.has_epochs
                || self.rises >= VERY_LONG_RISE && self.repeats >= VERY_LONG_RISE)
    }

    /// Whether its increments are the same. The first one and the last one of a run may be shorter: `1, 10, 20`.
    fn rises_evenly(&self) -> bool {
        let is_long = self.increment > 1 && self.rises >= VERY_LONG_RISE;
        let is_aligned = self.increment > 1 && self.first == 1 && self.same_increments > 0;
        let others = if is_long { 2 } else { u32::from(is_aligned) };
        self.same_increments + 1 + others >= self.rises
    }

    /// Whether it rises in most of its lines, as a number without a known name must.
    fn rises_mostly(&self) -> bool {
        u64::from(self.rises) * 2 + 1 >= self.lines
    }

    /// `iter=3 R=21.2`: a line of names and values only.
    fn begins_record(&self, name: StepName, facts: &LineFacts) -> bool {
        name >= StepName::Iteration
            && (self.is_first || facts.is_training)
            && self.rises > 0
            && self.repeats > 0
            && facts.has_fraction
            && facts.has_named_value
            && (!facts.has_quantity || facts.is_training || facts.has_many_values)
            && !facts.has_loose_words
            && !facts.is_preparation
    }

    /// Whether most of its increments are the same.
    fn is_steady(&self) -> bool {
        self.same_increments * 2 >= self.rises
    }

    /// Whether an epoch is one of a training in a line that says nothing else: it began with the first, or has no other words.
    fn is_from_start(&self, facts: &LineFacts) -> bool {
        self.label != Label::Epoch
            || self.first <= self.increment.max(1)
            || facts.is_bare
            || facts.has_metric
    }

    /// `Epoch [3/100]` above lines of values whose names mean nothing to us.
    fn is_heading(&self, facts: &LineFacts, log: LogEvidence) -> bool {
        facts.is_bare && self.has_total() && log.is_training
    }

    /// Whether it may number epochs: a time since 1970 is larger.
    fn is_epoch_number(&self) -> bool {
        (self.global.last()).is_some_and(|last| last.n <= LAST_EPOCH)
    }

    fn is_small(&self) -> bool {
        self.global
            .last()
            .is_some_and(|last| last.n < LARGEST_UNNAMED)
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
