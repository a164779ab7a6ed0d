//! A part of a text that was pasted, read as what it is.

use std::io;

use leveloff_classifier::observation::XUnit;
use leveloff_model::recording::Header;

use super::{Format, recognise_whole};
use crate::columns::ColumnChoice;
use crate::error::Result;
use crate::lines::Lines;
use crate::observation_sink::ObservationSink;
use crate::paste::blocks;
use crate::stream::Stream;

/// The format of the part, and where it stands.
#[derive(Debug)]
struct Pasted {
    part: Box<dyn Format>,
    lines: (usize, usize),
}

/// Recognises a part of a text that as a whole has no format, and leaves only that part to be read. `None` where no part
/// has one, or the text is too long for a paste.
pub fn recognise(stream: &mut Stream, columns: &ColumnChoice) -> Option<Box<dyn Format>> {
    if !stream.is_whole {
        return None;
    }
    blocks(&stream.head).into_iter().find_map(|block| {
        let mut part = Stream {
            head: block.text,
            is_whole: true,
            rest: Box::new(io::empty()),
            file: None,
        };
        let format = recognise_whole(&mut part, columns).ok()?;
        *stream = part;
        let lines = block.lines;
        Some(Box::new(Pasted {
            part: format,
            lines,
        }) as Box<dyn Format>)
    })
}

impl Format for Pasted {
    fn name(&self) -> &'static str {
        self.part.name()
    }

    fn x_unit(&self) -> XUnit {
        self.part.x_unit()
    }

    fn points(&self) -> &'static str {
        self.part.points()
    }

    fn notes(&self) -> Vec<String> {
        let (first, last) = self.lines;
        let mut notes = vec![format!(
            "took lines {first}–{last}, which have one format; the other lines hold no series"
        )];
        notes.extend(self.part.notes());
        notes
    }

    fn header(&self) -> Option<&Header> {
        self.part.header()
    }

    fn read(&self, lines: &mut Lines, sink: &mut ObservationSink<'_>) -> Result<()> {
        self.part.read(lines, sink)
    }
}
