//! Plain logs: whatever a training prints, if it prints its memory.

mod counter;
mod label;
mod label_counts;
mod memory_value;
mod token;

use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_model::progress::MarkKind;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Seconds;
use leveloff_progress::{OutputParser, Plan, ProgressUpdate};

use self::counter::{Counter, Counts};
use self::label::Label;
use self::label_counts::LabelCounts;
use self::memory_value::memory_values;
use super::{Format, Recognition};
use crate::clock::{Timeline, stamp};
use crate::column::Name;
use crate::columns::ColumnChoice;
use crate::error::{Problem, Result};
use crate::lines::Lines;
use crate::observation_sink::ObservationSink;
use crate::size_unit::SizeUnit;
use crate::stream::{HEAD, Stream};

/// How the lines are read.
#[derive(Debug)]
struct Log {
    /// What the amounts that are followed are called.
    label: Label,
    /// The unit of bare numbers.
    bare_unit: Option<SizeUnit>,
    /// Where x comes from.
    x_source: XSource,
    /// What other amounts are called.
    others: Vec<String>,
}

/// Where x comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum XSource {
    /// A counter in the same line as the amount.
    Counter(Counter),
    /// Progress bars and other lines, as `leveloff run` reads them.
    Progress,
    /// Timestamps in front of the lines.
    Timestamp,
    /// There is none: lines are counted.
    LineNumber,
}

/// Looks further into the stream than a table needs: the log of a training often begins with downloads.
pub fn recognise(stream: &mut Stream, columns: &ColumnChoice) -> Recognition {
    match find(stream, columns) {
        Ok(Some(log)) => Recognition::Yes(Box::new(log)),
        Ok(None) => Recognition::No,
        Err(problem) => Recognition::Doubtful(problem),
    }
}

fn find(stream: &mut Stream, columns: &ColumnChoice) -> Result<Option<Log>> {
    const FURTHEST: usize = 4 << 20;
    let found = Log::of(&stream.first_lines(), columns)?;
    if found.is_some() || stream.is_whole || stream.head.len() > HEAD {
        return Ok(found);
    }
    stream.read_head(FURTHEST)?;
    Log::of(&stream.first_lines(), columns)
}

impl Log {
    /// Looks for memory in the first lines; `None` when there is none.
    fn of(lines: &[&[u8]], choice: &ColumnChoice) -> Result<Option<Log>> {
        let wanted = choice
            .y
            .as_ref()
            .map(|name| Label::of_name(name.as_bytes()));
        let counts = LabelCounts::of(lines, choice.y_unit.is_some(), wanted);
        let Some(label) = counts.best() else {
            if let Some(name) = &choice.y
                && !counts.is_empty()
            {
                return Err(Problem::Unusable(format!(
                    "has no amounts called '{name}'; it has {}",
                    counts.names().join(", ")
                )));
            }
            if let Some(line) = counts.unitless {
                return Err(Problem::Unusable(format!(
                    "has memory without a unit ('{line}'); state it, such as --y-unit MB (or MiB, \
                     GiB, B)"
                )));
            }
            return Ok(None);
        };
        let log = Log {
            label,
            bare_unit: choice.y_unit,
            x_source: x_source(lines, label, choice)?,
            others: counts.names_beside(label),
        };
        Ok(Some(log))
    }
}

impl Format for Log {
    fn name(&self) -> &'static str {
        "log"
    }

    fn points(&self) -> &'static str {
        "lines"
    }

    fn x_unit(&self) -> XUnit {
        match self.x_source {
            XSource::Counter(counter) => counter.unit(),
            XSource::Progress => XUnit::Step,
            XSource::Timestamp => XUnit::Second,
            XSource::LineNumber => XUnit::Sample,
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.others.is_empty() {
            notes.push(format!(
                "took the amounts called '{}'; --y names others ({})",
                self.label.text(),
                self.others.join(", ")
            ));
        }
        if self.x_source == XSource::LineNumber {
            notes.push("nothing counts steps or time; lines are counted instead".to_owned());
        }
        notes
    }

    fn read(&self, lines: &mut Lines, sink: &mut ObservationSink<'_>) -> Result<()> {
        let mut state = LogState::default();
        while let Some(line) = lines.next_line()? {
            state.read(line);
            match amount(line, self.label, self.bare_unit) {
                Some((value, unit)) => match unit.bytes(value) {
                    Some(memory) => {
                        state.observation.memory = memory;
                        state.count(line, self.x_source);
                        sink.offer(&mut state.observation);
                        state.observation.marks.clear();
                    }
                    None => sink.left_out.impossible += 1,
                },
                None if line.trim_ascii().is_empty() => {}
                None => sink.left_out.other_lines += 1,
            }
        }
        Ok(())
    }
}

/// What the lines so far said.
#[derive(Default)]
struct LogState {
    parser: OutputParser,
    timeline: Timeline,
    observation: Observation,
    step: Option<f64>,
    lines: u64,
}

impl LogState {
    fn read(&mut self, line: &[u8]) {
        if let Some(time) = stamp(line) {
            self.observation.t = Some(Seconds(self.timeline.seconds(time)));
        }
        let updates = self.parser.feed(line);
        updates.into_iter().for_each(|update| self.take(update));
        let updates = self.parser.feed(b"\n");
        updates.into_iter().for_each(|update| self.take(update));
    }

    fn take(&mut self, update: ProgressUpdate) {
        let observation = &mut self.observation;
        self.step = update.step.map(|step| step.0 as f64).or(self.step);
        observation.epoch = update.epoch.or(observation.epoch);
        match update.plan {
            Some(Plan::Steps(steps)) => observation.planned = Some(steps.0 as f64),
            Some(Plan::Withdrawn) => observation.planned = None,
            None => {}
        }
        let epoch_length = update.epoch_steps.map(|steps| steps.0 as f64);
        observation.epoch_length = epoch_length.or(observation.epoch_length);
        if let Some(phase) = update.phase {
            observation.marks.push(MarkKind::Phase(phase.clone()));
            observation.phase = Some(phase);
        }
        if let Some(event) = update.event {
            observation.marks.push(MarkKind::Event(event));
        }
        bound(&mut observation.marks);
    }

    fn count(&mut self, line: &[u8], x_source: XSource) {
        let counts = Counts::of(line);
        self.lines += 1;
        let observation = &mut self.observation;
        if counts.tensors.is_some() {
            observation
                .counters
                .set(TrainingCounter::Tensors, counts.tensors);
        }
        match x_source {
            // A line without its counter belongs to the step before.
            XSource::Counter(counter) => {
                observation.count = counts.get(counter).or(observation.count);
            }
            XSource::Progress => observation.count = self.step,
            XSource::Timestamp => observation.count = None,
            XSource::LineNumber => observation.count = Some(self.lines as f64),
        }
        if x_source == XSource::Counter(Counter::Epoch) {
            // Where epochs are x, they are not also the length of something.
            observation.epoch = None;
        } else {
            observation.epoch = counts.get(Counter::Epoch).or(observation.epoch);
        }
    }
}

/// Marks on lines without memory must not pile up forever.
fn bound(marks: &mut Vec<MarkKind>) {
    const MOST: usize = 1000;
    if marks.len() > MOST {
        marks.drain(..MOST / 2);
    }
}

/// The last amount of a line with this label: a progress bar redraws itself in one line.
fn amount(line: &[u8], label: Label, bare_unit: Option<SizeUnit>) -> Option<(f64, SizeUnit)> {
    // Most lines of a long log are words alone.
    if !line.iter().any(u8::is_ascii_digit) {
        return None;
    }
    line.split(|&b| b == b'\r')
        .filter(|piece| !label.is_empty() || Counts::of(piece).is_any())
        .flat_map(memory_values)
        .filter(|found| found.label == label)
        .filter_map(|found| Some((found.value, found.unit.or(bare_unit)?)))
        .last()
}

/// Where x comes from, judged by the first lines.
fn x_source(lines: &[&[u8]], label: Label, choice: &ColumnChoice) -> Result<XSource> {
    match &choice.x {
        None => Ok(likely_x_source(lines, label, choice)),
        Some(x) => match Counter::of_word(x.as_bytes()) {
            Some(counter) => Ok(XSource::Counter(counter)),
            None if Name::new(x.as_bytes()).time_scale().is_some() => Ok(XSource::Timestamp),
            None => Err(Problem::Unusable(format!(
                "is a log: --x takes step, batch, iteration, epoch or time, not '{x}'"
            ))),
        },
    }
}

fn likely_x_source(lines: &[&[u8]], label: Label, choice: &ColumnChoice) -> XSource {
    let unit = choice.y_unit;
    let with_memory = || {
        lines
            .iter()
            .filter(|line| amount(line, label, unit).is_some())
    };
    let all = with_memory().count();
    let counted = |counter: Counter| {
        let has = |line: &&&[u8]| Counts::of(line).get(counter).is_some();
        with_memory().filter(has).count() * 2 > all
    };
    let [step, batch, iteration, epoch] = Counter::BEST_FIRST;
    if let Some(counter) = [step, batch, iteration].into_iter().find(|c| counted(*c)) {
        return XSource::Counter(counter);
    }
    let mut state = LogState::default();
    lines.iter().for_each(|line| state.read(line));
    if state.step.is_some() {
        XSource::Progress
    } else if counted(epoch) {
        XSource::Counter(epoch)
    } else if with_memory().any(|line| stamp(line).is_some()) || state.observation.t.is_some() {
        XSource::Timestamp
    } else {
        XSource::LineNumber
    }
}
