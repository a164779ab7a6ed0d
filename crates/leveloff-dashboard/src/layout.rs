//! The areas of the screen. Drawing and the mouse use the same function, so a click lands on what is
//! seen.

use ratatui::layout::{Position, Rect};

use crate::dashboard::Dashboard;

/// Columns and rows below which a verdict, a curve and a table do not fit.
pub const MINIMUM_SIZE: (u16, u16) = (60, 16);

/// From this width on, findings and the log stand beside the processes.
const WIDE: u16 = 132;
/// From this height on, the banner has headings and the limit a bar.
const TALL: u16 = 22;
/// Rows that the chart has at least, its axis included.
const CHART_LEAST: u16 = 7;
/// Ranks that get a line each; the worst come first.
const RANKS_MOST: u16 = 8;

/// The areas of the screen; an area without rows is not drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// What is watched, how far it is, what that costs.
    pub header: Rect,
    /// The verdict, who grows, how fast, how much time is left.
    pub banner: Rect,
    /// The numbers of the verdict, and what follows.
    pub verdict: Rect,
    /// What is held against the limit.
    pub gauge: Rect,
    /// One line for each rank, where there are several.
    pub ranks: Rect,
    /// The curve with its axes.
    pub chart: Rect,
    /// The processes, a line of headings first.
    pub table: Rect,
    /// What grew.
    pub growth: Rect,
    /// Findings, with what to do.
    pub findings: Rect,
    /// What happened.
    pub log: Rect,
    /// Keys, a prompt or a question.
    pub footer: Rect,
    /// The first row of the processes that is in sight, counted from the first that there is.
    pub first_row: usize,
}

/// What a click hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickTarget {
    /// The curve.
    Chart,
    /// This row of the processes, counted from the first that there is.
    Row(usize),
    /// Anything else.
    Elsewhere,
}

impl Layout {
    /// The layout of the overview; any size has one, also below [`MINIMUM_SIZE`].
    pub fn of(dashboard: &Dashboard) -> Layout {
        let (columns, rows) = dashboard.size;
        let area = Rect::new(0, 0, columns, rows);
        let account = dashboard.run().account();
        let ranks = account.map_or(0, |account| account.ranks().len()) as u16;
        let rows = dashboard.rows();
        let selected = dashboard.view.table.selected;
        let chosen = rows.iter().position(|row| Some(row.key) == selected);
        let mut layout = Layout::in_area(area, ranks, rows.len() as u16);
        layout.first_row = first_row(chosen, layout.rows_in_sight());
        layout
    }

    /// Rows of processes that fit below their headings.
    pub fn rows_in_sight(&self) -> usize {
        usize::from(self.table.height.saturating_sub(1))
    }

    fn in_area(area: Rect, ranks: u16, processes: u16) -> Layout {
        let mut left = area;
        let header = cut_top(&mut left, 1);
        let footer = cut_bottom(&mut left, 1);
        let is_tall = area.height >= TALL;
        let banner = cut_top(&mut left, if is_tall { 3 } else { 2 });
        let verdict = cut_top(&mut left, 2);
        let gauge = cut_top(&mut left, u16::from(is_tall));
        let spare = left.height.saturating_sub(CHART_LEAST + 4);
        let ranks = if ranks > 1 { ranks.min(RANKS_MOST) } else { 0 };
        let ranks = cut_top(&mut left, ranks.min(spare));
        let around = Layout {
            header,
            banner,
            verdict,
            gauge,
            ranks,
            footer,
            ..Layout::default()
        };
        if area.width >= WIDE {
            around.wide(left, processes)
        } else {
            around.narrow(left, processes)
        }
    }

    /// All below each other. On a small screen explanations are dropped first, then processes.
    fn narrow(self, mut left: Rect, processes: u16) -> Layout {
        let spare = left.height.saturating_sub(CHART_LEAST + 3);
        let log = cut_bottom(&mut left, spare.saturating_sub(1).min(1 + spare / 8));
        let findings = cut_bottom(&mut left, spare.min(1 + spare / 6));
        let growth = cut_bottom(&mut left, spare.saturating_sub(2).min(1));
        let table = rows_of_table(left.height, processes);
        let table = cut_bottom(&mut left, table);
        Layout {
            chart: left,
            table,
            growth,
            findings,
            log,
            ..self
        }
    }

    /// The chart over the whole width; below it processes to the left, explanations to the right.
    fn wide(self, mut left: Rect, processes: u16) -> Layout {
        // What explains has room as well, however few processes there are.
        let below = rows_of_table(left.height, processes.max(left.height * 2 / 5));
        let mut below = cut_bottom(&mut left, below);
        let explanations = below.width * 2 / 5;
        let mut right = cut_right(&mut below, explanations);
        let third = (right.height / 3).max(1);
        let growth = cut_top(&mut right, third);
        let findings = cut_top(&mut right, third);
        Layout {
            chart: left,
            table: below,
            growth,
            findings,
            log: right,
            ..self
        }
    }

    /// Everything between header and footer, for a page that covers it.
    pub fn body(&self) -> Rect {
        Rect {
            y: self.header.bottom(),
            height: self.footer.y.saturating_sub(self.header.bottom()),
            ..self.header
        }
    }

    /// The same with nothing outside of `area`.
    pub fn within(&self, area: Rect) -> Layout {
        Layout {
            header: self.header.intersection(area),
            banner: self.banner.intersection(area),
            verdict: self.verdict.intersection(area),
            gauge: self.gauge.intersection(area),
            ranks: self.ranks.intersection(area),
            chart: self.chart.intersection(area),
            table: self.table.intersection(area),
            growth: self.growth.intersection(area),
            findings: self.findings.intersection(area),
            log: self.log.intersection(area),
            footer: self.footer.intersection(area),
            first_row: self.first_row,
        }
    }

    /// What is at this column and row.
    pub fn target_at(&self, column: u16, row: u16) -> ClickTarget {
        let position = Position::new(column, row);
        if self.chart.contains(position) {
            return ClickTarget::Chart;
        }
        if self.table.contains(position) && row > self.table.y {
            return ClickTarget::Row(self.first_row + usize::from(row - self.table.y - 1));
        }
        ClickTarget::Elsewhere
    }
}

/// Rows scroll by whole pages, so that a row does not move when it is clicked.
fn first_row(chosen: Option<usize>, in_sight: usize) -> usize {
    let in_sight = in_sight.max(1);
    chosen.unwrap_or(0) / in_sight * in_sight
}

/// The processes have at most half of what is left, and a line of headings.
fn rows_of_table(height: u16, processes: u16) -> u16 {
    let most = (height / 2).min(height.saturating_sub(CHART_LEAST));
    (processes + 1).max(3).min(most)
}

fn cut_top(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    let cut = Rect {
        height: rows,
        ..*area
    };
    area.y += rows;
    area.height -= rows;
    cut
}

fn cut_bottom(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    area.height -= rows;
    Rect {
        y: area.y + area.height,
        height: rows,
        ..*area
    }
}

fn cut_right(area: &mut Rect, columns: u16) -> Rect {
    let columns = columns.min(area.width);
    area.width -= columns;
    Rect {
        x: area.x + area.width,
        width: columns,
        ..*area
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(layout: &Layout) -> [Rect; 11] {
        [
            layout.header,
            layout.banner,
            layout.verdict,
            layout.gauge,
            layout.ranks,
            layout.chart,
            layout.table,
            layout.growth,
            layout.findings,
            layout.log,
            layout.footer,
        ]
    }

    #[test]
    fn every_cell_belongs_to_exactly_one_part_at_any_size() {
        for (columns, rows) in [
            (60, 16),
            (80, 24),
            (120, 40),
            (132, 30),
            (200, 60),
            (300, 100),
        ] {
            for ranks in [0, 2, 64] {
                for processes in [0, 3, 500] {
                    let area = Rect::new(0, 0, columns, rows);
                    let layout = Layout::in_area(area, ranks, processes);
                    let cells: u32 = parts(&layout).iter().map(|part| part.area()).sum();
                    assert_eq!(cells, area.area(), "{columns}×{rows}: {layout:?}");
                    assert!(layout.chart.height >= CHART_LEAST, "{layout:?}");
                }
            }
        }
    }

    #[test]
    fn a_click_lands_on_the_row_that_is_seen() {
        let layout = Layout::in_area(Rect::new(0, 0, 80, 24), 0, 3);
        let table = layout.table;
        assert_eq!(layout.target_at(5, table.y), ClickTarget::Elsewhere);
        assert_eq!(layout.target_at(5, table.y + 2), ClickTarget::Row(1));
        assert_eq!(layout.target_at(5, layout.chart.y), ClickTarget::Chart);
    }

    #[test]
    fn a_click_lands_on_the_row_that_is_seen_when_rows_are_scrolled() {
        let mut layout = Layout::in_area(Rect::new(0, 0, 80, 24), 0, 30);
        layout.first_row = first_row(Some(13), layout.rows_in_sight());
        let chosen = 1 + layout.table.y + (13 - layout.first_row) as u16;
        assert!(layout.table.contains(Position::new(0, chosen)));
        assert_eq!(layout.target_at(5, chosen), ClickTarget::Row(13));
        assert_eq!(first_row(None, 5), 0);
        assert_eq!(first_row(Some(3), 0), 3);
    }

    #[test]
    fn eighty_by_twenty_four_shows_all() {
        let layout = Layout::in_area(Rect::new(0, 0, 80, 24), 0, 3);
        assert!(
            parts(&layout)
                .iter()
                .filter(|part| **part != layout.ranks)
                .all(|part| part.height > 0),
            "{layout:?}"
        );
    }
}
