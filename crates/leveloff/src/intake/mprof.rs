//! memory_profiler's `mprof` files: `MEM 12.3 1700000000.1` and `CHLD 4321 4.5 1700000000.1`.

use anyhow::Result;
use leveloff_classifier::observation::Observation;
use leveloff_model::units::Seconds;

use super::clock::{Time, Timeline};
use super::lines::Lines;
use super::number::number;
use super::outlet::Outlet;
use super::size_unit::SizeUnit;

/// mprof divides by 1024 twice.
const UNIT: SizeUnit = SizeUnit::MiB;

/// Whether these are an mprof file's first lines.
pub fn is_mprof(lines: &[&[u8]]) -> bool {
    let mut spoken = lines.iter().filter(|line| !line.trim_ascii().is_empty());
    spoken
        .next()
        .is_some_and(|line| line.starts_with(b"CMDLINE ") || memory(line).is_some())
}

/// Reads every sample: the process and, where they were recorded apart, its children.
pub fn read(lines: &mut Lines, outlet: &mut Outlet<'_>) -> Result<Vec<String>> {
    let mut sample = Sample::default();
    while let Some(line) = lines.next_line()? {
        match memory(line) {
            Some(Memory::Own(value, t)) => {
                sample.hand_on(outlet);
                sample.begin(value, t);
            }
            Some(Memory::Child(value)) => sample.children += value,
            None if is_known(line) => {}
            None => outlet.left_out.other_lines += 1,
        }
    }
    sample.hand_on(outlet);
    let mut notes = Vec::new();
    if sample.has_children {
        notes.push(
            "children are added to their parent; what they share with it is counted again for \
             each, so the sum is too high"
                .to_owned(),
        );
    }
    Ok(notes)
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

/// Lines that tell something else than memory over time.
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

    fn hand_on(&mut self, outlet: &mut Outlet<'_>) {
        let Some((value, t)) = self.own.take() else {
            return;
        };
        self.has_children |= self.children > 0.0;
        match UNIT.bytes(value + self.children) {
            Some(memory) => {
                self.observation.memory = memory;
                self.observation.t = Some(Seconds(self.timeline.seconds(Time::Date(t))));
                outlet.offer(&mut self.observation);
            }
            None if value.is_nan() => outlet.left_out.no_memory += 1,
            None => outlet.left_out.impossible += 1,
        }
    }
}
