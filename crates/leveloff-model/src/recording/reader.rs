//! Lines back to ticks, also while the file is still being written.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::v1::{
    CeilingRow, CgroupChange, EndName, EndRow, HeaderRow, MachineChange, MapsRow, MarkRow,
    ProcessChange, ProcessRow, PssRow, RoleName, Row, SampleRow, SoftwareRow, is_of_unknown_kind,
};
use super::{End, EndReason, FORMAT_VERSION, Header, RecordingError, StatedFacts, Target};
use crate::environment::Software;
use crate::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, ProcessState, Rank, StartTicks};
use crate::progress::{Mark, MarkKind, Phase, Progress, ProgressSource};
use crate::sample::{
    Ceiling, CgroupReading, Event, FastCounters, Gap, Kinds, MachineReading, MappingReading,
    OwnCost, ProcessReading, PssReading, Sample, Subject, Tick,
};
use crate::training_counters::{GrownTensors, TrainingCounter};
use crate::units::{Bytes, CpuMillis, Seconds, Step};

/// Reads a recording tick by tick, in bounded memory.
#[derive(Debug)]
pub struct RecordingReader<R> {
    input: R,
    header: Header,
    /// The line being read; holds the first part of a line whose rest is not written yet.
    line: Vec<u8>,
    line_number: u64,
    state: State,
    events: Vec<Event>,
    end: Option<End>,
}

/// The state after the lines read so far.
#[derive(Debug, Default)]
struct State {
    progress: Progress,
    processes: BTreeMap<ProcessIndex, ProcessReading>,
    mappings: Option<MappingReading>,
    machine: MachineReading,
    cgroup: Option<CgroupReading>,
    ceiling: Option<Ceiling>,
}

/// The longest line that is read. A tick of 10,000 processes is about 1 MB.
const LINE_LIMIT: usize = 64 << 20;

impl<R: BufRead> RecordingReader<R> {
    /// Reads the header.
    pub fn new(input: R) -> Result<RecordingReader<R>, RecordingError> {
        let mut reader = RecordingReader {
            input,
            header: Header {
                tool: String::new(),
                started_unix: 0.0,
                host: None,
                kernel: None,
                target: Target::System,
                interval: Seconds(1.0),
                pss_budget_percent: 0.0,
                stated: StatedFacts::default(),
            },
            line: Vec::new(),
            line_number: 0,
            state: State::default(),
            events: Vec::new(),
            end: None,
        };
        if !reader.fill_line()? {
            return Err(if reader.line.is_empty() {
                RecordingError::Empty
            } else {
                RecordingError::NotARecording
            });
        }
        reader.header = header(&reader.line)?;
        reader.line.clear();
        Ok(reader)
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
        while self.fill_line()? {
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

    /// Completes `self.line` up to its newline; false when the newline is not there (yet).
    fn fill_line(&mut self) -> Result<bool, RecordingError> {
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                return Ok(false);
            }
            let newline = available.iter().position(|&b| b == b'\n');
            let part = newline.unwrap_or(available.len());
            let room = LINE_LIMIT.saturating_sub(self.line.len());
            self.line.extend_from_slice(&available[..part.min(room)]);
            self.input.consume(newline.map_or(part, |at| at + 1));
            if newline.is_some() {
                self.line_number += 1;
                return Ok(true);
            }
        }
    }

    fn take(&mut self, row: Row) -> Option<Tick> {
        match row {
            Row::Header(_) => {}
            Row::Process(row) => self.events.push(Event::Appeared(process_info(row))),
            Row::Changed(row) => self.events.push(Event::Changed(process_info(row))),
            Row::Exit(row) => {
                self.state.processes.remove(&ProcessIndex(row.n));
                self.events.push(Event::Exited(ProcessIndex(row.n)));
            }
            Row::Mark(row) => self.events.extend(mark(row).map(Event::Mark)),
            Row::Software(row) => self.events.push(Event::Software(software(row))),
            Row::Gap(row) => self.events.push(Event::Gap(Gap {
                subject: (&row.of).into(),
                process: row.n.map(ProcessIndex),
                text: row.text,
            })),
            Row::Pss(row) => {
                let reading = self.state.process(row.n);
                reading.pss = Some(pss_reading(&row));
            }
            Row::Maps(row) => {
                self.state.mappings = Some(MappingReading {
                    process: ProcessIndex(row.n),
                    at: Seconds(row.t),
                    kinds: kinds(&row),
                });
            }
            Row::S(mut row) => {
                self.state.apply(&mut row);
                return Some(Tick {
                    events: std::mem::take(&mut self.events),
                    sample: self.state.sample(&row),
                });
            }
            Row::End(row) => self.end = Some(end(&row)),
        }
        None
    }
}

impl State {
    fn process(&mut self, n: u32) -> &mut ProcessReading {
        let index = ProcessIndex(n);
        self.processes
            .entry(index)
            .or_insert_with(|| ProcessReading::unread(index))
    }

    fn apply(&mut self, row: &mut SampleRow) {
        if let Some(alive) = &row.alive {
            self.start_over(alive);
        }
        let progress = &mut self.progress;
        set_with(&mut progress.step, row.step, Step);
        set_with(&mut progress.epoch, row.epoch, |epoch| epoch);
        set_with(&mut progress.phase, row.phase.take(), Phase::from);
        set_with(&mut progress.planned_steps, row.planned_steps, Step);
        set_with(&mut progress.epoch_steps, row.epoch_steps, Step);
        for fact in TrainingCounter::ALL {
            if let Some(value) = *row.counter(fact) {
                progress.counters.set(fact, value);
            }
        }
        if let Some(grown) = row.tensors_grown.take() {
            progress.grown = grown.into_iter().map(grown_tensors).collect();
        }
        set_with(
            &mut progress.source,
            row.source.as_ref().map(Option::as_ref),
            ProgressSource::from,
        );
        for changes in &row.p {
            apply_process(self.process(changes.n), changes);
        }
        if let Some(changes) = &row.m {
            apply_machine(&mut self.machine, changes);
        }
        match &row.g {
            None => {}
            Some(None) => self.cgroup = None,
            Some(Some(changes)) => apply_cgroup(self.cgroup.get_or_insert_default(), changes),
        }
        if let Some(row) = &row.ceiling {
            self.ceiling = row.as_ref().and_then(|row| self.ceiling_after(row));
        }
    }

    fn ceiling_after(&self, row: &CeilingRow) -> Option<Ceiling> {
        Some(Ceiling {
            kind: row
                .kind
                .as_ref()
                .map(Into::into)
                .or(self.ceiling.map(|was| was.kind))?,
            limit: row.limit.map(Bytes).or(self.ceiling.map(|was| was.limit))?,
            used: Bytes(row.used),
        })
    }

    /// After a failed write the writer repeats the whole state: what it does not repeat is no longer known.
    fn start_over(&mut self, alive: &[u32]) {
        let processes = std::mem::take(&mut self.processes);
        let mappings = self.mappings.take();
        *self = State {
            mappings,
            ..State::default()
        };
        for (index, mut reading) in processes {
            if alive.contains(&index.0) {
                (reading.fds, reading.gpu) = (None, None);
                reading.returned = Bytes::ZERO;
                self.processes.insert(index, reading);
            }
        }
    }

    fn sample(&self, row: &SampleRow) -> Sample {
        Sample {
            t: Seconds(row.t),
            progress: self.progress.clone(),
            processes: self.processes.values().cloned().collect(),
            mappings: self.mappings.clone(),
            machine: self.machine,
            cgroup: self.cgroup.clone(),
            ceiling: self.ceiling,
            cost: OwnCost {
                cpu: CpuMillis(row.c[0]),
                rss: Bytes(row.c[1]),
                tick_us: u32::try_from(row.c[2]).unwrap_or(u32::MAX),
            },
        }
    }
}

/// An absent field is unchanged, a `null` one is no longer known.
fn set_with<A, B>(target: &mut Option<B>, change: Option<Option<A>>, wrap: impl Fn(A) -> B) {
    if let Some(now) = change {
        *target = now.map(wrap);
    }
}

fn set<A: Copy, B>(target: &mut B, change: Option<A>, wrap: impl Fn(A) -> B) {
    if let Some(now) = change {
        *target = wrap(now);
    }
}

fn grown_tensors((what, more, more_bytes): (String, u64, u64)) -> GrownTensors {
    GrownTensors {
        what,
        more,
        more_bytes: Bytes(more_bytes),
    }
}

fn apply_process(reading: &mut ProcessReading, changes: &ProcessChange) {
    set(&mut reading.state, changes.state, ProcessState::from);
    set(&mut reading.anon, changes.anon, Bytes);
    set(&mut reading.file, changes.file, Bytes);
    set(&mut reading.shmem, changes.shmem, Bytes);
    set(&mut reading.swap, changes.swap, Bytes);
    set(&mut reading.inherited, changes.inherited, Bytes);
    set(&mut reading.returned, changes.returned, Bytes);
    set(&mut reading.threads, changes.threads, |threads| threads);
    set_with(&mut reading.fds, changes.fds, |fds| fds);
    set(&mut reading.minor_faults, changes.flt, |faults| faults);
    set(&mut reading.major_faults, changes.majflt, |faults| faults);
    set(&mut reading.cpu, changes.cpu, CpuMillis);
    set_with(&mut reading.gpu, changes.gpu, Bytes);
}

fn apply_machine(machine: &mut MachineReading, changes: &MachineChange) {
    set_with(&mut machine.total, changes.total, Bytes);
    set_with(&mut machine.available, changes.avail, Bytes);
    set_with(&mut machine.shmem, changes.shmem, Bytes);
    set_with(&mut machine.devshm_used, changes.devshm, Bytes);
    set_with(&mut machine.devshm_size, changes.devshm_size, Bytes);
    set_with(&mut machine.swap_used, changes.swap, Bytes);
    set_with(&mut machine.swap_total, changes.swap_size, Bytes);
    set_with(&mut machine.pressure_some, changes.psi_some, |percent| {
        percent
    });
    set_with(&mut machine.pressure_full, changes.psi_full, |percent| {
        percent
    });
    set_with(&mut machine.oom_kills, changes.oom_kills, |kills| kills);
}

fn apply_cgroup(cgroup: &mut CgroupReading, changes: &CgroupChange) {
    set(&mut cgroup.version, changes.version, |version| version);
    if let Some(path) = &changes.path {
        cgroup.path.clone_from(path);
    }
    set_with(&mut cgroup.limit, changes.limit, Bytes);
    set_with(&mut cgroup.high, changes.high, Bytes);
    set_with(&mut cgroup.current, changes.cur, Bytes);
    set_with(&mut cgroup.anon, changes.anon, Bytes);
    set_with(&mut cgroup.file, changes.file, Bytes);
    set_with(&mut cgroup.shmem, changes.shmem, Bytes);
    set_with(&mut cgroup.reclaimable, changes.reclaimable, Bytes);
    set_with(&mut cgroup.limit_hits, changes.limit_hits, |hits| hits);
    set_with(&mut cgroup.oom_kills, changes.oom_kills, |kills| kills);
}

/// Checks the version before all other fields: a later format may change every one of them.
fn header(line: &[u8]) -> Result<Header, RecordingError> {
    let value: serde_json::Value =
        serde_json::from_slice(line).map_err(|_| RecordingError::NotARecording)?;
    let fields = value.get("header").ok_or(RecordingError::NotARecording)?;
    if fields.get("format").and_then(|f| f.as_str()) != Some("leveloff-recording") {
        return Err(RecordingError::NotARecording);
    }
    let version = fields.get("version").and_then(serde_json::Value::as_u64);
    match version.and_then(|v| u32::try_from(v).ok()) {
        Some(found) if found > FORMAT_VERSION => return Err(RecordingError::Newer { found }),
        Some(_) => {}
        None => return Err(RecordingError::NotARecording),
    }
    let row: HeaderRow =
        serde_json::from_value(fields.clone()).map_err(|_| RecordingError::NotARecording)?;
    Ok(Header {
        tool: row.tool,
        started_unix: row.started_unix,
        host: row.host,
        kernel: row.kernel,
        target: match (row.command, row.pid) {
            (Some(command), _) => Target::Command(command),
            (None, Some(pid)) => Target::Attached(Pid(pid)),
            (None, None) => Target::System,
        },
        interval: Seconds(row.interval_s),
        pss_budget_percent: row.pss_budget_percent,
        stated: StatedFacts {
            level_by: row.level_by.map(Step),
            limit: row.limit.and_then(|text| text.parse().ok()),
            planned_steps: row.planned_steps.map(Step),
            epoch_steps: row.epoch_steps.map(Step),
        },
    })
}

fn process_info(row: ProcessRow) -> ProcessInfo {
    ProcessInfo {
        index: ProcessIndex(row.n),
        key: ProcessKey {
            pid: Pid(row.pid),
            start: StartTicks(row.start),
        },
        parent: Pid(row.ppid),
        role: (&row.role).into(),
        unknown_role: match row.role {
            RoleName::Unknown(name) => Some(name),
            _ => None,
        },
        rank: row.rank.map(Rank),
        comm: row.comm,
        command: row.cmd,
        why: row.why,
    }
}

fn software(row: SoftwareRow) -> Software {
    Software {
        process: ProcessIndex(row.n),
        python: row.python,
        packages: row.packages,
        variables: row.variables,
    }
}

fn mark(row: MarkRow) -> Option<Mark> {
    let kind = match (row.phase, row.epoch, row.event) {
        (Some(phase), _, _) => MarkKind::Phase(phase.into()),
        (None, Some(epoch), _) => MarkKind::Epoch(epoch),
        (None, None, Some(event)) => MarkKind::Event(event),
        (None, None, None) => MarkKind::Event(row.unknown.into_keys().next()?),
    };
    Some(Mark {
        t: Seconds(row.t),
        process: row.n.map(ProcessIndex),
        step: row.step.map(Step),
        kind,
        path: row.path,
        facts: row.facts,
    })
}

fn kinds(row: &MapsRow) -> Kinds {
    Kinds {
        heap: Bytes(row.heap),
        anonymous: Bytes(row.anonymous),
        stacks: Bytes(row.stacks),
        file: Bytes(row.file),
        devshm: Bytes(row.devshm),
        memfd: Bytes(row.memfd),
        device: Bytes(row.device),
        swap: Bytes(row.swap),
        other: row
            .unknown
            .values()
            .filter_map(|amount| amount.as_u64())
            .map(Bytes)
            .sum(),
    }
}

fn pss_reading(row: &PssRow) -> PssReading {
    PssReading {
        at: Seconds(row.t),
        pss: Bytes(row.pss),
        anon: Bytes(row.anon),
        file: Bytes(row.file),
        shmem: Bytes(row.shmem),
        private: Bytes(row.private),
        swap: Bytes(row.swap),
        lazy_free: Bytes(row.lazy),
        base: FastCounters {
            anon: Bytes(row.base[0]),
            shmem: Bytes(row.base[1]),
            swap: Bytes(row.base[2]),
        },
    }
}

fn end(row: &EndRow) -> End {
    let code = row.code.unwrap_or_default();
    End {
        t: Seconds(row.t),
        reason: match row.reason {
            EndName::Exited => EndReason::Exited(code),
            EndName::Signalled => EndReason::Signalled(code),
            EndName::TargetGone => EndReason::TargetGone,
            EndName::Duration => EndReason::Duration,
            EndName::Stopped => EndReason::Stopped,
            EndName::Other | EndName::Unknown(_) => EndReason::Other,
        },
    }
}
