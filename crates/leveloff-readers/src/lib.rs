//! Reads memory over steps or time from files: recordings, tables, logs, and what other profilers write.
//!
//! [`open`] recognises the format and says what x counts; [`OpenedInput::read`] hands out one observation
//! after the other. A file is read once, from start to end, in bounded memory. Values that cannot be used are
//! left out and counted in [`ReadResult::notes`].
//!
//! `formats` holds one module for each format and the list in which they are registered: a new format is
//! a module there and a line in that list. The other modules serve them. `stream` and `lines` read bytes;
//! `number`, `size_unit` and `clock` parse a field; `table`, `column` and `columns` find out what the columns of
//! a table mean; `paste` finds the numbers in a report with prose around them; `axis` and `observation_sink` check
//! that x only increases.

mod axis;
mod clock;
mod column;
mod columns;
mod counter_columns;
mod error;
mod formats;
mod lines;
mod number;
mod observation_sink;
mod paste;
mod size_unit;
mod stream;
mod table;

use std::io::Read;

use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_model::progress::Progress;
use leveloff_model::recording::{End, Header, StatedFacts};
use leveloff_model::sample::Tick;

pub use columns::ColumnChoice;
pub use error::{Problem, ReadError};
pub use size_unit::{SizeUnit, UnknownUnit};
pub use stream::Input;

use error::Result;
use formats::Format;
use lines::Lines;
use observation_sink::ObservationSink;
use stream::Stream;

/// An input whose format is known and which is not read yet.
pub struct OpenedInput {
    /// The format, in a word or two.
    pub format: &'static str,
    /// What [`Observation::count`] counts. For [`XUnit::Second`] there is no count, only
    /// [`Observation::t`].
    pub unit: XUnit,
    /// What a recording's header states.
    pub stated: StatedFacts,
    name: String,
    reader: Box<dyn Format>,
    stream: Stream,
}

/// What an input held besides its observations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadResult {
    /// How many observations were handed out.
    pub observations: u64,
    /// What was guessed, left out or incomplete, in sentences.
    pub notes: Vec<String>,
    /// How far the training came and where its steps come from, if the input says so.
    pub progress: Option<Progress>,
    /// How a recording ended; `None` for other files, and when the recorder was killed or still runs.
    pub end: Option<End>,
    /// Whether the input shows the end of a run. A recording does if it says so; of other files nothing is known but
    /// that they hold the whole run.
    pub has_run_ended: bool,
}

/// Opens an input and recognises its format.
///
/// # Errors
/// If it cannot be opened, or has no format that leveloff reads.
pub fn open(input: &Input, columns: &ColumnChoice) -> Result<OpenedInput, ReadError> {
    recognise(input.to_string(), input.open(), columns)
}

/// Recognises the format of bytes from any source; `name` stands in front of error messages.
///
/// # Errors
/// If the bytes cannot be read, or have no format that leveloff reads.
pub fn open_reader(
    name: &str,
    reader: impl Read + Send + 'static,
    columns: &ColumnChoice,
) -> Result<OpenedInput, ReadError> {
    recognise(name.to_owned(), Stream::of(Box::new(reader)), columns)
}

fn recognise(
    name: String,
    stream: Result<Stream>,
    columns: &ColumnChoice,
) -> Result<OpenedInput, ReadError> {
    let recognised = stream.and_then(|mut stream| {
        let reader = formats::recognise(&mut stream, columns)?;
        Ok((reader, stream))
    });
    match recognised {
        Ok((reader, stream)) => Ok(OpenedInput {
            format: reader.name(),
            unit: reader.x_unit(),
            stated: reader
                .header()
                .map(|header| header.stated.clone())
                .unwrap_or_default(),
            name,
            reader,
            stream,
        }),
        Err(problem) => Err(ReadError {
            input: name,
            problem,
        }),
    }
}

impl OpenedInput {
    /// The header, if this is a recording.
    pub fn header(&self) -> Option<&Header> {
        self.reader.header()
    }

    /// Reads to the end. The observation passed to `take` is reused for the next one.
    ///
    /// # Errors
    /// If reading fails, or there is not one usable observation.
    pub fn read(self, take: &mut dyn FnMut(&Observation)) -> Result<ReadResult, ReadError> {
        self.read_with_ticks(take, &mut |_| ())
    }

    /// Like [`OpenedInput::read`]. For a recording, `ticks` is called with each tick before `take` is called
    /// with the observation made of it: a tick holds more detail.
    ///
    /// # Errors
    /// If reading fails, or there is not one usable observation.
    pub fn read_with_ticks(
        self,
        take: &mut dyn FnMut(&Observation),
        ticks: &mut dyn FnMut(&Tick),
    ) -> Result<ReadResult, ReadError> {
        let sink = ObservationSink::new(self.unit, take, ticks);
        let input = self.name;
        read_all(&*self.reader, self.stream, sink).map_err(|problem| ReadError { input, problem })
    }
}

fn read_all(
    reader: &dyn Format,
    stream: Stream,
    mut sink: ObservationSink<'_>,
) -> Result<ReadResult> {
    let mut lines = Lines::of(stream);
    reader.read(&mut lines, &mut sink)?;
    lines.report(&mut sink);
    let (observations, end) = (sink.left_out.taken, sink.end.take());
    let progress = sink.progress.take();
    let notes = sink.close(reader.points())?;
    if observations == 0 {
        return Err(Problem::Unusable(no_points(reader.points(), &notes)));
    }
    Ok(ReadResult {
        observations,
        notes: [reader.notes(), notes].concat(),
        has_run_ended: match &end {
            Some(end) => end.reason.is_end_of_run(),
            None => reader.header().is_none(),
        },
        progress,
        end,
    })
}

fn no_points(points: &str, notes: &[String]) -> String {
    if notes.is_empty() {
        format!("has no {points} yet: nothing was written after its beginning")
    } else {
        format!("has no usable {points}: {}", notes.join("; "))
    }
}

#[cfg(test)]
mod tests;
