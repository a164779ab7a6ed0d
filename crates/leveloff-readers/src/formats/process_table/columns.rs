//! Which column of a process table is what.

use leveloff_classifier::observation::XUnit;
use leveloff_model::units::Bytes;

use crate::clock::Clock;
use crate::columns::{ColumnChoice, count, find, listed, time};
use crate::counter_columns::CounterColumns;
use crate::error::{Problem, Result};
use crate::number::number;
use crate::size_unit::SizeUnit;
use crate::table::{Fields, Table};

/// The columns that are read.
#[derive(Debug)]
pub struct Columns {
    /// The column whose value is the same in all rows of a moment.
    pub key: usize,
    /// Whether rows of a moment really have the same value there.
    pub rows_share_times: bool,
    /// So many fields a row must have.
    pub width: usize,
    pub count: Option<usize>,
    pub unit: XUnit,
    pub time: Option<(usize, Clock)>,
    pub pid: Option<usize>,
    pub parent: Option<usize>,
    pub start: Option<usize>,
    pub role: Option<usize>,
    pub rank: Option<usize>,
    pub state: Option<usize>,
    pub fds: Option<usize>,
    pub counters: CounterColumns,
    pub devshm: SizeColumn,
    pub available: SizeColumn,
    amounts: [SizeColumn; 11],
}

/// A column of amounts, if there is one.
#[derive(Debug, Clone, Copy)]
pub struct SizeColumn(Option<(usize, SizeUnit)>);

/// The memory values of one process in one row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Amounts {
    pub memory: Option<Bytes>,
    pub pss_anon: Option<Bytes>,
    pub pss_shmem: Option<Bytes>,
    pub swap_pss: Option<Bytes>,
    pub lazy_free: Option<Bytes>,
    pub anon: Option<Bytes>,
    pub shmem: Option<Bytes>,
    pub swap: Option<Bytes>,
    pub private: Option<Bytes>,
    pub pss: Option<Bytes>,
    pub rss: Option<Bytes>,
}

/// Names of the amounts, in the order of [`Amounts`].
const AMOUNTS: [&[&str]; 11] = [
    &["memory"],
    &["pss_anon"],
    &["pss_shmem"],
    &["swap_pss"],
    &["lazyfree"],
    &["anon", "rss_anon", "rssanon"],
    &["shmem", "rss_shmem", "rssshmem"],
    &["swap"],
    &["private", "uss"],
    &["pss"],
    &["rss", "resident", "res"],
];

impl Columns {
    /// `None` when a row is not about a process or a role.
    pub fn of(table: &Table, choice: &ColumnChoice) -> Option<Result<Columns>> {
        let named = |names: &[&str]| {
            let names = |plain: &str| names.contains(&plain);
            table.names.iter().position(|name| names(&name.plain))
        };
        let pid = named(&["pid", "process_id"]);
        let role = named(&["role"]);
        if pid.is_none() && (role.is_none() || named(&["processes"]).is_none()) {
            return None;
        }
        let time = time(table);
        let count = count(table);
        let key = time
            .map(|(column, _)| column)
            .or(count.map(|(column, _)| column))?;
        Some(Columns::read(table, choice, key, |columns| Columns {
            pid,
            role,
            parent: named(&["ppid", "parent"]),
            start: named(&["start_ticks"]),
            rank: named(&["rank"]),
            state: named(&["state"]),
            fds: named(&["fds", "num_fds"]),
            time,
            count: count.map(|(column, _)| column),
            unit: count.map_or(XUnit::Second, |(_, unit)| unit),
            ..columns
        }))
    }

    /// Whether anything but a sum of RSS can be had.
    pub fn notes(&self) -> Vec<String> {
        let is_known = |n: usize| self.amounts[n].0.is_some();
        let is_only_rss = !(0..10).any(is_known);
        let has_pids = self.pid.is_some();
        if has_pids && is_only_rss {
            vec![
                "only RSS is known of each process: pages that they share are counted once for \
                 each"
                    .to_owned(),
            ]
        } else {
            Vec::new()
        }
    }

    fn read(
        table: &Table,
        choice: &ColumnChoice,
        key: usize,
        complete: impl Fn(Columns) -> Columns,
    ) -> Result<Columns> {
        let size = |names: &[&str]| SizeColumn::find(table, names);
        let mut amounts = AMOUNTS.map(size);
        if let Some(name) = &choice.y {
            amounts = [SizeColumn(None); 11];
            let column = find(table, name)?;
            let unit = choice.y_unit.or_else(|| table.names[column].size_unit());
            amounts[0] = SizeColumn(Some((column, unit.unwrap_or(SizeUnit::B))));
        }
        if amounts.iter().all(|amount| amount.0.is_none()) {
            return Err(Problem::Unusable(format!(
                "has a row for each process and no column of its memory with a unit, such as \
                 rss_bytes; it has {}; name one with --y and --y-unit",
                listed(table)
            )));
        }
        let mut columns = complete(Columns {
            key,
            rows_share_times: true,
            width: table.names.len(),
            count: None,
            unit: XUnit::Second,
            time: None,
            pid: None,
            parent: None,
            start: None,
            role: None,
            rank: None,
            state: None,
            fds: None,
            counters: CounterColumns::of(table, |_| false),
            devshm: size(&["devshm"]),
            available: size(&["available"]),
            amounts,
        });
        if let Some(name) = &choice.x {
            columns.draw_over(table, find(table, name)?);
        }
        columns.rows_share_times = columns.key_repeats(table);
        Ok(columns)
    }

    fn draw_over(&mut self, table: &Table, x: usize) {
        if self.time.is_some_and(|(column, _)| column == x) {
            (self.count, self.unit) = (None, XUnit::Second);
        } else {
            let unit = table.names[x].counts().map(|(unit, _)| unit);
            (self.count, self.unit) = (Some(x), unit.unwrap_or(XUnit::Iteration));
        }
    }

    /// One process alone never repeats a time, and needs no grouping.
    fn key_repeats(&self, table: &Table) -> bool {
        let keys: Vec<&[u8]> = table.cells(self.key).collect();
        let Some(pid) = self.pid else {
            return true;
        };
        let pids: Vec<&[u8]> = table.cells(pid).collect();
        let has_several = pids.windows(2).any(|two| two[0] != two[1]);
        !has_several || keys.windows(2).any(|two| two[0] == two[1])
    }
}

impl SizeColumn {
    /// The column that is called so with a unit behind.
    fn find(table: &Table, names: &[&str]) -> SizeColumn {
        let found = table.names.iter().enumerate().find_map(|(n, name)| {
            let (base, unit) = name.plain.rsplit_once('_')?;
            let unit = SizeUnit::of_word(unit.as_bytes())?;
            names.contains(&base).then_some((n, unit))
        });
        SizeColumn(found)
    }

    /// The amount in a row; `None` when it is empty or no amount.
    pub fn read(&self, fields: Fields<'_>) -> Option<Bytes> {
        let (column, unit) = self.0?;
        unit.bytes(number(fields.get(column)?)?)
    }
}

impl Amounts {
    /// Those of a row.
    pub fn read(columns: &Columns, fields: Fields<'_>) -> Amounts {
        let read = |n: usize| columns.amounts[n].read(fields);
        Amounts {
            memory: read(0),
            pss_anon: read(1),
            pss_shmem: read(2),
            swap_pss: read(3),
            lazy_free: read(4),
            anon: read(5),
            shmem: read(6),
            swap: read(7),
            private: read(8),
            pss: read(9),
            rss: read(10),
        }
    }

    /// Its share of shared memory.
    pub fn shared(&self) -> Bytes {
        self.pss_shmem.or(self.shmem).unwrap_or(Bytes::ZERO)
    }

    /// Its share of swap.
    pub fn swapped(&self) -> Bytes {
        self.swap_pss.or(self.swap).unwrap_or(Bytes::ZERO)
    }

    /// Everything anonymous and shared that it maps, pages that it shares counted in full.
    pub fn mapped(&self) -> Option<Bytes> {
        Some(self.anon? + self.shmem.unwrap_or(Bytes::ZERO) + self.swap.unwrap_or(Bytes::ZERO))
    }
}
