//! Learns which of the numbers that a training prints is its clock.
//!
//! Every count of every line is followed by the phrase in front of it. A count that rises from line to line, in lines that
//! look like those of a training, can be the clock; of several, the liveliest is, and among equally lively ones the one
//! with the best name.

mod counter;
mod counter_table;
mod election;
mod global_count;
mod line_counts;
mod log_evidence;
mod table_header;

use leveloff_model::progress::StepUnit;

use self::counter_table::CounterTable;
use self::election::Heading;
use self::global_count::{EpochCount, Printed};
use self::line_counts::{LabelledCount, epoch_of, is_barren, name_of, neighbour_epoch};
use self::log_evidence::LogEvidence;
use self::table_header::{TableHeader, names_other_columns};
use crate::label::Label;
use crate::line::{Amount, ScannedLine};
use crate::line_facts::LineFacts;
use crate::steps::step_counter::StepChange;
use crate::vocabulary::StepName;

/// Rises of another counter, without one of the clock, after which the other one is the clock.
const TAKE_OVER: u32 = 3;

/// No training has more epochs; a larger number is a time since 1970.
const LAST_EPOCH: u64 = 1_000_000;

/// What a line said about the training's progress.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClockReading {
    /// The clock's count.
    pub step: Option<ClockStep>,
    /// The epoch, in a line without the clock.
    pub epoch: Option<f64>,
    /// The length of the run, as a setting.
    pub length: Option<u64>,
    /// The line counts the steps of an evaluation.
    pub is_evaluation: bool,
    /// No number of such a line can ever be of use.
    pub is_barren: bool,
    /// Counts beside the clock.
    pub beside: Vec<(StepUnit, u64)>,
}

/// The clock's count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockStep {
    /// Its count.
    pub change: StepChange,
    /// What it counts.
    pub unit: StepUnit,
    /// The epoch, where known.
    pub epoch: Option<f64>,
    /// Steps in an epoch, where known.
    pub epoch_steps: Option<u64>,
    /// Steps of the run, where known.
    pub planned: Option<u64>,
    /// The counter was not the clock before.
    pub is_new: bool,
    /// Another counter was the clock before.
    pub replaces_other: bool,
}

/// The counters of one output, and the clock among them.
#[derive(Debug, Default)]
pub struct Clock {
    counters: CounterTable,
    /// The key of the clock.
    current: Option<u64>,
    /// The name of the clock as printed.
    name: String,
    /// How often the clock rose.
    rises: u64,
    /// The step that the clock reported last.
    reported: u64,
    /// The newest epoch of a line without the clock.
    epoch: Option<EpochCount>,
    /// How many epochs are planned, as a setting.
    epochs: Option<u64>,
    /// A line announced an evaluation, and the clock has not risen since.
    is_evaluation_announced: bool,
    log: LogEvidence,
    /// The columns of the last table.
    header: Option<TableHeader>,
    /// The line that named columns that no training has.
    other_header_line: Option<u64>,
    /// A count that stands above its metrics: `Iteration 50 / 1000`, and `loss: 2.31` below.
    heading: Option<Heading>,
    /// The counts of the line, kept to save allocations.
    counts: Vec<LabelledCount>,
}

impl Clock {
    /// Processes a line.
    pub fn observe(
        &mut self,
        line: &[u8],
        scanned: &ScannedLine,
        facts: &LineFacts,
    ) -> ClockReading {
        let header = self.header.as_ref();
        let in_table = header.is_some_and(|header| header.has_row(line, &scanned.numbers));
        if in_table {
            let facts = LineFacts {
                has_metric: true,
                ..*facts
            };
            return self.observe_counts(line, scanned, &facts, true);
        }
        self.observe_counts(line, scanned, facts, false)
    }

    fn observe_counts(
        &mut self,
        line: &[u8],
        scanned: &ScannedLine,
        facts: &LineFacts,
        in_table: bool,
    ) -> ClockReading {
        self.log.lines += 1;
        self.note_announcement(facts);
        let mut reading = ClockReading::default();
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear();
        self.labelled_counts(line, scanned, facts, in_table, &mut counts);
        self.note_settings(&counts, &mut reading);
        self.log.has_metrics |= facts.has_result && !facts.is_settings;
        self.log.records = self.log.records.saturating_add(u32::from(facts.is_record));
        let epoch_in_line = epoch_of(&counts);
        self.log.has_epochs |= epoch_in_line.is_some() && facts.is_bare;
        let mut best: Option<(u64, StepChange)> = None;
        let mut current: Option<(u64, StepChange)> = None;
        for count in &counts {
            let printed = self.printed(count, &counts, epoch_in_line);
            let change = self.follow(count.key, printed, scanned.skeleton);
            self.note(count, facts, &mut reading);
            if self.current == Some(count.key) && self.may_be_clock(count.key, facts) {
                current = Some((count.key, change));
            }
            if self.is_better(count.key, best.map(|(key, _)| key), facts) {
                best = Some((count.key, change));
            }
        }
        if let Some((key, change)) = best {
            reading.step = self.elect(key, change, &counts);
            // A better one of the same line that may not take over yet does not stop the clock.
            if let (None, Some((key, change))) = (reading.step, current) {
                reading.step = self.elect(key, change, &counts);
            }
            if reading.step.as_ref().is_some_and(|step| step.is_new) {
                self.name = name_of(line, scanned, &counts, key);
            }
        }
        if reading.step.is_none() {
            reading.step = self.advance_by_other(&counts, epoch_in_line);
        }
        if reading.step.is_none() {
            reading.step = self.elect_heading(&counts, facts);
            if let Some(key) = self.note_heading(&counts, facts) {
                self.name = name_of(line, scanned, &counts, key);
            }
        }
        reading.is_barren = !in_table && is_barren(facts, &counts);
        self.note_fractions(line, scanned, facts, &mut reading);
        self.take_epoch(epoch_in_line, facts, &mut reading);
        self.counts = counts;
        reading
    }

    /// Counts a line of a barren format.
    pub fn skip_line(&mut self) {
        self.log.lines += 1;
    }

    /// The line has no numbers. It may be the header of a table, or announce an evaluation, whose lines may look like
    /// those of the training.
    ///
    /// Returns whether it is a header: rows that meant nothing before may count now.
    pub fn observe_words(&mut self, line: &[u8], facts: &LineFacts) -> bool {
        self.log.lines += 1;
        self.log.has_metrics |= facts.names_metrics;
        self.note_announcement(facts);
        let header = facts.may_be_header.then(|| TableHeader::of(line)).flatten();
        let is_header = header.is_some();
        self.header = header.or_else(|| self.header.take());
        if names_other_columns(line) {
            self.other_header_line = Some(self.log.lines);
        }
        is_header
    }

    /// `***** Running Evaluation *****`
    fn note_announcement(&mut self, facts: &LineFacts) {
        self.log.is_training |= facts.is_training;
        self.log.names_epochs |= facts.has_epoch;
        self.log.names_device |= facts.names_device;
        self.log.is_inference |=
            facts.is_inference || facts.evaluation_from.is_some() && !facts.is_training;
        let is_other = self.log.is_training || self.log.names_epochs;
        if facts.is_training {
            self.is_evaluation_announced = false;
        } else if facts.announces_evaluation {
            self.is_evaluation_announced = true;
            self.log.began_with_evaluation |= facts.begins_evaluation && !self.log.has_metrics;
        }
        self.log.began_with_evaluation &= !is_other;
    }

    fn printed(
        &self,
        count: &LabelledCount,
        counts: &[LabelledCount],
        epoch_in_line: Option<EpochCount>,
    ) -> Printed {
        let epoch = match count.label {
            Label::Epoch | Label::Epochs => None,
            _ => epoch_in_line
                .or_else(|| neighbour_epoch(count, counts))
                .or(self.epoch)
                .map(|epoch| EpochCount {
                    of: epoch.of.or(self.epochs),
                    ..epoch
                }),
        };
        let epoch_length = || {
            let length = counts
                .iter()
                .find(|other| other.label == Label::EpochLength);
            length
                .map(|length| length.n)
                .filter(|_| count.label == Label::Step(StepName::Batch))
        };
        Printed {
            n: count.n,
            is_rounded: count.is_rounded,
            total: count.total.or_else(epoch_length),
            epoch,
        }
    }

    /// How many epochs a line said that there will be.
    pub fn planned_epochs(&self) -> Option<u64> {
        self.epochs.filter(|epochs| *epochs > 0)
    }

    /// What the lines so far say about a bar that does not say what it counts.
    pub fn evidence(&self) -> LogEvidence {
        self.log
    }

    /// Whether the newest announcement is that of an evaluation.
    pub fn is_evaluation_announced(&self) -> bool {
        self.is_evaluation_announced
    }

    fn has_clock(&self) -> bool {
        self.current.is_some()
    }

    /// The name of the clock as printed.
    pub fn name(&self) -> Option<&str> {
        self.current.map(|_| self.name.as_str())
    }

    /// Whether the clock counts whole epochs, which is the last resort.
    pub fn counts_epochs(&self) -> bool {
        let clock = self.current.and_then(|key| self.counters.get(key));
        clock.is_some_and(|clock| clock.label == Label::Epoch)
    }

    fn follow(&mut self, key: u64, printed: Printed, skeleton: u64) -> StepChange {
        let is_current = self.current == Some(key);
        let Some(counter) = self.counters.get_mut(key) else {
            return StepChange::Unchanged;
        };
        counter.last_line = self.log.lines;
        let rises = counter.rises;
        let change = counter.observe(printed, skeleton);
        if counter.rises > rises {
            if counter.lead_since != self.rises {
                (counter.lead, counter.restarts, counter.lead_since) = (0, 0, self.rises);
            }
            counter.lead += 1;
            if is_current {
                self.rises += 1;
                self.is_evaluation_announced = false;
            }
        }
        change
    }

    /// Notes lengths of the run.
    fn note_settings(&mut self, counts: &[LabelledCount], reading: &mut ClockReading) {
        for count in counts
            .iter()
            .filter(|count| count.n > 0 && !count.is_evaluation)
        {
            let stands = self
                .counters
                .get(count.key)
                .is_some_and(|counter| counter.rises == 0);
            match count.label {
                Label::Length if stands => reading.length = Some(count.n),
                Label::Epochs if stands && count.n <= LAST_EPOCH => self.epochs = Some(count.n),
                _ => {}
            }
        }
    }

    fn note(&self, count: &LabelledCount, facts: &LineFacts, reading: &mut ClockReading) {
        let Some(counter) = self.counters.get(count.key) else {
            return;
        };
        let current = self.current.and_then(|key| self.counters.get(key));
        let is_shorter = current.is_some_and(|current| counter.is_shorter_than(current));
        if counter.is_evaluation || is_shorter {
            let counts = matches!(count.label, Label::None | Label::Step(_) | Label::Unknown);
            let has_total = count.total.is_some();
            reading.is_evaluation |= counts && counter.rises > 0 && (has_total || facts.has_metric);
            return;
        }
        if let Label::Unit(unit) = count.label
            && self.current != Some(count.key)
            && counter.rises > 1
        {
            reading.beside.push((unit, counter.global.step()));
        }
    }

    /// `epoch 0.25`
    fn note_fractions(
        &self,
        line: &[u8],
        scanned: &ScannedLine,
        facts: &LineFacts,
        reading: &mut ClockReading,
    ) {
        if !facts.has_metric || !facts.has_epoch {
            return;
        }
        for number in &scanned.numbers {
            if let Amount::Fraction(epoch) = number.amount
                && epoch <= LAST_EPOCH as f64
                && Label::of(line, number) == Label::Epoch
            {
                reading.epoch = Some(epoch);
            }
        }
    }

    /// Remembers the epoch of a line that does not hold the clock.
    fn take_epoch(
        &mut self,
        epoch: Option<EpochCount>,
        facts: &LineFacts,
        reading: &mut ClockReading,
    ) {
        let Some(epoch) = epoch.filter(|_| facts.evaluation_from.is_none()) else {
            return;
        };
        if reading.step.is_none() {
            self.epoch = Some(EpochCount {
                is_in_line: false,
                ..epoch
            });
        }
        if reading
            .step
            .as_ref()
            .is_none_or(|step| step.epoch.is_none())
        {
            reading.epoch = reading.epoch.or(Some(epoch.number as f64));
        }
    }
}
