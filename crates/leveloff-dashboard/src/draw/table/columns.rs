//! Which columns fit: the most important are kept.

use leveloff_classifier::run_analysis::RunAccount;

use super::who;
use crate::draw::since::rate_now;
use crate::draw::text::width;
use crate::table::Row;
use crate::view::Sort;

/// A column after the name, in the order of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Memory,
    Share,
    Growth,
    Rate,
    Rss,
    Private,
    Gpu,
    Cpu,
    Age,
    Trend,
}

/// The width of the name, at least and at most.
const WHO: (usize, usize) = (18, 32);
/// A shorter part of a command line is of no use.
const COMMAND_LEAST: usize = 24;
/// Spare columns between the name and the rest, at most.
const SPREAD: usize = 6;

/// The most important first.
const IMPORTANCE: [Column; 10] = [
    Column::Memory,
    Column::Growth,
    Column::Rate,
    Column::Rss,
    Column::Trend,
    Column::Gpu,
    Column::Cpu,
    Column::Share,
    Column::Private,
    Column::Age,
];

/// The columns that fit.
#[derive(Debug)]
pub(super) struct Columns {
    /// The width of the name.
    pub(super) who: usize,
    /// The columns after it.
    pub(super) shown: Vec<Column>,
    /// The width of the command line; 0 without one.
    pub(super) command: usize,
}

impl Columns {
    /// Those that fit.
    pub(super) fn fit(rows: &[Row], columns: usize, run: Option<&RunAccount>) -> Columns {
        let longest = rows.iter().map(|row| width(&who(row))).max().unwrap_or(0);
        let mut who = longest.clamp(WHO.0, WHO.1);
        let mut left = columns.saturating_sub(who);
        let mut shown = Vec::new();
        for column in IMPORTANCE {
            let is_known = match column {
                Column::Gpu => rows.iter().any(|row| row.gpu.is_some()),
                Column::Rate => {
                    let rate = |row: &Row| rate_now(&row.memory, run?);
                    rows.iter().any(|row| rate(row).is_some())
                }
                _ => true,
            };
            if is_known && column.width() < left {
                left -= 1 + column.width();
                shown.push(column);
            }
        }
        let command = if left > COMMAND_LEAST { left } else { 0 };
        who += (left - command).min(SPREAD);
        shown.sort_unstable();
        Columns {
            who,
            shown,
            command,
        }
    }
}

impl Column {
    /// Columns of the screen that it takes.
    pub(super) fn width(self) -> usize {
        match self {
            Column::Memory | Column::Growth => 9,
            Column::Rate => 14,
            Column::Share => 12,
            Column::Rss | Column::Private | Column::Gpu | Column::Trend => 8,
            Column::Cpu => 6,
            Column::Age => 8,
        }
    }

    /// Its heading.
    pub(super) fn name(self) -> &'static str {
        match self {
            Column::Memory => "MEMORY",
            Column::Share => "SHARE",
            Column::Growth => "GROWTH",
            Column::Rate => "RATE NOW",
            Column::Rss => "RSS",
            Column::Private => "PRIVATE",
            Column::Gpu => "GPU",
            Column::Cpu => "CPU",
            Column::Age => "AGE",
            Column::Trend => "TREND",
        }
    }

    /// The sort order of a click on it.
    pub(super) fn sort(self) -> Option<Sort> {
        match self {
            Column::Memory => Some(Sort::Memory),
            Column::Growth => Some(Sort::Growth),
            Column::Rss => Some(Sort::Rss),
            Column::Cpu => Some(Sort::Cpu),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_never_takes_more_than_there_is() {
        for columns in 0..300 {
            let fit = Columns::fit(&[], columns, None);
            let shown: usize = fit.shown.iter().map(|column| 1 + column.width()).sum();
            let all = fit.who + shown + fit.command;
            assert!(all <= columns.max(WHO.0), "{columns}: {fit:?}");
        }
    }

    #[test]
    fn eighty_columns_show_memory_growth_and_what_rss_says() {
        let fit = Columns::fit(&[], 78, None);
        let important = [Column::Memory, Column::Growth, Column::Rss];
        assert!(important.iter().all(|column| fit.shown.contains(column)));
        assert!(!fit.shown.contains(&Column::Gpu), "no row has GPU memory");
    }
}
