//! Any file that tells memory over steps or time, as a stream of observations.
//!
//! [`open`] recognises what it is and says what its x counts; [`Opened::read`] then hands out one
//! observation after the other. Files are read once, from front to end, in bounded memory, whatever
//! their size. What cannot be used is left out, counted and told in [`Reading::notes`].
//!
//! From the bottom up: `number`, `size_unit` and `clock` understand a field; `stream` and `lines`
//! bring bytes in; `axis` and `outlet` see to it that x only goes forward. `table`, `column` and
//! `columns` find out what a table's columns are, `tool` knows those of other tools. Then one
//! module for each kind of input: `curve_table`, `process_table`, `mprof`, `log`, `recording`.

mod axis;
mod clock;
mod column;
mod columns;
mod curve_table;
mod inside_columns;
mod lines;
mod log;
mod mprof;
mod number;
mod outlet;
mod process_table;
mod recognise;
mod recording;
mod size_unit;
mod stream;
mod table;
mod tool;

use std::io::Read;

use anyhow::{Context, Result, bail};
use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_model::recording::{End, Header, StatedFacts};
use leveloff_model::sample::Tick;

pub use size_unit::{SizeUnit, UnknownUnit};
pub use stream::Input;

use lines::Lines;
use outlet::{Outlet, counted};
use recognise::Kind;
use stream::Stream;

/// What the user says of a table or a log: `--x`, `--y`, `--y-unit`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The column to draw over: its name, or its number from 1.
    pub x: Option<String>,
    /// The column that holds memory; in a log, the words before the amount.
    pub y: Option<String>,
    /// The unit of memory.
    pub y_unit: Option<SizeUnit>,
}

/// An input that was recognised and not read yet.
pub struct Opened {
    /// What it is, in a word or two.
    pub format: &'static str,
    /// What [`Observation::count`] is going to count. For [`XUnit::Second`] there is no count,
    /// only [`Observation::t`].
    pub unit: XUnit,
    /// What a recording's header states.
    pub stated: StatedFacts,
    name: String,
    kind: Kind,
    stream: Stream,
}

/// What came of reading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// How many observations were handed out.
    pub observations: u64,
    /// What was guessed, left out or torn, in sentences.
    pub notes: Vec<String>,
    /// How a recording ended; `None` for other files, and when its recorder was killed or runs.
    pub end: Option<End>,
}

/// Opens an input and recognises it.
pub fn open(input: &Input, asked: &Asked) -> Result<Opened> {
    let name = input.to_string();
    let recognised = input
        .open()
        .and_then(|stream| recognise(name.clone(), stream, asked));
    recognised.context(name)
}

/// Recognises bytes that come from anywhere; `name` goes in front of what is wrong with them.
pub fn open_reader(
    name: &str,
    reader: impl Read + Send + 'static,
    asked: &Asked,
) -> Result<Opened> {
    let recognised =
        Stream::of(Box::new(reader)).and_then(|stream| recognise(name.to_owned(), stream, asked));
    recognised.with_context(|| name.to_owned())
}

fn recognise(name: String, mut stream: Stream, asked: &Asked) -> Result<Opened> {
    let kind = Kind::of(&mut stream, asked)?;
    Ok(Opened {
        format: kind.format(),
        unit: kind.unit(),
        stated: kind.stated(),
        name,
        kind,
        stream,
    })
}

impl Opened {
    /// What a recording says of itself.
    pub fn header(&self) -> Option<&Header> {
        match &self.kind {
            Kind::Recording(header) => Some(header),
            _ => None,
        }
    }

    /// Reads it to its end. The observation that is handed out is filled again for the next.
    pub fn read(self, take: &mut dyn FnMut(&Observation)) -> Result<Reading> {
        self.read_with_ticks(take, &mut |_| ())
    }

    /// The same. A recording's ticks, which know more than observations, are handed out as well, each
    /// before the observation that it becomes.
    pub fn read_with_ticks(
        self,
        take: &mut dyn FnMut(&Observation),
        ticks: &mut dyn FnMut(&Tick),
    ) -> Result<Reading> {
        let name = self.name.clone();
        self.read_all(take, ticks).context(name)
    }

    fn read_all(
        self,
        take: &mut dyn FnMut(&Observation),
        ticks: &mut dyn FnMut(&Tick),
    ) -> Result<Reading> {
        let mut end = None;
        let mut outlet = Outlet::new(self.unit, take);
        let guessed = self.kind.notes();
        let mut notes = Vec::new();
        let what = self.kind.points();
        if let Kind::Recording(_) = self.kind {
            let (said, ended) = recording::read(self.stream, &mut outlet, ticks)?;
            notes.extend(said);
            end = ended;
        } else {
            let mut lines = Lines::of(self.stream);
            match &self.kind {
                Kind::Recording(_) => {}
                Kind::Curve(_, table) => table.read(&mut lines, &mut outlet)?,
                Kind::Processes(table) => table.read(&mut lines, &mut outlet)?,
                Kind::Mprof => notes.extend(mprof::read(&mut lines, &mut outlet)?),
                Kind::Log(log) => log.read(&mut lines, &mut outlet)?,
            }
            notes.extend(lines_left_out(&lines));
        }
        let observations = outlet.left_out.taken;
        notes.extend(outlet.close(what)?);
        if observations == 0 {
            bail!("{}", nothing(what, &notes));
        }
        Ok(Reading {
            observations,
            notes: [guessed, notes].concat(),
            end,
        })
    }
}

fn lines_left_out(lines: &Lines) -> Vec<String> {
    let mut notes = Vec::new();
    if lines.is_torn {
        notes.push("the last line is incomplete, as if it was still being written".to_owned());
    }
    if lines.too_long > 0 {
        let lines = counted(lines.too_long, "lines");
        notes.push(format!("left out {lines}: longer than 1 MiB"));
    }
    notes
}

/// Why there is not one point.
fn nothing(what: &str, notes: &[String]) -> String {
    if notes.is_empty() {
        format!("has no {what} yet: nothing was written after its beginning")
    } else {
        format!("has no {what} that can be used: {}", notes.join("; "))
    }
}

#[cfg(test)]
mod tests;
