//! leveloff's own recordings.

use std::io::{BufRead, BufReader, Cursor, Read};

use anyhow::Result;
use leveloff_classifier::observation::Observer;
use leveloff_model::recording::{End, Header, RecordingError, RecordingReader};
use leveloff_model::sample::{Event, Subject, Tick};

use super::outlet::{Outlet, counted};
use super::stream::Stream;

/// Its header, if it is a recording; an error if it is one that cannot be read.
pub fn recognise(stream: &Stream) -> Result<Option<Header>> {
    match RecordingReader::new(&stream.head[..]) {
        Ok(reader) => Ok(Some(reader.header().clone())),
        Err(RecordingError::Empty | RecordingError::NotARecording) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Reads every tick and hands it on; gives what there is to say about it, and how it ended.
pub fn read(
    stream: Stream,
    outlet: &mut Outlet<'_>,
    ticks: &mut dyn FnMut(&Tick),
) -> Result<(Vec<String>, Option<End>)> {
    let input = Cursor::new(stream.head).chain(stream.rest);
    let mut reader = RecordingReader::new(BufReader::with_capacity(1 << 16, input))?;
    let damaged = observe_all(&mut reader, outlet, ticks)?;
    let mut notes = Vec::new();
    if damaged > 0 {
        notes.push(format!("left out {}: damaged", counted(damaged, "lines")));
    }
    Ok((notes, reader.end().cloned()))
}

fn observe_all(
    reader: &mut RecordingReader<impl BufRead>,
    outlet: &mut Outlet<'_>,
    ticks: &mut dyn FnMut(&Tick),
) -> Result<u64> {
    let mut observer = Observer::new();
    let mut damaged = 0;
    while let Some(tick) = reader.next_tick()? {
        damaged += damaged_lines(&tick);
        ticks(&tick);
        match observer.observe(&tick) {
            Some(observation) => outlet.offer(&mut observation.clone()),
            None => outlet.left_out.end_of_run += 1,
        }
    }
    Ok(damaged)
}

fn damaged_lines(tick: &Tick) -> u64 {
    let is_damage =
        |event: &&Event| matches!(event, Event::Gap(gap) if gap.subject == Subject::Recording);
    tick.events.iter().filter(is_damage).count() as u64
}
