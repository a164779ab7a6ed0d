//! A table with a row for each process at each moment, as `leveloff export` writes it: the rows of
//! one moment are one observation.

mod columns;
mod known_processes;

use leveloff_classifier::observation::{Observation, ProcessShare, XUnit};
use leveloff_classifier::teardown::{Present, TrainerPresence};
use leveloff_model::process::{Pid, Rank, Role};
use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::training_counters::TrainingCounters;
use leveloff_model::units::{Bytes, Seconds};

use self::columns::{Amounts, Columns};
use self::known_processes::KnownProcesses;
use super::Format;
use crate::clock::Timeline;
use crate::columns::ColumnChoice;
use crate::error::Result;
use crate::lines::Lines;
use crate::number::number;
use crate::observation_sink::ObservationSink;
use crate::table::{Dialect, Fields, Row, Table, is_blank_or_comment};

/// How the rows are read.
#[derive(Debug)]
pub struct ProcessTable {
    columns: Columns,
    dialect: Dialect,
    has_header: bool,
}

impl ProcessTable {
    /// `None` when the table has no process in its rows; an error when it has no memory.
    pub fn of(table: &Table, choice: &ColumnChoice) -> Option<Result<ProcessTable>> {
        let columns = match Columns::of(table, choice)? {
            Ok(columns) => columns,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(ProcessTable {
            columns,
            dialect: table.dialect.clone(),
            has_header: table.has_header,
        }))
    }

    /// Rows with the same time are one moment. Where each row was given a time of its own, a moment
    /// ends when a process comes again.
    fn begins_moment(&self, fields: Fields<'_>, moment: &Moment) -> bool {
        let key = fields.get(self.columns.key).unwrap_or_default();
        if !moment.is_begun || self.columns.rows_share_times {
            return !moment.is_begun || key != moment.key;
        }
        let pid = self.pid(fields);
        moment
            .observation
            .processes
            .iter()
            .any(|share| Some(share.pid) == pid)
    }

    fn begin(&self, fields: Fields<'_>, moment: &mut Moment) {
        let columns = &self.columns;
        let key = fields.get(columns.key).unwrap_or_default();
        moment.key.clear();
        moment.key.extend_from_slice(key);
        moment.is_begun = true;
        moment.known.begin_moment();
        let observation = &mut moment.observation;
        observation.count = columns.count.and_then(|n| number(fields.get(n)?));
        observation.t = columns.time.and_then(|(n, clock)| {
            let time = clock.read(fields.get(n)?)?;
            Some(Seconds(moment.timeline.seconds(time)))
        });
    }

    fn add(&self, fields: Fields<'_>, moment: &mut Moment, sink: &mut ObservationSink<'_>) {
        self.read_run_columns(fields, moment);
        // A zombie has no memory to be read, which is no gap.
        let state = self.columns.state.and_then(|n| fields.get(n));
        if !matches!(state, Some(b"Z" | b"X")) && !self.add_process(fields, moment) {
            sink.left_out.unread_processes += 1;
        }
    }

    /// Columns that are not about the process: tensors belong to the trainer, the rest to the machine.
    fn read_run_columns(&self, fields: Fields<'_>, moment: &mut Moment) {
        let columns = &self.columns;
        let observation = &mut moment.observation;
        observation.counters = columns
            .counters
            .read(fields)
            .updated_by(&observation.counters);
        observation.devshm = observation.devshm.or(columns.devshm.read(fields));
        moment.available = moment.available.or(columns.available.read(fields));
    }

    /// False when the row has no memory value.
    fn add_process(&self, fields: Fields<'_>, moment: &mut Moment) -> bool {
        let columns = &self.columns;
        let amounts = Amounts::read(columns, fields);
        let pid = self.pid(fields);
        let start = whole(fields, columns.start);
        let parent = whole(fields, columns.parent).and_then(|pid| i32::try_from(pid).ok());
        let who = pid.unwrap_or(Pid(0));
        let Some((index, memory)) = moment.known.memory_of(who, start, parent, &amounts) else {
            return false;
        };
        let role = columns.role.and_then(|n| fields.get(n));
        let role = role.map_or(Role::Other, role_of_name);
        moment.add(role, memory, amounts.rss);
        // A row about a whole role has no pid.
        if let Some(pid) = pid {
            let shared = amounts.shared().min(memory);
            moment.observation.processes.push(ProcessShare {
                index,
                pid,
                role,
                rank: small(fields, columns.rank).map(Rank),
                memory,
                shared,
                swapped: amounts.swapped().min(memory.saturating_sub(shared)),
                rss: amounts.rss.unwrap_or(memory),
                private: None,
                gpu: None,
                cpu: None,
                fds: small(fields, columns.fds),
                is_read: true,
                estimated: Bytes::ZERO,
            });
        }
        true
    }

    fn pid(&self, fields: Fields<'_>) -> Option<Pid> {
        let value = number(fields.get(self.columns.pid?)?)?;
        (0.0..=f64::from(i32::MAX))
            .contains(&value)
            .then_some(Pid(value as i32))
    }
}

impl Format for ProcessTable {
    fn name(&self) -> &'static str {
        "process table"
    }

    fn x_unit(&self) -> XUnit {
        self.columns.unit
    }

    fn points(&self) -> &'static str {
        "moments"
    }

    fn notes(&self) -> Vec<String> {
        self.columns.notes()
    }

    fn read(&self, lines: &mut Lines, sink: &mut ObservationSink<'_>) -> Result<()> {
        let mut row = Row::default();
        let mut moment = Moment::default();
        let mut is_header = self.has_header;
        while let Some(line) = lines.next_line()? {
            if is_blank_or_comment(line) || std::mem::take(&mut is_header) {
                continue;
            }
            let fields = self.dialect.split(line, &mut row);
            if fields.len() < self.columns.width {
                sink.left_out.short += 1;
                continue;
            }
            if self.begins_moment(fields, &moment) {
                moment.hand_on(sink);
                self.begin(fields, &mut moment);
            }
            self.add(fields, &mut moment, sink);
        }
        moment.hand_on(sink);
        Ok(())
    }
}

/// The rows of one moment, as far as they were read.
#[derive(Default)]
struct Moment {
    key: Vec<u8>,
    is_begun: bool,
    observation: Observation,
    processes: usize,
    trainers: usize,
    available: Option<Bytes>,
    known: KnownProcesses,
    trainers_present: TrainerPresence,
    timeline: Timeline,
}

impl Moment {
    fn add(&mut self, role: Role, memory: Bytes, rss: Option<Bytes>) {
        self.processes += 1;
        self.trainers += usize::from(role == Role::Trainer);
        self.observation.memory += memory;
        if let Some(rss) = rss {
            *self.observation.rss_sum.get_or_insert(Bytes::ZERO) += rss;
        }
    }

    fn hand_on(&mut self, sink: &mut ObservationSink<'_>) {
        if !std::mem::take(&mut self.is_begun) {
            return;
        }
        let observation = &mut self.observation;
        // What the machine can still give, in terms of what the run holds.
        observation.ceiling = self.available.take().map(|available| Ceiling {
            kind: CeilingKind::Host,
            limit: observation.memory + available,
            used: observation.memory,
        });
        let present = Present {
            processes: self.processes,
            trainers: self.trainers,
            memory: observation.memory,
        };
        if self.trainers_present.goes_on(present, observation.t) {
            sink.offer(observation);
        } else {
            sink.left_out.end_of_run += 1;
        }
        (self.processes, self.trainers) = (0, 0);
        observation.processes.clear();
        observation.memory = Bytes::ZERO;
        observation.rss_sum = None;
        observation.counters = TrainingCounters::default();
        observation.devshm = None;
    }
}

/// A whole number that is not negative.
fn whole(fields: Fields<'_>, column: Option<usize>) -> Option<u64> {
    let value = number(fields.get(column?)?)?;
    (0.0..1e18).contains(&value).then_some(value as u64)
}

fn small(fields: Fields<'_>, column: Option<usize>) -> Option<u32> {
    u32::try_from(whole(fields, column)?).ok()
}

/// A name that this leveloff does not know is some other part of the run.
fn role_of_name(name: &[u8]) -> Role {
    Role::ALL
        .into_iter()
        .find(|role| role.name().as_bytes() == name)
        .unwrap_or(Role::Other)
}
