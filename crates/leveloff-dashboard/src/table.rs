//! The processes as rows: groups of one role, and their members where they are shown.

use std::collections::{BTreeMap, HashMap};

use leveloff_classifier::observation::ProcessShare;
use leveloff_classifier::verdict::{Judgement, Subject};
use leveloff_model::process::{ProcessIndex, Rank, Role};
use leveloff_model::sample::ProcessReading;
use leveloff_model::units::{ByteDelta, Bytes, Seconds};

use crate::run::{Person, RunState};
use crate::view::{GroupKey, RowKey, Sort, TableView};

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What it stands for.
    pub key: RowKey,
    /// Whether it stands below its group.
    pub is_member: bool,
    /// Processes in it.
    pub processes: usize,
    /// The role.
    pub role: Role,
    /// The rank it belongs to.
    pub rank: Option<Rank>,
    /// Its process number, if it is one process.
    pub pid: Option<i32>,
    /// The command line, if it is one process.
    pub command: String,
    /// What it really holds.
    pub memory: Bytes,
    /// What RSS says.
    pub rss: Bytes,
    /// Pages that nobody else maps, where that was read of all.
    pub private: Option<Bytes>,
    /// What it gained since the marker.
    pub growth: ByteDelta,
    /// CPU, in percent of one core.
    pub cpu_percent: Option<f64>,
    /// GPU memory, where something can tell.
    pub gpu: Option<Bytes>,
    /// How long it has been watched; the oldest of a group.
    pub age: Seconds,
    /// Its memory lately; of a group, added up.
    pub sparkline: Vec<f64>,
    /// Whether its share is an estimate because PSS was never read.
    pub is_estimate: bool,
}

/// Points of a sparkline.
const SPARKLINE: usize = 8;

/// The rows that are shown.
pub fn rows(run: &RunState, view: &TableView) -> Vec<Row> {
    if run.is_machine() {
        return ungrouped(run, view);
    }
    let several_ranks = ranks(run).len() > 1;
    let mut groups: BTreeMap<GroupKey, Vec<Row>> = BTreeMap::new();
    for (share, row) in matching(run, view) {
        let key = GroupKey {
            rank: share.rank.filter(|_| several_ranks),
            role: share.role,
        };
        groups.entry(key).or_default().push(row);
    }
    let mut grouped: Vec<(Row, Vec<Row>)> = groups
        .into_iter()
        .map(|(key, members)| grouped(key, members, view))
        .collect();
    grouped.sort_by(|(a, _), (b, _)| view.sort.compare(a, b));
    grouped
        .into_iter()
        .flat_map(|(head, members)| std::iter::once(head).chain(members))
        .collect()
}

/// The ranks of the run, each with its trainer's memory and what is said of it.
pub fn ranks(run: &RunState) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = run.shares().iter().filter_map(|share| share.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

/// What is said of one process, if it was judged: only what rises is.
pub fn judgement(run: &RunState, index: ProcessIndex) -> Option<&Judgement> {
    let pid = run.people().get(index)?.info.key.pid;
    let subjects = &run.verdict()?.subjects;
    subjects
        .iter()
        .find(|(subject, _)| matches!(subject, Subject::Process(of, _) if *of == pid))
        .map(|(_, judgement)| judgement)
}

/// The processes of a machine have nothing in common but the machine.
fn ungrouped(run: &RunState, view: &TableView) -> Vec<Row> {
    let mut rows: Vec<Row> = matching(run, view).map(|(_, row)| row).collect();
    rows.sort_by(|a, b| view.sort.compare(a, b));
    rows
}

/// A group of one is that one.
fn grouped(key: GroupKey, mut members: Vec<Row>, view: &TableView) -> (Row, Vec<Row>) {
    // Of many alike, those that grow are looked for.
    let sort = match view.sort {
        Sort::Role => Sort::Growth,
        chosen => chosen,
    };
    members.sort_by(|a, b| sort.compare(a, b));
    if members.len() == 1 {
        return (members.remove(0), Vec::new());
    }
    let head = Row::of_group(key, &members);
    if !view.expanded.contains(&key) {
        members.clear();
    }
    for member in &mut members {
        member.is_member = true;
    }
    (head, members)
}

/// Every process that the user wants to see, with its row.
fn matching<'a>(
    run: &'a RunState,
    view: &'a TableView,
) -> impl Iterator<Item = (&'a ProcessShare, Row)> {
    let sample = run.sample();
    let processes = sample.into_iter().flat_map(|sample| &sample.processes);
    let readings: HashMap<ProcessIndex, &ProcessReading> = processes
        .map(|reading| (reading.process, reading))
        .collect();
    let now = sample.map_or(Seconds(0.0), |sample| sample.t);
    let rows = run.shares().iter().filter_map(move |share| {
        let person = run.people().get(share.index)?;
        let reading = readings.get(&share.index)?;
        let growth = run
            .marker()
            .map_or(ByteDelta(0), |marker| marker.process(share));
        let row = Row::of_process(person, share, reading, growth, now);
        Some((share, row))
    });
    rows.filter(|(_, row)| passes(row, &view.filter))
}

fn passes(row: &Row, filter: &str) -> bool {
    let wanted = filter.to_lowercase();
    wanted.is_empty()
        || row.role.name().contains(&wanted)
        || row.command.to_lowercase().contains(&wanted)
        || row.pid.is_some_and(|pid| pid.to_string().contains(&wanted))
}

impl Row {
    fn of_process(
        person: &Person,
        share: &ProcessShare,
        reading: &ProcessReading,
        growth: ByteDelta,
        now: Seconds,
    ) -> Row {
        let info = &person.info;
        let command = if info.command.is_empty() {
            info.comm.clone()
        } else {
            info.command.join(" ")
        };
        Row {
            key: RowKey::Process(share.index),
            is_member: false,
            processes: 1,
            role: share.role,
            rank: share.rank,
            pid: Some(share.pid.0),
            command,
            memory: share.memory,
            rss: share.rss,
            private: reading.pss.as_ref().map(|pss| pss.private),
            growth,
            cpu_percent: person.cpu_percent,
            gpu: reading.gpu,
            age: now - person.since,
            sparkline: person.sparkline.points(SPARKLINE),
            is_estimate: reading.pss.is_none(),
        }
    }

    fn of_group(key: GroupKey, members: &[Row]) -> Row {
        let all = |part: fn(&Row) -> Option<Bytes>| members.iter().map(part).sum::<Option<Bytes>>();
        let oldest = members.iter().map(|row| row.age.0).fold(0.0, f64::max);
        Row {
            key: RowKey::Group(key),
            is_member: false,
            processes: members.len(),
            role: key.role,
            rank: key.rank,
            pid: None,
            command: String::new(),
            memory: members.iter().map(|row| row.memory).sum(),
            rss: members.iter().map(|row| row.rss).sum(),
            private: all(|row| row.private),
            growth: members
                .iter()
                .fold(ByteDelta(0), |sum, row| sum + row.growth),
            cpu_percent: members.iter().map(|row| row.cpu_percent).sum(),
            gpu: all(|row| row.gpu),
            age: Seconds(oldest),
            sparkline: added_up(members),
            is_estimate: members.iter().any(|row| row.is_estimate),
        }
    }
}

/// Members that came later have shorter lines; all end now.
fn added_up(members: &[Row]) -> Vec<f64> {
    let mut sum = vec![
        0.0;
        members
            .iter()
            .map(|row| row.sparkline.len())
            .max()
            .unwrap_or(0)
    ];
    for row in members {
        let skip = sum.len() - row.sparkline.len();
        for (total, point) in sum[skip..].iter_mut().zip(&row.sparkline) {
            *total += point;
        }
    }
    sum
}

impl Sort {
    fn compare(self, a: &Row, b: &Row) -> std::cmp::Ordering {
        let largest_first = match self {
            Sort::Role => std::cmp::Ordering::Equal,
            Sort::Memory => b.memory.cmp(&a.memory),
            Sort::Growth => b.growth.0.cmp(&a.growth.0),
            Sort::Rss => b.rss.cmp(&a.rss),
            Sort::Cpu => {
                let cpu = |row: &Row| row.cpu_percent.unwrap_or(0.0);
                cpu(b).total_cmp(&cpu(a))
            }
        };
        largest_first.then_with(|| (a.rank, a.role, a.pid).cmp(&(b.rank, b.role, b.pid)))
    }
}
