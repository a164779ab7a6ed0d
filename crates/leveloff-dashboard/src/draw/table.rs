//! The processes: how much each holds, and which grow.

mod columns;

use leveloff_classifier::run_analysis::RunAccount;
use leveloff_model::process::Role;
use leveloff_model::units::Bytes;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use self::columns::{Column, Columns};
use super::bars::{bar, span, sparkline};
use super::since::{clock, rate_now};
use super::text::{left_aligned, padded, program, put, right_aligned};
use crate::dashboard::Dashboard;
use crate::layout::Layout;
use crate::table::Row;
use crate::theme::{Paint, Styles};
use crate::view::{RowKey, Sort};

/// Columns of the bar of a share.
const BAR: usize = 6;

/// What all rows have in common.
struct Table<'a> {
    dashboard: &'a Dashboard,
    styles: &'a Styles,
    columns: Columns,
    account: Option<&'a RunAccount>,
    /// The largest growth of a row.
    most: i64,
    /// The most that any row moved: all trends are drawn to this scale.
    trend_span: f64,
}

/// Draws them.
pub fn draw(dashboard: &Dashboard, styles: &Styles, layout: &Layout, buffer: &mut Buffer) {
    let area = layout.table;
    let inner = padded(area);
    let rows = dashboard.rows();
    let table = Table::new(dashboard, styles, &rows, usize::from(inner.width));
    put(table.headings(&rows, layout), 0, inner, buffer);
    let in_sight = rows.iter().skip(layout.first_row);
    for (row, shown) in in_sight.take(layout.rows_in_sight()).enumerate() {
        put(table.line(shown), row + 1, inner, buffer);
        if Some(shown.key) == dashboard.view.table.selected {
            highlight(row + 1, styles, area, buffer);
        }
    }
    if rows.is_empty() {
        put(table.nothing(), 1, inner, buffer);
    }
}

/// Marks the selected row, not by colour alone.
fn highlight(row: usize, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let line = Rect {
        y: area.y + row as u16,
        height: 1,
        ..area
    };
    put("›", 0, line, buffer);
    buffer.set_style(line, styles.get(Paint::Chosen));
}

impl Table<'_> {
    fn new<'a>(
        dashboard: &'a Dashboard,
        styles: &'a Styles,
        rows: &[Row],
        columns: usize,
    ) -> Table<'a> {
        let account = dashboard.run().account();
        Table {
            dashboard,
            styles,
            columns: Columns::fit(rows, columns, account),
            account,
            most: rows.iter().map(|row| row.growth().0).max().unwrap_or(0),
            trend_span: rows.iter().map(|row| span(&row.trend)).fold(0.0, f64::max),
        }
    }

    fn headings(&self, rows: &[Row], layout: &Layout) -> Line<'static> {
        let mut text = left_aligned(&self.who_heading(rows, layout), self.columns.who);
        for &column in &self.columns.shown {
            let name = self.marked(column.name(), column.sort());
            text.push(' ');
            text += &match column {
                Column::Trend | Column::Share => left_aligned(&name, column.width()),
                _ => right_aligned(&name, column.width()),
            };
        }
        if self.columns.command > 0 {
            text += " COMMAND";
        }
        Line::styled(text, self.styles.get(Paint::Heading))
    }

    fn who_heading(&self, rows: &[Row], layout: &Layout) -> String {
        let mut text = self.marked("WHO", Some(Sort::Role));
        let filter = &self.dashboard.view.table.filter;
        if !filter.is_empty() {
            text += &format!(" \"{filter}\"");
        }
        let in_sight = layout.rows_in_sight();
        if rows.len() > in_sight {
            let (first, last) = (layout.first_row + 1, layout.first_row + in_sight);
            text += &format!(" {first}–{} of {}", last.min(rows.len()), rows.len());
        }
        text
    }

    /// With a mark if rows are sorted by it.
    fn marked(&self, name: &str, sort: Option<Sort>) -> String {
        if sort == Some(self.dashboard.view.table.sort) {
            format!("{name} ▾")
        } else {
            name.to_owned()
        }
    }

    fn line(&self, row: &Row) -> Line<'static> {
        let mut who = left_aligned(&who(row), self.columns.who);
        if self.is_expanded(row) {
            who = who.replacen('▸', "▾", 1);
        }
        let growth = row.growth().0;
        let is_largest = growth > 0 && growth == self.most;
        let mut line = Line::from(Span::raw(who));
        for &column in &self.columns.shown {
            line.push_span(Span::raw(" "));
            let paint = match column {
                Column::Trend | Column::Share => Paint::Accent,
                Column::Growth | Column::Rate if is_largest => Paint::Strong,
                Column::Growth | Column::Rate if growth == 0 => Paint::Faint,
                Column::Memory | Column::Growth | Column::Rate => Paint::Plain,
                _ => Paint::Faint,
            };
            let text = self.cell(column, row);
            line.push_span(Span::styled(text, self.styles.get(paint)));
        }
        if self.columns.command > 0 {
            let text = format!(" {}", command(row));
            line.push_span(Span::styled(text, self.styles.get(Paint::Faint)));
        }
        line
    }

    fn is_expanded(&self, row: &Row) -> bool {
        let expanded = &self.dashboard.view.table.expanded;
        matches!(row.key, RowKey::Group(group) if expanded.contains(&group))
    }

    fn cell(&self, column: Column, row: &Row) -> String {
        let unknown = || "–".to_owned();
        let amount = |bytes: Option<Bytes>| bytes.map_or_else(unknown, |bytes| bytes.to_string());
        let text = match column {
            Column::Memory if row.is_estimate => format!("~{}", row.memory.now),
            Column::Memory => row.memory.now.to_string(),
            Column::Growth => row.growth().to_string(),
            Column::Rate => {
                let rate = self.account.and_then(|run| rate_now(&row.memory, run));
                rate.unwrap_or_else(unknown)
            }
            Column::Rss => row.rss.to_string(),
            Column::Private => amount(row.private),
            Column::Gpu => amount(row.gpu),
            Column::Cpu => row
                .cpu_percent
                .map_or_else(unknown, |percent| format!("{percent:.0} %")),
            Column::Age => clock(row.age),
            Column::Share => return self.share(row),
            Column::Trend => {
                let trend = sparkline(&row.trend, self.trend_span);
                return left_aligned(&trend, column.width());
            }
        };
        right_aligned(&text, column.width())
    }

    fn share(&self, row: &Row) -> String {
        let whole = self.account.map_or(0, |run| run.memory.now.0).max(1);
        let share = row.memory.now.0 as f64 / whole as f64;
        let percent = format!("{:.0} %", share * 100.0);
        format!(
            "{}{}",
            left_aligned(&bar(share, BAR), BAR),
            right_aligned(&percent, 6)
        )
    }

    fn nothing(&self) -> Line<'static> {
        let filter = &self.dashboard.view.table.filter;
        let text = match (self.account, filter.is_empty()) {
            (None, _) => String::new(),
            (Some(_), true) => "  no process is left".to_owned(),
            (Some(_), false) => format!("  no process has \"{filter}\"; esc shows all"),
        };
        Line::styled(text, self.styles.get(Paint::Faint))
    }
}

/// `▸ compile workers ×20`, `  trainer 22180`, `    22201`
fn who(row: &Row) -> String {
    let rank = match row.rank {
        Some(rank) if !row.is_member => format!("rank {rank} "),
        _ => String::new(),
    };
    match (row.key, row.pid) {
        (RowKey::Group(_), _) => {
            format!("▸ {rank}{} ×{}", plural(row.role), row.processes)
        }
        (RowKey::Process(_), Some(pid)) if row.is_member => format!("    pid {pid}"),
        (RowKey::Process(_), Some(pid)) => format!("  {rank}{} {pid}", name_of(row)),
        (RowKey::Process(_), None) => format!("  {rank}{}", name_of(row)),
    }
}

/// The role or, of what has none, the program.
fn name_of(row: &Row) -> String {
    if row.role != Role::Other {
        return row.role.name().replace('-', " ");
    }
    program(&row.command)
}

fn plural(role: Role) -> String {
    match role {
        Role::Other => "other processes".to_owned(),
        role => format!("{}s", role.name().replace('-', " ")),
    }
}

/// The command line or, of a group, what misleads about it.
fn command(row: &Row) -> String {
    let misleads = row.processes > 1 && row.rss.0 > 2 * row.memory.now.0;
    if misleads {
        format!("counted {} by RSS: they share pages", row.rss)
    } else {
        row.command.clone()
    }
}
