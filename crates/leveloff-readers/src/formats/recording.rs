//! leveloff's own recordings.

use std::io::BufReader;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::observer::Observer;
use leveloff_model::recording::{Header, RecordingError, RecordingReader, Target};
use leveloff_model::sample::{Event, Subject, Tick};

use super::{Format, Recognition};
use crate::columns::ColumnChoice;
use crate::error::{Problem, Result};
use crate::lines::Lines;
use crate::observation_sink::{ObservationSink, counted};
use crate::stream::Stream;

#[derive(Debug)]
struct Recording(Header);

pub fn recognise(stream: &mut Stream, columns: &ColumnChoice) -> Recognition {
    match RecordingReader::new(&stream.head[..]) {
        Ok(reader) if reader.header().target == Target::System => {
            Recognition::Unusable(Problem::Unusable(
                "records a whole machine and not one run, so there is no verdict; leveloff replay shows it, leveloff export \
                 writes its samples"
                    .to_owned(),
            ))
        }
        Ok(reader) => Recognition::without_columns(Recording(reader.header().clone()), columns),
        Err(RecordingError::Empty | RecordingError::NotARecording) => Recognition::No,
        Err(error) => Recognition::Unusable(error.into()),
    }
}

impl Format for Recording {
    fn name(&self) -> &'static str {
        "leveloff recording"
    }

    fn x_unit(&self) -> XUnit {
        XUnit::Step
    }

    fn points(&self) -> &'static str {
        "samples"
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.0)
    }

    fn read(&self, lines: &mut Lines, sink: &mut ObservationSink<'_>) -> Result<()> {
        let input = BufReader::with_capacity(1 << 16, lines.bytes());
        let mut reader = RecordingReader::new(input)?;
        let mut observer = Observer::new();
        let mut damaged = 0;
        let mut missing_steps = None;
        while let Some(tick) = reader.next_tick()? {
            damaged += damaged_lines(&tick);
            missing_steps = missing_steps.or_else(|| gap_of_steps(&tick));
            (sink.ticks)(&tick);
            match observer.observe(&tick) {
                Some(observation) => sink.offer(&mut observation.clone()),
                None => sink.left_out.end_of_run += 1,
            }
            if tick.sample.progress.step.is_some() {
                sink.progress = Some(tick.sample.progress);
            }
        }
        if sink.progress.is_none() {
            sink.notes.extend(missing_steps);
        }
        if damaged > 0 {
            let lines = counted(damaged, "lines");
            sink.notes.push(format!("left out {lines}: damaged"));
        }
        sink.end = reader.end().cloned();
        Ok(())
    }
}

/// What the recorder said about steps that it could not read.
fn gap_of_steps(tick: &Tick) -> Option<String> {
    tick.events.iter().find_map(|event| match event {
        Event::Gap(gap) if gap.subject == Subject::Progress && gap.process.is_none() => {
            Some(gap.text.clone())
        }
        _ => None,
    })
}

fn damaged_lines(tick: &Tick) -> u64 {
    let is_damage =
        |event: &&Event| matches!(event, Event::Gap(gap) if gap.subject == Subject::Recording);
    tick.events.iter().filter(is_damage).count() as u64
}
