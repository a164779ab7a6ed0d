//! Ticks to lines: only what changed, one write for each tick.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use super::v1::{
    AllocRow, CeilingRow, CgroupChange, Change, EarlierRunsRow, EndName, EndRow, ExitRow,
    FillingRow, GapRow, HeaderRow, MachineChange, MapsRow, MarkRow, ProcessChange, ProcessRow,
    PssRow, RoleName, Row, SampleRow, SiteRow, SoftwareRow, SourceName, StepSourceRow,
};
use super::{End, EndReason, FORMAT_VERSION, Header, Target, limit_to_text};
use crate::allocation::{AllocationReading, AllocationSite, StackFrame};
use crate::environment::Software;
use crate::process::{ProcessIndex, ProcessInfo};
use crate::progress::{Mark, MarkKind, Progress, StepSource};
use crate::sample::{
    Ceiling, CgroupReading, Event, Gap, MachineReading, MappingReading, ProcessReading, PssReading,
    Sample, Tick,
};
use crate::training_counters::{GrownObjects, GrownTensors, RecompileReason, TrainingCounter};
use crate::units::{Bytes, Seconds, Step};

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
            push(&mut self.buffer, &event_row(event));
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

fn header_row(header: &Header) -> HeaderRow {
    let (command, pid) = match &header.target {
        Target::Command(command) => (Some(command.clone()), None),
        Target::Attached(pid) => (None, Some(pid.0)),
        Target::System => (None, None),
    };
    HeaderRow {
        format: "leveloff-recording".to_owned(),
        version: FORMAT_VERSION,
        tool: header.tool.clone(),
        started_unix: header.started_unix,
        host: header.host.clone(),
        kernel: header.kernel.clone(),
        command,
        pid,
        interval_s: header.interval.0,
        pss_budget_percent: header.pss_budget_percent,
        level_by: header.stated.level_by.map(|s| s.0),
        level_by_s: header.stated.level_by_time.map(|s| s.0),
        limit: header.stated.limit.map(limit_to_text),
        planned_steps: header.stated.planned_steps.map(|s| s.0),
        epoch_steps: header.stated.epoch_steps.map(|s| s.0),
        earlier_runs: header.stated.earlier.map(|earlier| EarlierRunsRow {
            unit: earlier.axis.name().to_owned(),
            runs: earlier.runs,
            level_from: earlier.earliest,
            level_to: earlier.latest,
        }),
    }
}

fn event_row(event: &Event) -> Row {
    match event {
        Event::Appeared(info) => Row::Process(process_row(info)),
        Event::Changed(info) => Row::Changed(process_row(info)),
        Event::Exited(index) => Row::Exit(ExitRow { n: index.0 }),
        Event::Mark(mark) => Row::Mark(mark_row(mark)),
        Event::Software(software) => Row::Software(software_row(software)),
        Event::Gap(gap) => Row::Gap(gap_row(gap)),
        Event::Site(site) => Row::Site(site_row(site)),
        Event::Allocations(reading) => Row::Alloc(alloc_row(reading)),
    }
}

fn site_row(site: &AllocationSite) -> SiteRow {
    let frame = |frame: &StackFrame| {
        let (function, file) = (frame.function.clone(), frame.file.clone());
        (function, file, frame.line, u8::from(frame.is_python))
    };
    SiteRow {
        id: site.id.0,
        pid: site.pid.0,
        kind: site.kind.name().to_owned(),
        stack: site.stack.iter().map(frame).collect(),
        source: site.source.clone(),
    }
}

fn alloc_row(reading: &AllocationReading) -> AllocRow {
    let kib = |amount: Bytes| amount.0.div_ceil(1024);
    let of = reading.sites.iter().map(|site| {
        [
            u64::from(site.site.0),
            kib(site.live),
            site.blocks,
            kib(site.error),
            site.freed,
        ]
    });
    AllocRow {
        t: reading.t.0,
        live: kib(reading.live),
        missed: reading.missed.map(|it| [it.missed, it.sampled]),
        of: of.collect(),
    }
}

fn process_row(info: &ProcessInfo) -> ProcessRow {
    ProcessRow {
        n: info.index.0,
        pid: info.key.pid.0,
        start: info.key.start.0,
        ppid: info.parent.0,
        role: match &info.unknown_role {
            Some(name) => RoleName::Unknown(name.clone()),
            None => info.role.into(),
        },
        rank: info.rank.map(|rank| rank.0),
        comm: info.comm.clone(),
        cmd: info.command.clone(),
        why: info.why.clone(),
    }
}

fn mark_row(mark: &Mark) -> MarkRow {
    let mut row = MarkRow {
        t: mark.t.0,
        n: mark.process.map(|index| index.0),
        step: mark.step.map(|s| s.0),
        phase: None,
        epoch: None,
        event: None,
        clock: None,
        path: mark.path.clone(),
        facts: mark.facts.clone(),
        unknown: BTreeMap::new(),
    };
    match &mark.kind {
        MarkKind::Phase(phase) => row.phase = Some(phase.name().to_owned()),
        MarkKind::Epoch(epoch) => row.epoch = Some(*epoch),
        MarkKind::Event(name) => row.event = Some(name.clone()),
        MarkKind::Clock(counter) => row.clock = Some(counter.clone()),
    }
    row
}

fn step_source_row(source: &StepSource) -> StepSourceRow {
    StepSourceRow {
        kind: source.kind.into(),
        file: source.file.clone(),
        counter: source.counter.clone(),
        pattern: source.pattern.clone(),
    }
}

fn software_row(software: &Software) -> SoftwareRow {
    SoftwareRow {
        n: software.process.0,
        python: software.python.clone(),
        packages: software.packages.clone(),
        variables: software.variables.clone(),
    }
}

fn gap_row(gap: &Gap) -> GapRow {
    GapRow {
        of: gap.subject.into(),
        n: gap.process.map(|index| index.0),
        text: gap.text.clone(),
    }
}

fn pss_row(process: ProcessIndex, pss: &PssReading) -> PssRow {
    PssRow {
        n: process.0,
        t: pss.at.0,
        pss: pss.pss.0,
        anon: pss.anon.0,
        file: pss.file.0,
        shmem: pss.shmem.0,
        private: pss.private.0,
        swap: pss.swap.0,
        lazy: pss.lazy_free.0,
        hugetlb: pss.hugetlb.0,
        base: [pss.base.anon.0, pss.base.shmem.0, pss.base.swap.0],
    }
}

fn maps_row(mappings: &MappingReading) -> MapsRow {
    let kinds = &mappings.kinds;
    let other = (kinds.other > Bytes::ZERO).then(|| ("other".to_owned(), kinds.other.0.into()));
    MapsRow {
        n: mappings.process.0,
        t: mappings.at.0,
        heap: kinds.heap.0,
        anonymous: kinds.anonymous.0,
        stacks: kinds.stacks.0,
        file: kinds.file.0,
        devshm: kinds.devshm.0,
        memfd: kinds.memfd.0,
        device: kinds.device.0,
        swap: kinds.swap.0,
        filling: mappings.filling.map(|filling| FillingRow {
            number: filling.number,
            size: filling.size.0,
            used: filling.used.0,
        }),
        unknown: other.into_iter().collect(),
    }
}

fn reason_rows(reasons: &[RecompileReason]) -> Vec<(String, String, u64)> {
    let row = |one: &RecompileReason| (one.kind.name().to_owned(), one.what.clone(), one.count);
    reasons.iter().map(row).collect()
}

fn object_rows(grown: &[GrownObjects]) -> Vec<(String, u64)> {
    let row = |objects: &GrownObjects| (objects.what.clone(), objects.more);
    grown.iter().map(row).collect()
}

fn grown_rows(grown: &[GrownTensors]) -> Vec<(String, u64, u64)> {
    let row = |tensors: &GrownTensors| (tensors.what.clone(), tensors.more, tensors.more_bytes.0);
    grown.iter().map(row).collect()
}

fn process_change(before: Option<&ProcessReading>, now: &ProcessReading) -> ProcessChange {
    let mut change = ProcessChange::between(before, now);
    change.n = now.process.0;
    // Nearly always zero, and a process begins with zero.
    if before.is_none() {
        change.returned = change.returned.filter(|amount| amount.0 != 0);
        change.transferred = change.transferred.filter(|moved| moved.0 != 0);
        change.uncertainty = change.uncertainty.filter(|amount| amount.0 != 0);
    }
    change
}

fn end_row(end: &End) -> EndRow {
    let (reason, code) = match end.reason {
        EndReason::Exited(code) => (EndName::Exited, Some(code)),
        EndReason::Signalled(signal) => (EndName::Signalled, Some(signal)),
        EndReason::TargetGone => (EndName::TargetGone, None),
        EndReason::Duration => (EndName::Duration, None),
        EndReason::Stopped => (EndName::Stopped, None),
        EndReason::Other => (EndName::Other, None),
    };
    EndRow {
        t: end.t.0,
        reason,
        code,
    }
}
