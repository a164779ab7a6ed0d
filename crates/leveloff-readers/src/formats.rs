//! The formats that leveloff reads, and the order in which they are tried.

mod curve_table;
mod known_tool;
mod log;
mod mprof;
mod pasted;
mod process_table;
mod recording;
mod tables;
mod unsupported;

use std::fmt::Debug;

use leveloff_classifier::observation::XUnit;
use leveloff_model::process::printable;
use leveloff_model::recording::Header;

use crate::columns::ColumnChoice;
use crate::error::{Problem, Result};
use crate::lines::Lines;
use crate::observation_sink::ObservationSink;
use crate::stream::Stream;
use unsupported::refuse_unsupported;

/// An input of a known format, with everything that its first lines showed.
pub trait Format: Debug {
    /// The format's name, as users see it.
    fn name(&self) -> &'static str;

    /// What its observations count.
    fn x_unit(&self) -> XUnit;

    /// What its points are called in messages: rows, samples.
    fn points(&self) -> &'static str;

    /// What was guessed about it.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The header, if it is a recording.
    fn header(&self) -> Option<&Header> {
        None
    }

    /// Passes every observation to the sink.
    fn read(&self, lines: &mut Lines, sink: &mut ObservationSink<'_>) -> Result<()>;
}

/// What a recogniser says about an input.
pub enum Recognition {
    /// It has this format.
    Yes(Box<dyn Format>),
    /// It has another format.
    No,
    /// It has this format and cannot be used.
    Unusable(Problem),
    /// It may have this format, and then it cannot be used. Later formats are still tried; if none fits, this is
    /// the reason that the user sees.
    Doubtful(Problem),
}

type Recogniser = fn(&mut Stream, &ColumnChoice) -> Recognition;

/// Every format, the most specific first: almost any text could be a log.
const RECOGNISERS: [Recogniser; 5] = [
    recording::recognise,
    mprof::recognise,
    known_tool::recognise_psrecord_log,
    tables::recognise,
    log::recognise,
];

/// What leveloff reads, for messages.
pub const READABLE: &str = "its recordings, CSV, JSON lines, mprof, psrecord, prmon and logs";

/// Some programs put this in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Recognises an input by its first bytes.
pub fn recognise(stream: &mut Stream, columns: &ColumnChoice) -> Result<Box<dyn Format>> {
    if stream.head.starts_with(BYTE_ORDER_MARK) {
        stream.head.drain(..BYTE_ORDER_MARK.len());
    }
    refuse_unsupported(&stream.head)?;
    match recognise_whole(stream, columns) {
        Ok(format) => Ok(format),
        Err(problem) => pasted::recognise(stream, columns).ok_or(problem),
    }
}

/// Recognises a text of which everything is meant.
fn recognise_whole(stream: &mut Stream, columns: &ColumnChoice) -> Result<Box<dyn Format>> {
    let mut reason = None;
    for recogniser in RECOGNISERS {
        match recogniser(stream, columns) {
            Recognition::Yes(format) => return Ok(format),
            Recognition::No => {}
            Recognition::Unusable(problem) => return Err(problem),
            Recognition::Doubtful(problem) => reason = reason.or(Some(problem)),
        }
    }
    Err(reason.unwrap_or_else(|| Problem::Unusable(unknown(&stream.head))))
}

impl Recognition {
    /// A format without columns; refuses options that choose one, rather than ignore them.
    fn without_columns(format: impl Format + 'static, columns: &ColumnChoice) -> Recognition {
        if !columns.names_columns() {
            return Recognition::Yes(Box::new(format));
        }
        Recognition::Unusable(Problem::Unusable(format!(
            "is a {} file, which has no columns to choose from; leave --x, --y and --y-unit out",
            format.name()
        )))
    }
}

fn unknown(head: &[u8]) -> String {
    let first = head
        .split(|&b| b == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let first = printable(first.unwrap_or_default().trim_ascii());
    let start: String = first.chars().take(60).collect();
    format!(
        "has no memory values that leveloff recognises (it begins '{start}'); a table needs a column \
         such as rss_mb or --y NAME --y-unit MB, a log amounts such as 'step 10 RAM: 5552 MB'"
    )
}
