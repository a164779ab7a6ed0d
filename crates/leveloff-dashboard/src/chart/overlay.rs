//! Words and lines around the curve and over it, where it leaves room.

use leveloff_classifier::observation::XUnit;
use leveloff_model::units::Bytes;
use leveloff_text::memory_axis::MemoryAxis;
use leveloff_text::outlook::LimitCrossing;
use leveloff_text::progress_axis;
use ratatui::style::Style;

use super::areas::ChartAreas;
use super::cells::Cells;
use super::content::ChartContent;
use super::events::{self, Ticks};
use super::plot::Plot;
use crate::history::Axis;
use crate::theme::{Charset, Paint, Styles};

/// Columns from which on even what explains itself is explained.
const COLUMNS_FOR_ALL_WORDS: u16 = 100;

/// All that is drawn beside the curve.
pub(super) struct Overlay<'a> {
    pub(super) content: &'a ChartContent<'a>,
    pub(super) areas: &'a ChartAreas,
    pub(super) plot: &'a Plot,
    pub(super) axis: &'a MemoryAxis,
    pub(super) styles: &'a Styles,
}

impl Overlay<'_> {
    /// Marks where growth meets the limit.
    pub(super) fn mark_meeting(&self, cells: &mut Cells<'_>) {
        if let Some((column, row)) = self.place_of_meeting() {
            cells.put(
                column,
                row,
                self.sign('╳', 'X'),
                self.styles.get(Paint::Bad),
            );
        }
    }

    /// What is put first stays: words before the lines they stand on, what matters before the rest.
    pub(super) fn draw(&self, cells: &mut Cells<'_>) {
        let ticks = self.ticks();
        self.write_memory_numbers(cells);
        self.write_places(cells);
        self.draw_limit(cells);
        self.draw_level_by(cells);
        self.draw_marker(cells);
        self.write_out_of_sight(cells);
        self.write_legend(cells, &ticks);
        self.draw_ticks(cells, &ticks);
        self.draw_line_below(cells);
    }

    fn write_memory_numbers(&self, cells: &mut Cells<'_>) {
        if self.plot.area.x == self.areas.area.x {
            return;
        }
        if let Some(row) = self.areas.header {
            let caption = self.axis.caption();
            let left = i32::from(self.areas.area.x);
            let _ = cells.write(left, row, &caption, self.styles.get(Paint::Faint))
                || cells.write(left, row, self.axis.unit, self.styles.get(Paint::Faint));
        }
        // The highest and the lowest come first, should two fall on a row.
        let (rest, highest) = self.axis.numbers.split_at(self.axis.numbers.len() - 1);
        for (memory, text) in highest.iter().chain(rest) {
            if let Some(row) = self.plot.row(*memory) {
                let x = i32::from(self.plot.area.x) - 1 - text.len() as i32;
                cells.write(x, row, text, self.styles.get(Paint::Faint));
            }
        }
    }

    fn write_places(&self, cells: &mut Cells<'_>) {
        let Some(row) = self.areas.places else { return };
        if self.content.axis == Axis::Steps {
            let x = i32::from(self.plot.area.x) - 5;
            cells.write(x, row, "step", self.styles.get(Paint::Faint));
        }
        for (x, text) in self.places() {
            let Some(column) = self.plot.column(x) else {
                continue;
            };
            let width = text.len() as i32;
            let centred = i32::from(column) - (width - 1) / 2;
            let within = (centred.max(self.plot.area.x.into()))
                .min(i32::from(self.areas.area.right()) - width);
            cells.write(within, row, &text, self.styles.get(Paint::Faint));
        }
    }

    fn places(&self) -> Vec<(f64, String)> {
        let unit = match self.content.axis {
            Axis::Steps => XUnit::Step,
            Axis::Time => XUnit::Second,
        };
        progress_axis::places(unit, &self.content.range, self.plot.area.width)
    }

    /// The limit, from where to where it may be met, and its words.
    fn draw_limit(&self, cells: &mut Cells<'_>) {
        let limit = self.content.outlook.limit;
        let Some((limit, row)) = limit.and_then(|limit| Some((limit, self.plot.row(limit)?)))
        else {
            return;
        };
        let style = self.styles.get(Paint::Bad);
        let (thin, thick) = (self.sign('┄', '-'), self.sign('━', '='));
        if let Some(crossing) = self.crossing() {
            self.write_crossing(cells, crossing);
            let latest = crossing.latest.unwrap_or(self.content.range.end);
            for column in self.columns_between(crossing.earliest, latest) {
                cells.put(column, row, thick, style);
            }
        }
        let words = format!("limit {}", amount(limit));
        let left = i32::from(self.plot.area.x) + 1;
        cells.write_somewhere((left..left + 40).map(|x| (x, row)), &words, style);
        for column in self.plot.area.left()..self.plot.area.right() {
            cells.put(column, row, thin, style);
        }
    }

    fn write_crossing(&self, cells: &mut Cells<'_>, crossing: &LimitCrossing) {
        let Some((column, row)) = self.place_of_meeting() else {
            return;
        };
        let last = i32::from(column) - 1 - crossing.words.len() as i32;
        let places = (self.plot.area.x.into()..=last).rev().map(|x| (x, row));
        cells.write_somewhere(places, &crossing.words, self.styles.get(Paint::Bad));
    }

    fn place_of_meeting(&self) -> Option<(u16, u16)> {
        let column = self.plot.column(self.crossing()?.x)?;
        Some((column, self.plot.row(self.content.outlook.limit?)?))
    }

    fn crossing(&self) -> Option<&LimitCrossing> {
        self.content.outlook.forecast.as_ref()?.crossing.as_ref()
    }

    /// Columns of the screen between two places, as far as they are in sight.
    fn columns_between(&self, from: f64, to: f64) -> std::ops::Range<u16> {
        let within = |x: f64| x.clamp(self.content.range.start, self.content.range.end);
        let is_seen = to >= self.content.range.start && from <= self.content.range.end;
        match (self.plot.column(within(from)), self.plot.column(within(to))) {
            (Some(from), Some(to)) if is_seen => from..to + 1,
            _ => 0..0,
        }
    }

    fn draw_level_by(&self, cells: &mut Cells<'_>) {
        let Some(mark) = &self.content.level_by else {
            return;
        };
        let glyph = self.sign('┊', ':');
        let style = if mark.is_stated {
            self.styles.get(Paint::Unsure)
        } else {
            self.styles.get(Paint::Faint)
        };
        match self.plot.column(mark.x) {
            Some(column) => self.draw_upright(cells, column, glyph, &mark.words, style),
            None if mark.is_stated && mark.x > self.content.range.end => {
                let arrow = self.sign('→', '>');
                self.write_in_header(cells, &format!("{} {arrow}", mark.words), style);
            }
            None => {}
        }
    }

    fn draw_marker(&self, cells: &mut Cells<'_>) {
        let column = self.content.marker.and_then(|x| self.plot.column(x));
        if let Some(column) = column {
            let glyph = self.sign('│', '|');
            self.draw_upright(
                cells,
                column,
                glyph,
                "marker",
                self.styles.get(Paint::Strong),
            );
        }
    }

    /// A line from top to bottom, its words beside its upper end.
    fn draw_upright(
        &self,
        cells: &mut Cells<'_>,
        column: u16,
        glyph: char,
        words: &str,
        style: Style,
    ) {
        let (x, width) = (i32::from(column), words.chars().count() as i32);
        let top = self.areas.header.unwrap_or(self.plot.area.y);
        let rows = top..self.plot.area.bottom();
        let places = rows
            .clone()
            .take(3)
            .flat_map(|row| [(x + 2, row), (x - 1 - width, row)]);
        cells.write_somewhere(places, words, style);
        for row in rows {
            cells.put(column, row, glyph, style);
        }
    }

    /// What is higher than the chart shows: the limit, and a sum of RSS that misleads.
    fn write_out_of_sight(&self, cells: &mut Cells<'_>) {
        let up = self.sign('↑', '^');
        let limit = self.content.outlook.limit;
        if let Some(limit) = limit.filter(|limit| *limit > self.plot.memory.end) {
            let words = format!("{up} limit {}", amount(limit));
            self.write_in_header(cells, &words, self.styles.get(Paint::Bad));
        }
        if let Some(rss) = self.content.rss {
            let is_seen = rss.0 as f64 <= self.plot.memory.end;
            let sign = if is_seen { self.sign('⠒', '~') } else { up };
            let words = match self.plot.charset {
                Charset::Unicode => format!("{sign} Σ RSS {rss}"),
                Charset::Ascii => format!("{sign} RSS sum {rss}"),
            };
            self.write_in_header(cells, &words, self.styles.get(Paint::Faint));
        }
    }

    fn write_legend(&self, cells: &mut Cells<'_>, ticks: &[Ticks]) {
        for kind in ticks {
            self.write_in_header(cells, &kind.legend, self.styles.get(Paint::Unsure));
        }
        if self.areas.area.width < COLUMNS_FOR_ALL_WORDS {
            return;
        }
        let outlook = &self.content.outlook;
        if outlook.forecast.is_some() {
            let words = format!("{} if it goes on", self.sign('⠔', '+'));
            self.write_in_header(cells, &words, self.styles.get(self.content.paint()));
        }
        if outlook.fit.is_some() {
            let words = format!("{} fitted", self.sign('╌', '+'));
            self.write_in_header(cells, &words, self.styles.get(self.content.paint()).bold());
        }
    }

    /// As far to the right as there is room.
    fn write_in_header(&self, cells: &mut Cells<'_>, words: &str, style: Style) {
        let Some(row) = self.areas.header else { return };
        let last = i32::from(self.areas.area.right()) - words.chars().count() as i32;
        let places = (self.plot.area.x.into()..=last).rev().map(|x| (x, row));
        cells.write_somewhere(places, words, style);
    }

    fn ticks(&self) -> Vec<Ticks> {
        let all = self.content.run.events().all();
        events::ticks(self.plot, self.content.axis, all)
    }

    fn draw_ticks(&self, cells: &mut Cells<'_>, ticks: &[Ticks]) {
        let Some(row) = self.areas.events() else {
            return;
        };
        for kind in ticks {
            for &column in &kind.columns {
                cells.put(column, row, kind.glyph, self.styles.get(Paint::Unsure));
            }
        }
    }

    fn draw_line_below(&self, cells: &mut Cells<'_>) {
        let Some(row) = self.areas.line else { return };
        let (line, knot) = (self.sign('─', '-'), self.sign('┬', '+'));
        for (x, _) in self.places() {
            if let Some(column) = self.plot.column(x) {
                cells.put(column, row, knot, self.styles.get(Paint::Faint));
            }
        }
        for column in self.plot.area.left()..self.plot.area.right() {
            cells.put(column, row, line, self.styles.get(Paint::Faint));
        }
    }

    fn sign(&self, unicode: char, ascii: char) -> char {
        match self.plot.charset {
            Charset::Unicode => unicode,
            Charset::Ascii => ascii,
        }
    }
}

fn amount(memory: f64) -> Bytes {
    Bytes(memory as u64)
}
