//! Plain logs: whatever a training prints, if it prints its memory.

mod counter;
mod label;
mod label_counts;
mod log_state;
mod memory_value;
mod token;

use leveloff_classifier::observation::XUnit;
use leveloff_progress::StepRegex;

use self::counter::{Counter, Counts};
use self::label::Label;
use self::label_counts::LabelCounts;
use self::log_state::LogState;
use self::memory_value::memory_values;
use super::{Format, Recognition};
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
    /// The user's pattern for the lines that hold the step.
    step_regex: Option<StepRegex>,
    /// A pattern that may name the step, where none was found.
    suggestion: Option<String>,
    /// What other amounts are called.
    others: Vec<String>,
    /// The unit, where it was concluded from the numbers.
    guessed_unit: Option<SizeUnit>,
}

/// Where x comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum XSource {
    /// The steps that `leveloff run` would read from the same bytes, or what the training counts instead.
    Progress(XUnit),
    /// A word that counts in the same line as the amount: the user named it, or there are too few lines to learn
    /// the steps from.
    Counter(Counter),
    /// Timestamps in front of the lines.
    Timestamp,
    /// There is none: lines are counted.
    LineNumber,
}

impl XSource {
    fn unit(self) -> XUnit {
        match self {
            XSource::Progress(unit) => unit,
            XSource::Counter(counter) => counter.unit(),
            XSource::Timestamp => XUnit::Second,
            XSource::LineNumber => XUnit::Sample,
        }
    }
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
    let found = Log::of(&stream.first_lines().collect::<Vec<_>>(), columns)?;
    if found.is_some() || stream.is_whole || stream.head.len() > HEAD {
        return Ok(found);
    }
    stream.read_head(FURTHEST)?;
    Log::of(&stream.first_lines().collect::<Vec<_>>(), columns)
}

impl Log {
    /// Looks for memory in the first lines; `None` when there is none.
    fn of(lines: &[&[u8]], choice: &ColumnChoice) -> Result<Option<Log>> {
        let wanted = choice
            .y
            .as_ref()
            .map(|name| Label::of_name(name.as_bytes()));
        let mut counts = LabelCounts::of(lines, choice.y_unit.is_some(), wanted);
        let mut guessed_unit = None;
        if counts.best().is_none() {
            guessed_unit = counts.unit_by_magnitude();
        }
        if guessed_unit.is_some() {
            counts = LabelCounts::of(lines, true, wanted);
        }
        let bare_unit = choice.y_unit.or(guessed_unit);
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
        let head = Head::of(lines, label, bare_unit, choice);
        let log = Log {
            label,
            bare_unit,
            guessed_unit,
            x_source: head.x_source(choice)?,
            step_regex: choice.step_regex.clone(),
            suggestion: head.suggestion(),
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
        self.x_source.unit()
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
        if let Some(unit) = self.guessed_unit {
            let unit = unit.name();
            notes.push(format!(
                "took numbers without a unit for {unit} by their magnitude; --y-unit states another"
            ));
        }
        if self.x_source == XSource::LineNumber {
            notes.push("no step and no time was found; lines are counted instead".to_owned());
        }
        if let Some(pattern) = &self.suggestion {
            notes.push(format!(
                "no steps were read; --step-regex '{pattern}' reads them if that is the step"
            ));
        }
        notes
    }

    fn read(&self, lines: &mut Lines, sink: &mut ObservationSink<'_>) -> Result<()> {
        let mut state = LogState::new(self.step_regex.as_ref());
        while let Some(line) = lines.next_line()? {
            state.read(line);
            match amount(line, self.label, self.bare_unit) {
                Some((value, unit)) => match unit.bytes(value) {
                    Some(memory) => {
                        state.observation.memory = memory;
                        state.count(line, self.x_source);
                        state.offer(sink);
                    }
                    None => sink.left_out.impossible += 1,
                },
                None if line.trim_ascii().is_empty() => {}
                None => sink.left_out.other_lines += 1,
            }
        }
        if matches!(self.x_source, XSource::Progress(_)) {
            sink.progress = Some(state.into_progress());
        }
        Ok(())
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

/// What the first lines hold.
struct Head<'a> {
    /// Lines with an amount.
    with_memory: Vec<&'a [u8]>,
    /// How many of them have a step, as `leveloff run` reads steps.
    with_step: usize,
    /// What a step counts.
    unit: XUnit,
    has_times: bool,
    /// A pattern for the last line with a number, where no steps are known.
    suggestion: Option<String>,
}

impl<'a> Head<'a> {
    fn of(
        lines: &[&'a [u8]],
        label: Label,
        bare_unit: Option<SizeUnit>,
        choice: &ColumnChoice,
    ) -> Head<'a> {
        let mut state = LogState::new(choice.step_regex.as_ref());
        let mut head = Head {
            with_memory: Vec::new(),
            with_step: 0,
            unit: XUnit::Step,
            has_times: false,
            suggestion: None,
        };
        for line in lines {
            state.read(line);
            if amount(line, label, bare_unit).is_some() {
                head.with_memory.push(line);
                head.with_step += usize::from(state.has_step());
            }
        }
        head.unit = state.unit();
        head.has_times = state.observation.t.is_some();
        if !state.has_step() {
            head.suggestion = state.suggestion();
        }
        head
    }

    /// A pattern is suggested only where nothing else counts steps.
    fn suggestion(&self) -> Option<String> {
        let is_counted = Counter::BEST_FIRST.into_iter().any(|it| self.counts(it));
        self.suggestion.clone().filter(|_| !is_counted)
    }

    /// Where x comes from: as the user chose, or likely.
    fn x_source(&self, choice: &ColumnChoice) -> Result<XSource> {
        match &choice.x {
            None if choice.step_regex.is_some() && self.with_step == 0 => {
                Err(Problem::Unusable(NO_MATCH.to_owned()))
            }
            None => Ok(self.likely_x_source()),
            Some(x) => match Counter::of_word(x.as_bytes()) {
                Some(counter) => Ok(XSource::Counter(counter)),
                None if Name::new(x.as_bytes()).time_scale().is_some() => Ok(XSource::Timestamp),
                None => Err(Problem::Unusable(format!(
                    "is a log: --x takes step, batch, iteration, epoch or time, not '{x}'"
                ))),
            },
        }
    }

    fn likely_x_source(&self) -> XSource {
        let [step, batch, iteration, epoch] = Counter::BEST_FIRST;
        let finer = [step, batch, iteration];
        let coarse = Some(epoch).filter(|_| self.unit == XUnit::Epoch);
        let word = finer.into_iter().chain(coarse).find(|it| self.counts(*it));
        let missed = self.with_memory.len() - self.with_step;
        match word {
            // Steps are learned from the first lines; in a long log these are no loss.
            Some(counter) if missed > MOST_MISSED.min(self.with_step / 8) => {
                XSource::Counter(counter)
            }
            _ if self.with_step > 0 => XSource::Progress(self.unit),
            _ if self.counts(epoch) => XSource::Counter(epoch),
            _ if self.has_times => XSource::Timestamp,
            _ => XSource::LineNumber,
        }
    }

    /// Whether most lines with an amount hold this word and a number.
    fn counts(&self, counter: Counter) -> bool {
        let has = |line: &&&[u8]| Counts::of(line).get(counter).is_some();
        self.with_memory.iter().filter(has).count() * 2 > self.with_memory.len()
    }
}

/// Lines with memory before the first step that a long log may lose.
const MOST_MISSED: usize = 4;

const NO_MATCH: &str = "has no line with memory at or after one that matches --step-regex; leave it \
                        out, or try it on a line: grep -P";
