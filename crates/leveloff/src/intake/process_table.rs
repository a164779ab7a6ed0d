//! A table with a row for each process at each moment, as `leveloff export` writes it: the rows of
//! one moment are one observation.

mod columns;
mod crowd;

use anyhow::Result;
use leveloff_classifier::observation::{Attendance, Observation, ProcessShare, XUnit};
use leveloff_model::process::{Pid, Rank, Role};
use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::units::{Bytes, Seconds};

use self::columns::{Amounts, Columns};
use self::crowd::Crowd;
use super::Asked;
use super::clock::Timeline;
use super::lines::Lines;
use super::number::number;
use super::outlet::Outlet;
use super::table::{Dialect, Fields, Row, Table, is_beside_the_point};

/// How the rows are read.
#[derive(Debug)]
pub struct ProcessTable {
    columns: Columns,
    dialect: Dialect,
    has_header: bool,
    /// What was guessed.
    pub notes: Vec<String>,
}

impl ProcessTable {
    /// `None` when the table has no process in its rows; an error when it has no memory.
    pub fn of(table: &Table, asked: &Asked) -> Option<Result<ProcessTable>> {
        let columns = match Columns::of(table, asked)? {
            Ok(columns) => columns,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(ProcessTable {
            notes: columns.notes(),
            columns,
            dialect: table.dialect.clone(),
            has_header: table.has_header,
        }))
    }

    /// What its observations count.
    pub fn unit(&self) -> XUnit {
        self.columns.unit
    }

    /// Reads every row.
    pub fn read(&self, lines: &mut Lines, outlet: &mut Outlet<'_>) -> Result<()> {
        let mut row = Row::default();
        let mut moment = Moment::default();
        let mut is_header = self.has_header;
        while let Some(line) = lines.next_line()? {
            if is_beside_the_point(line) || std::mem::take(&mut is_header) {
                continue;
            }
            let fields = self.dialect.split(line, &mut row);
            if fields.len() < self.columns.width {
                outlet.left_out.short += 1;
                continue;
            }
            if self.begins_moment(fields, &moment) {
                moment.hand_on(outlet);
                self.begin(fields, &mut moment);
            }
            self.add(fields, &mut moment, outlet);
        }
        moment.hand_on(outlet);
        Ok(())
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
        moment.crowd.begin_moment();
        let observation = &mut moment.observation;
        observation.count = columns.count.and_then(|n| number(fields.get(n)?));
        observation.t = columns.time.and_then(|(n, clock)| {
            let time = clock.read(fields.get(n)?)?;
            Some(Seconds(moment.timeline.seconds(time)))
        });
    }

    fn add(&self, fields: Fields<'_>, moment: &mut Moment, outlet: &mut Outlet<'_>) {
        let columns = &self.columns;
        let whole = |n: Option<usize>| {
            let value = number(fields.get(n?)?)?;
            (0.0..1e18).contains(&value).then_some(value as u64)
        };
        let observation = &mut moment.observation;
        observation.tensors = observation.tensors.or(whole(columns.tensors));
        observation.tensor_bytes = observation
            .tensor_bytes
            .or(columns.tensor_bytes.read(fields));
        observation.devshm = observation.devshm.or(columns.devshm.read(fields));
        moment.available = moment.available.or(columns.available.read(fields));
        let state = columns
            .state
            .and_then(|n| fields.get(n))
            .unwrap_or_default();
        // A zombie has no memory to be read, which is no gap.
        if state == b"Z" || state == b"X" {
            return;
        }
        let role = columns
            .role
            .and_then(|n| fields.get(n))
            .map_or(Role::Other, role);
        let pid = self.pid(fields);
        let amounts = Amounts::read(columns, fields);
        let parent = whole(columns.parent).and_then(|pid| i32::try_from(pid).ok());
        let start = whole(columns.start);
        let process = pid.unwrap_or(Pid(0));
        let Some((index, memory)) = moment.crowd.memory_of(process, start, parent, &amounts) else {
            outlet.left_out.no_memory += 1;
            return;
        };
        moment.processes += 1;
        moment.trainers += usize::from(role == Role::Trainer);
        moment.observation.memory += memory;
        if let Some(rss) = amounts.rss {
            let sum = moment.observation.rss_sum.unwrap_or(Bytes::ZERO);
            moment.observation.rss_sum = Some(sum + rss);
        }
        // A row of a whole role is nobody's.
        let Some(pid) = pid else {
            return;
        };
        let shared = amounts.shared().min(memory);
        moment.observation.processes.push(ProcessShare {
            index,
            pid,
            role,
            rank: whole(columns.rank)
                .and_then(|rank| u32::try_from(rank).ok())
                .map(Rank),
            memory,
            shared,
            swapped: amounts.swapped().min(memory.saturating_sub(shared)),
            rss: amounts.rss.unwrap_or(memory),
            fds: whole(columns.fds).and_then(|fds| u32::try_from(fds).ok()),
        });
    }

    fn pid(&self, fields: Fields<'_>) -> Option<Pid> {
        let value = number(fields.get(self.columns.pid?)?)?;
        (0.0..=f64::from(i32::MAX))
            .contains(&value)
            .then_some(Pid(value as i32))
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
    crowd: Crowd,
    attendance: Attendance,
    timeline: Timeline,
}

impl Moment {
    fn hand_on(&mut self, outlet: &mut Outlet<'_>) {
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
        if self
            .attendance
            .goes_on(self.processes, self.trainers, observation.t)
        {
            outlet.offer(observation);
        } else {
            outlet.left_out.end_of_run += 1;
        }
        (self.processes, self.trainers) = (0, 0);
        observation.processes.clear();
        observation.memory = Bytes::ZERO;
        observation.rss_sum = None;
        (observation.tensors, observation.tensor_bytes) = (None, None);
        observation.devshm = None;
    }
}

/// A name that this leveloff does not know is some other part of the run.
fn role(name: &[u8]) -> Role {
    Role::ALL
        .into_iter()
        .find(|role| role.name().as_bytes() == name)
        .unwrap_or(Role::Other)
}
