//! Which column is what: by name, by what it holds, or as the user chose.

use leveloff_classifier::observation::XUnit;
use leveloff_progress::StepRegex;

use crate::clock::{self, Clock};
use crate::column::Name;
use crate::error::{Problem, Result};
use crate::number::number;
use crate::size_unit::{SizeUnit, amount_with_unit, by_magnitude};
use crate::table::Table;

/// What the user says about a table or a log: `--x`, `--y`, `--y-unit`, `--step-regex`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnChoice {
    /// The column for x: its name, or its number from 1.
    pub x: Option<String>,
    /// The column that holds memory; in a log, the words in front of the amount.
    pub y: Option<String>,
    /// The unit of memory.
    pub y_unit: Option<SizeUnit>,
    /// The user's pattern for the lines of a log that hold the step.
    pub step_regex: Option<StepRegex>,
}

impl ColumnChoice {
    /// Whether it is about columns, which only tables and logs have.
    pub fn names_columns(&self) -> bool {
        self.x.is_some() || self.y.is_some() || self.y_unit.is_some()
    }
}

/// The columns that are read.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    /// The column that counts, if any.
    pub count: Option<usize>,
    /// What it counts.
    pub unit: XUnit,
    /// The time column.
    pub time: Option<(usize, Clock)>,
    /// The column with memory.
    pub memory: usize,
    /// Its unit; `None` when each value carries its own.
    pub memory_unit: Option<SizeUnit>,
    /// What was guessed, for the reader to check.
    pub notes: Vec<String>,
}

impl Columns {
    /// Chooses them.
    pub fn choose(table: &Table, choice: &ColumnChoice) -> Result<Columns> {
        let mut notes = Vec::new();
        let memory = memory(table, choice, &mut notes)?;
        let memory_unit = match choice.y_unit.or_else(|| table.names[memory].size_unit()) {
            Some(unit) => Some(unit),
            None => unit_in_cells(table, memory, &mut notes)?,
        };
        let (count, unit, time) = x(table, choice, memory)?;
        if count.is_none() && time.is_none() {
            notes.push("no column counts steps or time; rows are counted instead".to_owned());
        }
        Ok(Columns {
            count,
            unit,
            time,
            memory,
            memory_unit,
            notes,
        })
    }
}

/// The column that is called so, or has this number.
pub fn find(table: &Table, name: &str) -> Result<usize> {
    let plain = Name::new(name.as_bytes()).plain;
    let position = |test: &dyn Fn(&Name) -> bool| table.names.iter().position(test);
    position(&|column| column.raw == name)
        .or_else(|| position(&|column| column.plain == plain))
        .or_else(|| {
            let n: usize = name.parse().ok()?;
            (1..=table.names.len()).contains(&n).then(|| n - 1)
        })
        .ok_or_else(|| {
            let names = listed(table);
            Problem::Unusable(format!("has no column '{name}'; it has {names}"))
        })
}

/// The first time column and its format.
pub fn time(table: &Table) -> Option<(usize, Clock)> {
    (0..table.names.len()).find_map(|column| {
        let scale = table.names[column].time_scale()?;
        Some((column, clock_of(table, column, scale)?))
    })
}

/// The best column that counts.
pub fn count(table: &Table) -> Option<(usize, XUnit)> {
    (0..table.names.len())
        .filter(|&column| is_counter(table, column))
        .filter_map(|column| {
            let (unit, rank) = table.names[column].counts()?;
            let is_sure = !rank.is_weak() || rises(table, column);
            is_sure.then_some((rank, column, unit))
        })
        .min_by_key(|(rank, _, _)| *rank)
        .map(|(_, column, unit)| (column, unit))
}

/// The names of all columns, as a sentence lists them.
pub fn listed(table: &Table) -> String {
    /// More would hide the advice.
    const LISTED: usize = 20;
    let mut names: Vec<&str> = table.names.iter().map(|name| &*name.raw).collect();
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", names.join(", "))
}

fn memory(table: &Table, choice: &ColumnChoice, notes: &mut Vec<String>) -> Result<usize> {
    if let Some(name) = &choice.y {
        return find(table, name);
    }
    let ranks = table.names.iter().map(Name::memory_rank);
    let mut ranked: Vec<(u32, usize)> = ranks.zip(0..).filter(|(rank, _)| *rank > 0).collect();
    ranked.sort_by_key(|(rank, column)| (std::cmp::Reverse(*rank), *column));
    if let Some((rank, best)) = ranked.first() {
        let others: Vec<&str> = ranked[1..]
            .iter()
            .map(|(_, column)| &*table.names[*column].raw)
            .collect();
        // Ours is known to be right; others could have been meant.
        if *rank < 1000 && !others.is_empty() {
            notes.push(format!(
                "took {} for memory; --y names another ({})",
                table.names[*best].raw,
                others.join(", ")
            ));
        }
        return Ok(*best);
    }
    only_other_column(table, choice).ok_or_else(|| {
        Problem::Unusable(format!(
            "has no column that looks like memory; it has {}; name one with --y",
            listed(table)
        ))
    })
}

/// In a table of one number, or two with an x, there is no doubt which is y.
fn only_other_column(table: &Table, choice: &ColumnChoice) -> Option<usize> {
    let is_named = !table
        .names
        .iter()
        .enumerate()
        .all(|(n, name)| name.raw == (n + 1).to_string());
    if is_named && choice.y_unit.is_none() {
        return None;
    }
    let is_x = |column: usize| {
        let name = &table.names[column];
        let is_chosen = choice
            .x
            .as_ref()
            .is_some_and(|x| find(table, x).is_ok_and(|x| x == column));
        is_chosen || name.counts().is_some() || name.time_scale().is_some()
    };
    let rest: Vec<usize> = (0..table.names.len())
        .filter(|&column| !is_x(column))
        .collect();
    match rest[..] {
        [only] => Some(only),
        [_, second] if !is_named => Some(second),
        _ => None,
    }
}

type X = (Option<usize>, XUnit, Option<(usize, Clock)>);

fn x(table: &Table, choice: &ColumnChoice, memory: usize) -> Result<X> {
    if let Some(name) = &choice.x {
        let column = find(table, name)?;
        let name = &table.names[column];
        let scale = name.time_scale();
        if scale.is_some() || !is_counter(table, column) {
            let clock = clock_of(table, column, scale.flatten()).ok_or_else(|| {
                let name = &name.raw;
                Problem::Unusable(format!("column '{name}' holds neither numbers nor times"))
            })?;
            return Ok((None, XUnit::Second, Some((column, clock))));
        }
        let unit = name.counts().map_or(XUnit::Iteration, |(unit, _)| unit);
        return Ok((Some(column), unit, time(table)));
    }
    let time = time(table).filter(|(column, _)| *column != memory);
    let unnamed = (table.names.len() > 1 && memory > 0 && table.names[0].raw == "1").then_some(0);
    Ok(
        match (
            count(table).filter(|(column, _)| *column != memory),
            unnamed,
            time,
        ) {
            (Some((column, unit)), _, time) => (Some(column), unit, time),
            (None, Some(first), None) if is_counter(table, first) => {
                (Some(first), XUnit::Iteration, None)
            }
            (None, Some(first), None) => match clock_of(table, first, None) {
                Some(clock) => (None, XUnit::Second, Some((first, clock))),
                None => (None, XUnit::Sample, None),
            },
            (None, _, Some(time)) => (None, XUnit::Second, Some(time)),
            (None, None, None) => (None, XUnit::Sample, None),
        },
    )
}

/// A column of numbers that are too small for dates since 1970: `epoch` may mean either.
fn is_counter(table: &Table, column: usize) -> bool {
    /// The year 2001 in seconds.
    const SMALLEST_DATE: f64 = 1e9;
    let mut cells = table
        .cells(column)
        .filter(|cell| !cell.trim_ascii().is_empty());
    match cells.next() {
        None => true,
        Some(cell) => number(cell).is_some_and(|value| value.abs() < SMALLEST_DATE),
    }
}

/// Whether a column rises more often than not, as far as can be seen.
fn rises(table: &Table, column: usize) -> bool {
    let values: Vec<f64> = table.cells(column).filter_map(number).collect();
    let pairs = values.len().saturating_sub(1);
    let rising = values.windows(2).filter(|two| two[1] > two[0]).count();
    rising * 2 >= pairs
}

fn clock_of(table: &Table, column: usize, scale: Option<f64>) -> Option<Clock> {
    let first = table
        .cells(column)
        .find(|cell| !cell.trim_ascii().is_empty());
    match (first, scale) {
        (None, scale) => Some(Clock::PerSecond(scale.unwrap_or(1.0))),
        (Some(cell), Some(scale)) if number(cell).is_some() => Some(Clock::PerSecond(scale)),
        (Some(cell), _) => match number(cell) {
            Some(value) => Some(Clock::of_bare_number(value)),
            None => clock::calendar(cell).map(|_| Clock::Calendar),
        },
    }
}

/// Values that carry their unit, or numbers of a magnitude that only one unit has.
fn unit_in_cells(
    table: &Table,
    column: usize,
    notes: &mut Vec<String>,
) -> Result<Option<SizeUnit>> {
    /// Resident memory in bytes is whole pages; the same in kB or MB hardly ever looks like that.
    const PAGE: f64 = 4096.0;
    /// As kB this would be ten terabytes.
    const SURELY_BYTES: f64 = 1e10;
    let cells = || {
        table
            .cells(column)
            .filter(|cell| !cell.trim_ascii().is_empty())
    };
    if cells().any(|cell| amount_with_unit(cell).is_some()) {
        return Ok(None);
    }
    let name = &table.names[column].raw;
    let values = || cells().filter_map(number);
    let is_in_pages = values().count() > 2 && values().all(|v| v % PAGE == 0.0 && v > PAGE);
    let is_huge = values().next().is_some() && values().all(|v| v >= SURELY_BYTES);
    let known = (is_in_pages || is_huge).then_some(SizeUnit::B);
    if let Some(unit) = known.or_else(|| by_magnitude(values())) {
        let unit_name = unit.name();
        notes.push(format!(
            "took {name} for {unit_name} by its values; --y-unit states another"
        ));
        return Ok(Some(unit));
    }
    Err(Problem::Unusable(format!(
        "column '{name}' has no unit; state it, such as --y-unit MB (or MiB, KiB, GiB, B)"
    )))
}
