//! memory_profiler's `mprof` files: `MEM 12.3 1700000000.1` and `CHLD 4321 4.5 1700000000.1`.

use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_model::units::Seconds;

use super::{Format, Recognition};
use crate::clock::{Time, Timeline};
use crate::columns::ColumnChoice;
use crate::error::Result;
use crate::lines::Lines;
use crate::number::number;
use crate::observation_sink::ObservationSink;
use crate::size_unit::SizeUnit;
use crate::stream::Stream;

/// mprof divides by 1024 twice.
const UNIT: SizeUnit = SizeUnit::MiB;

#[derive(Debug)]
struct Mprof;

pub fn recognise(stream: &mut Stream, columns: &ColumnChoice) -> Recognition {
    let first = stream
        .first_lines()
        .find(|line| !line.trim_ascii().is_empty());
    match first {
        Some(line) if line.starts_with(b"CMDLINE ") || memory(line).is_some() => {
            Recognition::without_columns(Mprof, columns)
        }
        _ => Recognition::No,
    }
}

impl Format for Mprof {
    fn name(&self) -> &'static str {
        "mprof"
    }

    fn x_unit(&self) -> XUnit {
        XUnit::Second
    }

    fn points(&self) -> &'static str {
        "samples"
    }

    /// Reads the process and, where they were recorded separately, its children.
    fn read(&self, lines: &mut Lines, sink: &mut ObservationSink<'_>) -> Result<()> {
        let mut sample = Sample::default();
        while let Some(line) = lines.next_line()? {
            match memory(line) {
                Some(Memory::Own(value, t)) => {
                    sample.hand_on(sink);
                    sample.begin(value, t);
                }
                Some(Memory::Child(value)) => sample.children += value,
                None if is_known(line) => {}
                None => sink.left_out.other_lines += 1,
            }
        }
        sample.hand_on(sink);
        if sample.has_children {
            sink.notes.push(
                "the memory of children is added to their parent's; pages that they share are counted \
                 once for each, so the sum is too high"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

enum Memory {
    Own(f64, f64),
    Child(f64),
}

fn memory(line: &[u8]) -> Option<Memory> {
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let kind = words.next()?;
    let is_child = kind == b"CHLD" && words.next().is_some();
    if !is_child && kind != b"MEM" {
        return None;
    }
    let value = number(words.next()?)?;
    let t = number(words.next()?)?;
    if words.next().is_some() || !t.is_finite() {
        return None;
    }
    Some(if is_child {
        Memory::Child(value)
    } else {
        Memory::Own(value, t)
    })
}

/// Lines that hold no memory values.
fn is_known(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"CMDLINE") || line.starts_with(b"FUNC")
}

/// A line of the process and those of its children behind it.
#[derive(Default)]
struct Sample {
    own: Option<(f64, f64)>,
    children: f64,
    has_children: bool,
    timeline: Timeline,
    observation: Observation,
}

impl Sample {
    fn begin(&mut self, value: f64, t: f64) {
        (self.own, self.children) = (Some((value, t)), 0.0);
    }

    fn hand_on(&mut self, sink: &mut ObservationSink<'_>) {
        let Some((value, t)) = self.own.take() else {
            return;
        };
        self.has_children |= self.children > 0.0;
        match UNIT.bytes(value + self.children) {
            Some(memory) => {
                self.observation.memory = memory;
                self.observation.t = Some(Seconds(self.timeline.seconds(Time::Date(t))));
                sink.offer(&mut self.observation);
            }
            None if value.is_nan() => sink.left_out.no_memory += 1,
            None => sink.left_out.impossible += 1,
        }
    }
}
