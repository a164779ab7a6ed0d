//! Plain logs: whatever a training prints, if it prints its memory.

mod counter;
mod label;
mod mention;
mod tally;
mod token;

use anyhow::{Result, bail};
use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_model::progress::MarkKind;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Seconds;
use leveloff_progress::{OutputParser, Plan, ProgressUpdate};

use self::counter::{Counter, Counts};
use self::label::Label;
use self::mention::mentions;
use self::tally::Tally;
use super::Asked;
use super::clock::{Timeline, stamp};
use super::column::Name;
use super::lines::Lines;
use super::outlet::Outlet;
use super::size_unit::SizeUnit;

/// How the lines are read.
#[derive(Debug)]
pub struct Log {
    /// What the amounts that are followed are called.
    label: Label,
    /// The unit of bare numbers.
    bare_unit: Option<SizeUnit>,
    /// Who counts.
    teller: Teller,
    /// What other amounts are called.
    others: Vec<String>,
}

/// What x is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Teller {
    /// A counter in the same line as the amount.
    Line(Counter),
    /// Bars and lines in between, as `leveloff run` reads them.
    Output,
    /// Dates in front of the lines.
    Clock,
    /// Nothing: lines are counted.
    Nobody,
}

impl Log {
    /// Looks for memory in the first lines; `None` when there is none.
    pub fn of(lines: &[&[u8]], asked: &Asked) -> Result<Option<Log>> {
        let wanted = asked.y.as_ref().map(|name| Label::of_name(name.as_bytes()));
        let tally = Tally::of(lines, asked.y_unit.is_some(), wanted);
        let Some(label) = tally.best() else {
            if let Some(name) = &asked.y
                && !tally.is_empty()
            {
                bail!(
                    "has no amounts called '{name}'; it has {}",
                    tally.names().join(", ")
                );
            }
            if let Some(line) = tally.unitless {
                bail!(
                    "has memory without a unit ('{line}'); state it, such as --y-unit MB (or MiB, \
                     GiB, B)"
                );
            }
            return Ok(None);
        };
        let log = Log {
            label,
            bare_unit: asked.y_unit,
            teller: teller(lines, label, asked)?,
            others: tally.names_beside(label),
        };
        Ok(Some(log))
    }

    /// What its observations count.
    pub fn unit(&self) -> XUnit {
        match self.teller {
            Teller::Line(counter) => counter.unit(),
            Teller::Output => XUnit::Step,
            Teller::Clock => XUnit::Second,
            Teller::Nobody => XUnit::Sample,
        }
    }

    /// What was guessed.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.others.is_empty() {
            notes.push(format!(
                "took the amounts called '{}'; --y names others ({})",
                self.label.text(),
                self.others.join(", ")
            ));
        }
        if self.teller == Teller::Nobody {
            notes.push("nothing counts steps or time; lines are counted instead".to_owned());
        }
        notes
    }

    /// Reads every line.
    pub fn read(&self, lines: &mut Lines, outlet: &mut Outlet<'_>) -> Result<()> {
        let mut follower = Follower::default();
        while let Some(line) = lines.next_line()? {
            follower.hear(line);
            match amount(line, self.label, self.bare_unit) {
                Some((value, unit)) => match unit.bytes(value) {
                    Some(memory) => {
                        follower.observation.memory = memory;
                        follower.count(line, self.teller);
                        outlet.offer(&mut follower.observation);
                        follower.observation.marks.clear();
                    }
                    None => outlet.left_out.impossible += 1,
                },
                None if line.trim_ascii().is_empty() => {}
                None => outlet.left_out.other_lines += 1,
            }
        }
        Ok(())
    }
}

/// What was said so far.
#[derive(Default)]
struct Follower {
    parser: OutputParser,
    timeline: Timeline,
    observation: Observation,
    step: Option<f64>,
    lines: u64,
}

impl Follower {
    fn hear(&mut self, line: &[u8]) {
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

    fn count(&mut self, line: &[u8], teller: Teller) {
        let counts = Counts::of(line);
        self.lines += 1;
        let observation = &mut self.observation;
        if counts.tensors.is_some() {
            observation
                .counters
                .set(TrainingCounter::Tensors, counts.tensors);
        }
        match teller {
            // A line without its counter belongs to the step before.
            Teller::Line(counter) => observation.count = counts.get(counter).or(observation.count),
            Teller::Output => observation.count = self.step,
            Teller::Clock => observation.count = None,
            Teller::Nobody => observation.count = Some(self.lines as f64),
        }
        if teller == Teller::Line(Counter::Epoch) {
            // Where epochs are x, they are not also the length of something.
            observation.epoch = None;
        } else {
            observation.epoch = counts.get(Counter::Epoch).or(observation.epoch);
        }
    }
}

/// What was said while no memory was told does not pile up for ever.
fn bound(marks: &mut Vec<MarkKind>) {
    const MOST: usize = 1000;
    if marks.len() > MOST {
        marks.drain(..MOST / 2);
    }
}

/// The newest amount of a line that is called so. A bar redraws itself in one line.
fn amount(line: &[u8], label: Label, bare_unit: Option<SizeUnit>) -> Option<(f64, SizeUnit)> {
    // Most lines of a long log are words alone.
    if !line.iter().any(u8::is_ascii_digit) {
        return None;
    }
    line.split(|&b| b == b'\r')
        .filter(|piece| !label.is_empty() || Counts::of(piece).is_any())
        .flat_map(mentions)
        .filter(|mention| mention.label == label)
        .filter_map(|mention| Some((mention.value, mention.unit.or(bare_unit)?)))
        .last()
}

/// Who counts, judged by the first lines.
fn teller(lines: &[&[u8]], label: Label, asked: &Asked) -> Result<Teller> {
    match &asked.x {
        None => Ok(likely_teller(lines, label, asked)),
        Some(x) => match Counter::of_word(x.as_bytes()) {
            Some(counter) => Ok(Teller::Line(counter)),
            None if Name::new(x.as_bytes()).tells_time().is_some() => Ok(Teller::Clock),
            None => bail!("is a log: --x takes step, batch, iteration, epoch or time, not '{x}'"),
        },
    }
}

fn likely_teller(lines: &[&[u8]], label: Label, asked: &Asked) -> Teller {
    let unit = asked.y_unit;
    let telling = || {
        lines
            .iter()
            .filter(|line| amount(line, label, unit).is_some())
    };
    let all = telling().count();
    let counted = |counter: Counter| {
        let has = |line: &&&[u8]| Counts::of(line).get(counter).is_some();
        telling().filter(has).count() * 2 > all
    };
    let [step, batch, iteration, epoch] = Counter::BEST_FIRST;
    if let Some(counter) = [step, batch, iteration].into_iter().find(|c| counted(*c)) {
        return Teller::Line(counter);
    }
    let mut follower = Follower::default();
    lines.iter().for_each(|line| follower.hear(line));
    if follower.step.is_some() {
        Teller::Output
    } else if counted(epoch) {
        Teller::Line(epoch)
    } else if telling().any(|line| stamp(line).is_some()) || follower.observation.t.is_some() {
        Teller::Clock
    } else {
        Teller::Nobody
    }
}
