//! The processes as rows: groups of one role, and their members where they are shown.

use leveloff_classifier::run_analysis::{Amounts, GroupAccount, ProcessAccount, RunAccount};
use leveloff_model::process::{Pid, Rank, Role};
use leveloff_model::units::{ByteDelta, Bytes, Seconds};

use crate::run::RunState;
use crate::view::{GroupKey, RowKey, Sort, TableView};

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What it stands for.
    pub key: RowKey,
    /// Whether it stands below its group.
    pub is_member: bool,
    /// Processes in it.
    pub processes: u32,
    /// The role.
    pub role: Role,
    /// The rank it belongs to.
    pub rank: Option<Rank>,
    /// Its process number, if it is one process.
    pub pid: Option<Pid>,
    /// The command line, if it is one process.
    pub command: String,
    /// Memory, shared pages counted once.
    pub memory: Amounts,
    /// What RSS says.
    pub rss: Bytes,
    /// Pages that no other process maps, where that was read of all.
    pub private: Option<Bytes>,
    /// CPU, in percent of one core.
    pub cpu_percent: Option<f64>,
    /// GPU memory, where the driver reports it.
    pub gpu: Option<Bytes>,
    /// How long it has been watched; the oldest of a group.
    pub age: Seconds,
    /// Its memory over its life; of a group, added up.
    pub trend: Vec<f64>,
    /// Whether its memory is an estimate because PSS was never read.
    pub is_estimate: bool,
}

/// Points of a trend.
const TREND: usize = 8;

/// The rows that are shown. Processes of a machine, and those that match a filter, are not grouped.
pub fn rows(run: &RunState, view: &TableView) -> Vec<Row> {
    let Some(account) = run.account() else {
        return Vec::new();
    };
    let mut processes = processes(account, &view.filter);
    processes.sort_by(|a, b| view.sort.compare(a, b));
    if run.is_machine || !view.filter.is_empty() {
        return processes;
    }
    let mut groups: Vec<Vec<Row>> = account
        .groups
        .iter()
        .map(|group| grouped(group, &processes, view))
        .filter(|rows| !rows.is_empty())
        .collect();
    groups.sort_by(|a, b| view.sort.compare(&a[0], &b[0]));
    groups.into_iter().flatten().collect()
}

fn processes(account: &RunAccount, filter: &str) -> Vec<Row> {
    let filter = filter.to_lowercase();
    let rows = account.alive().map(|process| Row::of(process, account));
    rows.filter(|row| row.matches(&filter)).collect()
}

/// The row of a group, and its members where they are shown. A group of one process is that process.
fn grouped(group: &GroupAccount, processes: &[Row], view: &TableView) -> Vec<Row> {
    let is_member =
        |row: &&Row| row.role == group.role && group.rank.is_none_or(|rank| row.rank == Some(rank));
    let mut rows: Vec<Row> = processes.iter().filter(is_member).cloned().collect();
    if rows.len() < 2 {
        return rows;
    }
    let head = Row::of_group(group, &rows);
    if matches!(head.key, RowKey::Group(key) if view.expanded.contains(&key)) {
        rows.iter_mut().for_each(|row| row.is_member = true);
    } else {
        rows.clear();
    }
    rows.insert(0, head);
    rows
}

impl Row {
    fn of(process: &ProcessAccount, account: &RunAccount) -> Row {
        let command = process.info.as_ref().map(|info| match &info.command[..] {
            [] => info.comm.clone(),
            words => words.join(" "),
        });
        let first_seen = process.seen.map(|(first, _)| first);
        let age = account
            .now
            .t
            .zip(first_seen)
            .map(|(now, first)| now - first);
        Row {
            key: RowKey::Process(process.index),
            is_member: false,
            processes: 1,
            role: process.role,
            rank: process.rank,
            pid: Some(process.pid),
            command: command.unwrap_or_default(),
            memory: process.memory,
            rss: process.rss,
            private: process.private,
            cpu_percent: process.cpu_percent,
            gpu: process.gpu,
            age: age.unwrap_or(Seconds(0.0)),
            trend: thinned(&process.trend),
            is_estimate: process.is_estimate,
        }
    }

    fn of_group(group: &GroupAccount, members: &[Row]) -> Row {
        let oldest = members.iter().map(|row| row.age.0).fold(0.0, f64::max);
        let key = GroupKey {
            rank: group.rank,
            role: group.role,
        };
        Row {
            key: RowKey::Group(key),
            is_member: false,
            processes: group.processes,
            role: group.role,
            rank: group.rank,
            pid: None,
            command: String::new(),
            memory: group.memory,
            rss: group.rss,
            private: members.iter().map(|row| row.private).sum(),
            cpu_percent: members.iter().map(|row| row.cpu_percent).sum(),
            gpu: group.gpu,
            age: Seconds(oldest),
            trend: added_up(members),
            is_estimate: members.iter().any(|row| row.is_estimate),
        }
    }

    /// What it gained since the moment that growth counts from.
    pub fn growth(&self) -> ByteDelta {
        self.memory.growth()
    }

    fn matches(&self, filter: &str) -> bool {
        self.role.name().contains(filter)
            || self.command.to_lowercase().contains(filter)
            || self.pid.is_some_and(|pid| pid.to_string().contains(filter))
    }
}

/// At most [`TREND`] of the points, the newest last.
fn thinned(points: &[f64]) -> Vec<f64> {
    let step = points.len().div_ceil(TREND).max(1);
    let mut thinned: Vec<f64> = points.iter().rev().step_by(step).copied().collect();
    thinned.reverse();
    thinned
}

/// Members that started later have shorter trends; all end now.
fn added_up(members: &[Row]) -> Vec<f64> {
    let longest = members.iter().map(|row| row.trend.len()).max();
    let mut sum = vec![0.0; longest.unwrap_or(0)];
    for row in members {
        let skip = sum.len() - row.trend.len();
        for (total, point) in sum[skip..].iter_mut().zip(&row.trend) {
            *total += point;
        }
    }
    sum
}

impl Sort {
    fn compare(self, a: &Row, b: &Row) -> std::cmp::Ordering {
        let largest_first = match self {
            Sort::Role => std::cmp::Ordering::Equal,
            Sort::Memory => b.memory.now.cmp(&a.memory.now),
            Sort::Growth => b.growth().cmp(&a.growth()),
            Sort::Rss => b.rss.cmp(&a.rss),
            Sort::Cpu => {
                let cpu = |row: &Row| row.cpu_percent.unwrap_or(0.0);
                cpu(b).total_cmp(&cpu(a))
            }
        };
        largest_first.then_with(|| (a.rank, a.role, a.pid).cmp(&(b.rank, b.role, b.pid)))
    }
}
