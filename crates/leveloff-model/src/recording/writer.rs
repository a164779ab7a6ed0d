//! Ticks to lines: only what changed, one write for each tick.

mod rows;

use std::collections::HashMap;
use std::io::{self, Write};

use super::allocations::AllocationEncoder;
use super::v1::{
    CeilingRow, CgroupChange, Change, MachineChange, ProcessChange, Row, SampleRow, SourceName,
};
use super::{End, Header};
use crate::process::ProcessIndex;
use crate::progress::Progress;
use crate::sample::{Ceiling, CgroupReading, Event, MachineReading, ProcessReading, Sample, Tick};
use crate::training_counters::TrainingCounter;
use crate::units::{Seconds, Step};
use rows::{
    end_row, event_row, grown_rows, header_row, maps_row, object_rows, process_change, pss_row,
    reason_rows, step_source_row,
};

/// Writes a recording. Every tick is handed to the output in a single write, so that a reader
/// sees whole ticks and a kill tears at most one.
#[derive(Debug)]
pub struct RecordingWriter<W> {
    output: W,
    buffer: Vec<u8>,
    /// Event lines of ticks whose write failed; they are not lost while there is room.
    unwritten: Vec<u8>,
    /// A failed write may have left half a line behind.
    torn: bool,
    written: Written,
    allocations: AllocationEncoder,
    bytes_written: u64,
}

/// The state that the file has so far; only changes to it are written.
#[derive(Debug, Default)]
struct Written {
    progress: Progress,
    processes: HashMap<ProcessIndex, ProcessReading>,
    mappings_at: Option<Seconds>,
    machine: MachineReading,
    cgroup: Option<CgroupReading>,
    ceiling: Option<Ceiling>,
}

/// Event lines kept while the disk is full: room for thousands of process starts, far below the
/// recorder's memory bound.
const UNWRITTEN_LIMIT: usize = 1 << 20;

impl<W: Write> RecordingWriter<W> {
    /// Starts a recording with its header.
    pub fn new(output: W, header: &Header) -> io::Result<RecordingWriter<W>> {
        let mut writer = RecordingWriter {
            output,
            buffer: Vec::with_capacity(4096),
            unwritten: Vec::new(),
            torn: false,
            written: Written::default(),
            allocations: AllocationEncoder::default(),
            bytes_written: 0,
        };
        push(&mut writer.buffer, &Row::Header(header_row(header)));
        writer.flush_buffer()?;
        Ok(writer)
    }

    /// Appends a tick. After an error the caller may go on: the next tick that can be written
    /// carries the whole state and the events that were missed.
    pub fn write_tick(&mut self, tick: &Tick) -> io::Result<()> {
        self.buffer.clear();
        if self.torn {
            self.buffer.push(b'\n');
        }
        self.buffer.extend_from_slice(&self.unwritten);
        let events_from = self.buffer.len();
        for event in &tick.events {
            push(&mut self.buffer, &event_row(event, &mut self.allocations));
        }
        let events_to = self.buffer.len();
        self.push_sample(&tick.sample);
        let result = self.flush_buffer();
        match &result {
            Ok(()) => {
                self.unwritten.clear();
                for event in &tick.events {
                    if let Event::Exited(index) = event {
                        self.written.processes.remove(index);
                    }
                }
            }
            Err(_) => {
                // How much arrived is unknown: the next tick repeats everything.
                self.written = Written::default();
                if self.unwritten.len() + (events_to - events_from) <= UNWRITTEN_LIMIT {
                    self.unwritten
                        .extend_from_slice(&self.buffer[events_from..events_to]);
                } else {
                    // Later lines must not rest on lines that are lost.
                    self.allocations.write_in_full();
                }
            }
        }
        result
    }

    /// Length of the recording, without any part of a tick that failed.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Writes the end of the recording.
    pub fn finish(mut self, end: &End) -> io::Result<W> {
        self.buffer.clear();
        if self.torn {
            self.buffer.push(b'\n');
        }
        push(&mut self.buffer, &Row::End(end_row(end)));
        self.flush_buffer()?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        let result = self.output.write_all(&self.buffer);
        self.torn = result.is_err();
        if result.is_ok() {
            self.bytes_written += self.buffer.len() as u64;
        }
        result
    }

    fn push_sample(&mut self, sample: &Sample) {
        for reading in &sample.processes {
            let before = self.written.processes.get(&reading.process);
            if let Some(pss) = reading.pss
                && before.and_then(|b| b.pss).is_none_or(|b| b != pss)
            {
                push(&mut self.buffer, &Row::Pss(pss_row(reading.process, &pss)));
            }
        }
        if let Some(mappings) = &sample.mappings
            && self.written.mappings_at != Some(mappings.at)
        {
            push(&mut self.buffer, &Row::Maps(maps_row(mappings)));
            self.written.mappings_at = Some(mappings.at);
        }
        let mut row = self.written.changes_to(sample);
        if self.torn {
            row.alive = Some(
                sample
                    .processes
                    .iter()
                    .map(|reading| reading.process.0)
                    .collect(),
            );
        }
        push(&mut self.buffer, &Row::S(row));
    }
}

impl Written {
    /// The changes up to this sample, which becomes the written state.
    fn changes_to(&mut self, sample: &Sample) -> SampleRow {
        let (was, is) = (&self.progress, &sample.progress);
        let steps = |step: Option<Step>| step.map(|s| s.0);
        let kind = |progress: &Progress| progress.source.as_ref().map(|source| source.kind);
        let mut row = SampleRow {
            t: sample.t.0,
            step: change(steps(was.step), steps(is.step)),
            epoch: change(was.epoch, is.epoch),
            phase: change(was.phase.as_ref(), is.phase.as_ref())
                .map(|phase| phase.map(|phase| phase.name().to_owned())),
            planned_steps: change(steps(was.planned_steps), steps(is.planned_steps)),
            epoch_steps: change(steps(was.epoch_steps), steps(is.epoch_steps)),
            source: change(kind(was), kind(is)).map(|kind| kind.map(SourceName::from)),
            step_source: change(was.source.as_ref(), is.source.as_ref())
                .map(|source| source.map(step_source_row)),
            unit: change(was.unit, is.unit).map(|unit| unit.map(|unit| unit.name().to_owned())),
            c: [
                sample.cost.cpu.0,
                sample.cost.rss.0,
                u64::from(sample.cost.tick_us),
            ],
            ..SampleRow::default()
        };
        if was != is {
            for fact in TrainingCounter::ALL {
                *row.counter(fact) = change(was.counters.get(fact), is.counters.get(fact));
            }
            row.tensors_grown = (was.grown != is.grown).then(|| grown_rows(&is.grown));
            row.recompile_reasons = (was.recompile_reasons != is.recompile_reasons)
                .then(|| reason_rows(&is.recompile_reasons));
            row.objects_grown =
                (was.grown_objects != is.grown_objects).then(|| object_rows(&is.grown_objects));
            self.progress = is.clone();
        }
        for reading in &sample.processes {
            let before = self.processes.get(&reading.process);
            if before == Some(reading) {
                continue;
            }
            let changes = process_change(before, reading);
            if changes
                != (ProcessChange {
                    n: reading.process.0,
                    ..ProcessChange::default()
                })
                || before.is_none()
            {
                row.p.push(changes);
            }
            self.processes.insert(reading.process, reading.clone());
        }
        let machine = MachineChange::between(Some(&self.machine), &sample.machine);
        self.machine = sample.machine;
        row.m = (machine != MachineChange::default()).then_some(machine);
        row.g = self.cgroup_change(sample.cgroup.as_ref());
        row.ceiling = self.ceiling_change(sample.ceiling);
        row
    }

    fn cgroup_change(&mut self, now: Option<&CgroupReading>) -> Change<CgroupChange> {
        if self.cgroup.as_ref() == now {
            return None;
        }
        let before = self.cgroup.take().unwrap_or_default();
        self.cgroup = now.cloned();
        Some(now.map(|now| CgroupChange::between(Some(&before), now)))
    }

    fn ceiling_change(&mut self, now: Option<Ceiling>) -> Change<CeilingRow> {
        if self.ceiling == now {
            return None;
        }
        let was = std::mem::replace(&mut self.ceiling, now);
        Some(now.map(|is| CeilingRow {
            kind: (was.map(|was| was.kind) != Some(is.kind)).then(|| is.kind.into()),
            limit: (was.map(|was| was.limit) != Some(is.limit)).then_some(is.limit.0),
            used: is.used.0,
        }))
    }
}

/// A row as a line. Rows hold only numbers, text and maps with text keys, which always serialise.
fn push(buffer: &mut Vec<u8>, row: &Row) {
    serde_json::to_writer(&mut *buffer, row).expect("rows serialise to memory");
    buffer.push(b'\n');
}

fn change<T: PartialEq>(was: Option<T>, is: Option<T>) -> Change<T> {
    (was != is).then_some(is)
}
