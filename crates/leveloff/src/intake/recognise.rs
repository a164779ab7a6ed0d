//! What is this?

use anyhow::{Result, bail};
use leveloff_classifier::observation::XUnit;
use leveloff_model::process::printable;
use leveloff_model::recording::{Header, StatedFacts};

use super::Asked;
use super::curve_table::CurveTable;
use super::log::Log;
use super::process_table::ProcessTable;
use super::stream::{HEAD, Stream};
use super::table::Table;
use super::tool::Tool;
use super::{mprof, recording};

/// A kind of input, with everything that was found out about it.
#[derive(Debug)]
pub enum Kind {
    /// leveloff's own recording.
    Recording(Box<Header>),
    /// A table with a row for each moment; its name.
    Curve(&'static str, CurveTable),
    /// A table with a row for each process and moment.
    Processes(ProcessTable),
    /// memory_profiler's `mprof`.
    Mprof,
    /// Anything else that mentions memory.
    Log(Log),
}

impl Kind {
    /// Recognises the input by its first bytes.
    pub fn of(stream: &mut Stream, asked: &Asked) -> Result<Kind> {
        refuse_what_is_no_text(&stream.head)?;
        if stream.head.starts_with(BYTE_ORDER_MARK) {
            stream.head.drain(..BYTE_ORDER_MARK.len());
        }
        if let Some(header) = recording::recognise(stream)? {
            refuse_columns(asked, "a recording")?;
            return Ok(Kind::Recording(Box::new(header)));
        }
        if is_json_array(&stream.head) {
            bail!("is a JSON array; make it lines: jq -c '.[]' FILE | leveloff judge -");
        }
        let lines = first_lines(stream);
        if mprof::is_mprof(&lines) {
            refuse_columns(asked, "a file of mprof")?;
            return Ok(Kind::Mprof);
        }
        let why_no_table = match table(&lines, asked) {
            Some(Ok(kind)) => return Ok(kind),
            Some(Err(unusable)) => Some(unusable),
            None => None,
        };
        // A log may begin with pages of something else. What is plainly a table is none, even if
        // some field of it mentions memory.
        let log = match &why_no_table {
            Some(unusable) if unusable.is_plainly_one => Ok(None),
            _ => log(stream, asked),
        };
        match (log, why_no_table) {
            (Ok(Some(log)), _) => Ok(Kind::Log(log)),
            (_, Some(unusable)) => Err(unusable.why),
            (Err(error), None) => Err(error),
            (Ok(None), None) => bail!("{}", unknown(&stream.head)),
        }
    }

    /// Its name for people.
    pub fn format(&self) -> &'static str {
        match self {
            Kind::Recording(_) => "leveloff recording",
            Kind::Curve(name, _) => name,
            Kind::Processes(_) => "process table",
            Kind::Mprof => "mprof",
            Kind::Log(_) => "log",
        }
    }

    /// What its observations count.
    pub fn unit(&self) -> XUnit {
        match self {
            Kind::Recording(_) => XUnit::Step,
            Kind::Curve(_, table) => table.columns.unit,
            Kind::Processes(table) => table.unit(),
            Kind::Mprof => XUnit::Second,
            Kind::Log(log) => log.unit(),
        }
    }

    /// What its header states.
    pub fn stated(&self) -> StatedFacts {
        match self {
            Kind::Recording(header) => header.stated.clone(),
            _ => StatedFacts::default(),
        }
    }

    /// What was guessed.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Kind::Curve(_, table) => table.columns.notes.clone(),
            Kind::Processes(table) => table.notes.clone(),
            Kind::Log(log) => log.notes(),
            Kind::Recording(_) | Kind::Mprof => Vec::new(),
        }
    }

    /// What its points are called.
    pub fn points(&self) -> &'static str {
        match self {
            Kind::Recording(_) | Kind::Mprof => "samples",
            Kind::Processes(_) => "moments",
            Kind::Curve(..) => "rows",
            Kind::Log(_) => "lines",
        }
    }
}

/// The sign that some programs put in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Beginnings of files that hold something else, and what to do about them.
const NO_TEXT: [(&[u8], &str); 11] = [
    (
        b"\x1f\x8b",
        "is compressed; gzip -dc FILE | leveloff judge -",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "is compressed; zstd -dc FILE | leveloff judge -",
    ),
    (
        b"\xfd7zXZ\0",
        "is compressed; xz -dc FILE | leveloff judge -",
    ),
    (b"BZh", "is compressed; bzip2 -dc FILE | leveloff judge -"),
    (
        b"PK\x03\x04",
        "is a zip archive or a spreadsheet; save the table as CSV",
    ),
    (
        b"SQLite format 3\0",
        "is an SQLite database, as procpath makes it; export it first: \
         sqlite3 -header -csv FILE 'SELECT ts, stat_pid AS pid, stat_rss * 4096 AS rss_bytes FROM record' \
         | leveloff judge -",
    ),
    (
        b"PAR1",
        "is a Parquet file; write it as CSV first: pandas.read_parquet(FILE).to_csv(…)",
    ),
    (b"\x89HDF", "is an HDF5 file; write its table as CSV first"),
    (
        b"\x80\x04\x95",
        "is a Python pickle; write its table as CSV first",
    ),
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
];

const UTF_16: &str = "is UTF-16; iconv -f UTF-16 -t UTF-8 FILE | leveloff judge -";

fn refuse_what_is_no_text(head: &[u8]) -> Result<()> {
    if head.is_empty() {
        bail!("is empty: nothing was written yet");
    }
    if let Some((_, advice)) = NO_TEXT.iter().find(|(magic, _)| head.starts_with(magic)) {
        bail!("{advice}");
    }
    let first = &head[..head.len().min(4096)];
    if is_every_other_byte_zero(first) {
        bail!("{UTF_16}");
    }
    let strange = first
        .iter()
        .filter(|b| b.is_ascii_control() && !b"\t\n\r\x1b\x08".contains(b))
        .count();
    if strange * 20 > first.len() {
        bail!(
            "is binary, not text; leveloff reads its recordings, CSV, JSON lines, mprof, psrecord, \
             prmon and logs"
        );
    }
    Ok(())
}

/// UTF-16 without its mark: plain letters leave every other byte zero.
fn is_every_other_byte_zero(bytes: &[u8]) -> bool {
    let zeros_from = |start: usize| {
        let zeros = bytes.iter().skip(start).step_by(2).filter(|b| **b == 0);
        zeros.count() * 2
    };
    let (even, odd) = (zeros_from(0), zeros_from(1));
    let (more, fewer) = (even.max(odd), even.min(odd));
    more * 10 > bytes.len() * 8 && fewer * 10 < bytes.len()
}

/// Whole lines of the head.
fn first_lines(stream: &Stream) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = stream.head.split(|&b| b == b'\n').collect();
    // What follows the last newline is no line yet, or nothing.
    if !stream.is_whole && lines.len() > 1 || lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
        .into_iter()
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect()
}

/// A table that cannot be used.
struct Unusable {
    why: anyhow::Error,
    /// Whether it can be nothing else.
    is_plainly_one: bool,
}

/// `None` when it is no table.
fn table(lines: &[&[u8]], asked: &Asked) -> Option<Result<Kind, Unusable>> {
    let (table, is_plainly_one) = match Tool::psrecord_log(lines) {
        Some(table) => {
            let curve = CurveTable::of(&table, asked);
            let kind = curve.map(|curve| Kind::Curve(Tool::Psrecord.name(), curve));
            (kind, false)
        }
        None => {
            let table = Table::of(lines)?;
            let is_plainly_one = table.is_plainly_one();
            (kind_of(table, asked), is_plainly_one)
        }
    };
    Some(table.map_err(|why| Unusable {
        why,
        is_plainly_one,
    }))
}

fn kind_of(mut table: Table, asked: &Asked) -> Result<Kind> {
    let tool = Tool::name_columns(&mut table);
    if let Some(processes) = ProcessTable::of(&table, asked) {
        return processes.map(Kind::Processes);
    }
    let name = tool.map_or("table", Tool::name);
    let mut curve = CurveTable::of(&table, asked);
    if let (Some(_), Ok(curve)) = (tool, &mut curve) {
        // Nothing was guessed of a table that is known.
        curve.columns.notes.clear();
    }
    curve.map(|curve| Kind::Curve(name, curve))
}

/// A question that the input cannot answer must not be answered as if it had not been asked.
fn refuse_columns(asked: &Asked, what: &str) -> Result<()> {
    if *asked != Asked::default() {
        bail!("is {what}, which has no columns to choose from; leave --x, --y and --y-unit out");
    }
    Ok(())
}

/// Looks further into the stream than a table needs: a training begins with downloads.
fn log(stream: &mut Stream, asked: &Asked) -> Result<Option<Log>> {
    const FURTHEST: usize = 4 << 20;
    let found = Log::of(&first_lines(stream), asked)?;
    if found.is_some() || stream.is_whole || stream.head.len() > HEAD {
        return Ok(found);
    }
    stream.read_head(FURTHEST)?;
    Log::of(&first_lines(stream), asked)
}

fn is_json_array(head: &[u8]) -> bool {
    let inside = head.trim_ascii_start().strip_prefix(b"[");
    inside.is_some_and(|inside| inside.trim_ascii_start().starts_with(b"{\""))
}

fn unknown(head: &[u8]) -> String {
    let first = head
        .split(|&b| b == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let first = printable(first.unwrap_or_default().trim_ascii());
    let start: String = first.chars().take(60).collect();
    format!(
        "tells no memory that leveloff understands (it begins '{start}'); a table needs a column \
         such as rss_mb or --y NAME --y-unit MB, a log amounts such as 'step 10 RAM: 5552 MB'"
    )
}
