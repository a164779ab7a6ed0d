//! Lines back to ticks, also while the file is still being written.

mod rows;
mod state;

use std::io::{self, BufRead};

use super::allocations::AllocationDecoder;
use super::v1::{Row, is_of_unknown_kind};
use super::{End, Header, RecordingError};
use crate::process::ProcessIndex;
use crate::sample::{Event, Gap, MappingReading, Subject, Tick};
use crate::units::Seconds;
use state::State;

/// Reads a recording tick by tick, in bounded memory.
#[derive(Debug)]
pub struct RecordingReader<R> {
    input: R,
    header: Header,
    /// The line being read; holds the first part of a line whose rest is not written yet.
    line: Vec<u8>,
    line_number: u64,
    state: State,
    allocations: AllocationDecoder,
    events: Vec<Event>,
    end: Option<End>,
}

/// The longest line that is read. A tick of 10,000 processes is about 1 MB.
const LINE_LIMIT: usize = 64 << 20;

impl<R: BufRead> RecordingReader<R> {
    /// Reads the header.
    pub fn new(mut input: R) -> Result<RecordingReader<R>, RecordingError> {
        let mut line = Vec::new();
        if !fill_line(&mut input, &mut line)? {
            return Err(if line.is_empty() {
                RecordingError::Empty
            } else {
                RecordingError::NotARecording
            });
        }
        let header = rows::header(&line)?;
        line.clear();
        Ok(RecordingReader {
            input,
            header,
            line,
            line_number: 1,
            state: State::default(),
            allocations: AllocationDecoder::default(),
            events: Vec::new(),
            end: None,
        })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How it ended: known after the last tick. `None` if the recorder was killed, or still runs.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The next whole tick, or `None` when there is none yet. A later call continues, so a
    /// recording can be followed while it is written.
    pub fn next_tick(&mut self) -> Result<Option<Tick>, RecordingError> {
        while fill_line(&mut self.input, &mut self.line)? {
            self.line_number += 1;
            let row = serde_json::from_slice::<Row>(&self.line);
            let is_skipped = row.is_err()
                && (self.line.iter().all(u8::is_ascii_whitespace)
                    || is_of_unknown_kind(&self.line));
            self.line.clear();
            match row {
                Ok(row) => {
                    if let Some(tick) = self.take(row) {
                        return Ok(Some(tick));
                    }
                }
                Err(_) if is_skipped => {}
                Err(error) => self.events.push(Event::Gap(Gap {
                    subject: Subject::Recording,
                    process: None,
                    text: format!(
                        "line {} is damaged and was skipped: {error}",
                        self.line_number
                    ),
                })),
            }
        }
        Ok(None)
    }

    fn take(&mut self, row: Row) -> Option<Tick> {
        match row {
            Row::Header(_) => {}
            Row::Process(row) => self.events.push(Event::Appeared(rows::process_info(row))),
            Row::Changed(row) => self.events.push(Event::Changed(rows::process_info(row))),
            Row::Exit(row) => {
                self.state.processes.remove(&ProcessIndex(row.n));
                self.events.push(Event::Exited(ProcessIndex(row.n)));
            }
            Row::Mark(row) => self.events.extend(rows::mark(row).map(Event::Mark)),
            Row::Software(row) => self.events.push(Event::Software(rows::software(row))),
            Row::Gap(row) => self.events.push(Event::Gap(Gap {
                subject: (&row.of).into(),
                process: row.n.map(ProcessIndex),
                text: row.text,
            })),
            Row::Line(row) => {
                let site = self.allocations.site(row);
                self.events.push(Event::Site(site));
            }
            Row::Held(row) => {
                let reading = self.allocations.reading(&row);
                self.events.push(Event::Allocations(reading));
            }
            Row::Holder(row) => self.events.push(Event::Holder(rows::holder(row))),
            Row::Site(row) => self.events.push(Event::Site(rows::site(row))),
            Row::Alloc(row) => self
                .events
                .push(Event::Allocations(rows::allocations(&row))),
            Row::Pss(row) => {
                let reading = self.state.process(row.n);
                reading.pss = Some(rows::pss_reading(&row));
            }
            Row::Maps(row) => {
                self.state.mappings = Some(MappingReading {
                    process: ProcessIndex(row.n),
                    at: Seconds(row.t),
                    kinds: rows::kinds(&row),
                    filling: row.filling.map(rows::filling),
                });
            }
            Row::S(mut row) => {
                self.state.apply(&mut row);
                return Some(Tick {
                    events: std::mem::take(&mut self.events),
                    sample: self.state.sample(&row),
                });
            }
            Row::End(row) => self.end = Some(rows::end(&row)),
        }
        None
    }
}

/// Completes `line` up to its newline; false when the newline is not there (yet).
fn fill_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        let available = input.fill_buf()?;
        if available.is_empty() {
            return Ok(false);
        }
        let newline = available.iter().position(|&b| b == b'\n');
        let part = newline.unwrap_or(available.len());
        let room = LINE_LIMIT.saturating_sub(line.len());
        line.extend_from_slice(&available[..part.min(room)]);
        input.consume(newline.map_or(part, |at| at + 1));
        if newline.is_some() {
            return Ok(true);
        }
    }
}
