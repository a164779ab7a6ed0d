//! Words and lines around the curve and over it, where it leaves room.

use leveloff_classifier::observation::XUnit;
use leveloff_model::units::Bytes;
use leveloff_text::memory_axis::MemoryAxis;
use leveloff_text::outlook::Meeting;
use leveloff_text::progress_axis;
use ratatui::style::Style;

use super::events::{self, Ticks};
use super::frame::Frame;
use super::plot::Plot;
use super::scene::Scene;
use super::sheet::Sheet;
use super::style::{Charset, ChartStyle};
use crate::history::Axis;

/// Columns from which on even what explains itself is explained.
const COLUMNS_FOR_ALL_WORDS: u16 = 100;

/// All that is drawn beside the curve.
pub(super) struct Overlay<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) frame: &'a Frame,
    pub(super) plot: &'a Plot,
    pub(super) axis: &'a MemoryAxis,
    pub(super) style: &'a ChartStyle,
}

impl Overlay<'_> {
    /// Marks where growth meets the limit.
    pub(super) fn mark_meeting(&self, sheet: &mut Sheet<'_>) {
        if let Some((column, row)) = self.place_of_meeting() {
            sheet.put(column, row, self.sign('╳', 'X'), self.style.limit);
        }
    }

    /// What is put first stays: words before the lines they stand on, what matters before the rest.
    pub(super) fn draw(&self, sheet: &mut Sheet<'_>) {
        let ticks = self.ticks();
        self.write_memory_numbers(sheet);
        self.write_places(sheet);
        self.draw_limit(sheet);
        self.draw_level_by(sheet);
        self.draw_marker(sheet);
        self.write_out_of_sight(sheet);
        self.write_legend(sheet, &ticks);
        self.draw_ticks(sheet, &ticks);
        self.draw_line_below(sheet);
    }

    fn write_memory_numbers(&self, sheet: &mut Sheet<'_>) {
        if self.plot.area.x == self.frame.area.x {
            return;
        }
        if let Some(row) = self.frame.header {
            let caption = self.axis.caption();
            let left = i32::from(self.frame.area.x);
            let _ = sheet.write(left, row, &caption, self.style.axis)
                || sheet.write(left, row, self.axis.unit, self.style.axis);
        }
        // The highest and the lowest come first, should two fall on a row.
        let (rest, highest) = self.axis.numbers.split_at(self.axis.numbers.len() - 1);
        for (memory, text) in highest.iter().chain(rest) {
            if let Some(row) = self.plot.row(*memory) {
                let x = i32::from(self.plot.area.x) - 1 - text.len() as i32;
                sheet.write(x, row, text, self.style.axis);
            }
        }
    }

    fn write_places(&self, sheet: &mut Sheet<'_>) {
        let Some(row) = self.frame.places else { return };
        if self.scene.axis == Axis::Steps {
            let x = i32::from(self.plot.area.x) - 5;
            sheet.write(x, row, "step", self.style.axis);
        }
        for (x, text) in self.places() {
            let Some(column) = self.plot.column(x) else {
                continue;
            };
            let width = text.len() as i32;
            let centred = i32::from(column) - (width - 1) / 2;
            let within = (centred.max(self.plot.area.x.into()))
                .min(i32::from(self.frame.area.right()) - width);
            sheet.write(within, row, &text, self.style.axis);
        }
    }

    fn places(&self) -> Vec<(f64, String)> {
        let unit = match self.scene.axis {
            Axis::Steps => XUnit::Step,
            Axis::Time => XUnit::Second,
        };
        progress_axis::places(unit, &self.scene.range, self.plot.area.width)
    }

    /// The limit, from where to where it may be met, and its words.
    fn draw_limit(&self, sheet: &mut Sheet<'_>) {
        let limit = self.scene.outlook.limit;
        let Some((limit, row)) = limit.and_then(|limit| Some((limit, self.plot.row(limit)?)))
        else {
            return;
        };
        let style = self.style.limit;
        let (thin, thick) = (self.sign('┄', '-'), self.sign('━', '='));
        if let Some(meeting) = self.meeting() {
            self.write_meeting(sheet, meeting);
            let latest = meeting.latest.unwrap_or(self.scene.range.end);
            for column in self.columns_between(meeting.earliest, latest) {
                sheet.put(column, row, thick, style);
            }
        }
        let words = format!("limit {}", amount(limit));
        let left = i32::from(self.plot.area.x) + 1;
        sheet.write_somewhere((left..left + 40).map(|x| (x, row)), &words, style);
        for column in self.plot.area.left()..self.plot.area.right() {
            sheet.put(column, row, thin, style);
        }
    }

    fn write_meeting(&self, sheet: &mut Sheet<'_>, meeting: &Meeting) {
        let Some((column, row)) = self.place_of_meeting() else {
            return;
        };
        let last = i32::from(column) - 1 - meeting.words.len() as i32;
        let places = (self.plot.area.x.into()..=last).rev().map(|x| (x, row));
        sheet.write_somewhere(places, &meeting.words, self.style.limit);
    }

    fn place_of_meeting(&self) -> Option<(u16, u16)> {
        let column = self.plot.column(self.meeting()?.x)?;
        Some((column, self.plot.row(self.scene.outlook.limit?)?))
    }

    fn meeting(&self) -> Option<&Meeting> {
        self.scene.outlook.forecast.as_ref()?.meeting.as_ref()
    }

    /// Columns of the screen between two places, as far as they are in sight.
    fn columns_between(&self, from: f64, to: f64) -> std::ops::Range<u16> {
        let within = |x: f64| x.clamp(self.scene.range.start, self.scene.range.end);
        let is_seen = to >= self.scene.range.start && from <= self.scene.range.end;
        match (self.plot.column(within(from)), self.plot.column(within(to))) {
            (Some(from), Some(to)) if is_seen => from..to + 1,
            _ => 0..0,
        }
    }

    fn draw_level_by(&self, sheet: &mut Sheet<'_>) {
        let Some(mark) = &self.scene.level_by else {
            return;
        };
        let glyph = self.sign('┊', ':');
        let style = if mark.is_stated {
            self.style.level_by
        } else {
            self.style.axis
        };
        match self.plot.column(mark.x) {
            Some(column) => self.draw_upright(sheet, column, glyph, &mark.words, style),
            None if mark.is_stated && mark.x > self.scene.range.end => {
                let arrow = self.sign('→', '>');
                self.write_in_header(sheet, &format!("{} {arrow}", mark.words), style);
            }
            None => {}
        }
    }

    fn draw_marker(&self, sheet: &mut Sheet<'_>) {
        let column = self.scene.marker.and_then(|x| self.plot.column(x));
        if let Some(column) = column {
            let glyph = self.sign('│', '|');
            self.draw_upright(sheet, column, glyph, "marker", self.style.marker);
        }
    }

    /// A line from top to bottom, its words beside its upper end.
    fn draw_upright(
        &self,
        sheet: &mut Sheet<'_>,
        column: u16,
        glyph: char,
        words: &str,
        style: Style,
    ) {
        let (x, width) = (i32::from(column), words.chars().count() as i32);
        let top = self.frame.header.unwrap_or(self.plot.area.y);
        let rows = top..self.plot.area.bottom();
        let places = rows
            .clone()
            .take(3)
            .flat_map(|row| [(x + 2, row), (x - 1 - width, row)]);
        sheet.write_somewhere(places, words, style);
        for row in rows {
            sheet.put(column, row, glyph, style);
        }
    }

    /// What is higher than the chart shows: the limit, and a sum of RSS that misleads.
    fn write_out_of_sight(&self, sheet: &mut Sheet<'_>) {
        let up = self.sign('↑', '^');
        let limit = self.scene.outlook.limit;
        if let Some(limit) = limit.filter(|limit| *limit > self.plot.memory.end) {
            let words = format!("{up} limit {}", amount(limit));
            self.write_in_header(sheet, &words, self.style.limit);
        }
        if let Some(rss) = self.scene.rss {
            let is_seen = rss.0 as f64 <= self.plot.memory.end;
            let sign = if is_seen { self.sign('⠒', '~') } else { up };
            let words = match self.plot.charset {
                Charset::Unicode => format!("{sign} Σ RSS {rss}"),
                Charset::Ascii => format!("{sign} RSS sum {rss}"),
            };
            self.write_in_header(sheet, &words, self.style.rss);
        }
    }

    fn write_legend(&self, sheet: &mut Sheet<'_>, ticks: &[Ticks]) {
        for kind in ticks {
            self.write_in_header(sheet, &kind.legend, self.style.tick);
        }
        if self.frame.area.width < COLUMNS_FOR_ALL_WORDS {
            return;
        }
        let outlook = &self.scene.outlook;
        if outlook.forecast.is_some() {
            let words = format!("{} if it goes on", self.sign('⠔', '+'));
            self.write_in_header(sheet, &words, self.style.forecast);
        }
        if outlook.fit.is_some() {
            let words = format!("{} fitted", self.sign('╌', '+'));
            self.write_in_header(sheet, &words, self.style.fit);
        }
    }

    /// As far to the right as there is room.
    fn write_in_header(&self, sheet: &mut Sheet<'_>, words: &str, style: Style) {
        let Some(row) = self.frame.header else { return };
        let last = i32::from(self.frame.area.right()) - words.chars().count() as i32;
        let places = (self.plot.area.x.into()..=last).rev().map(|x| (x, row));
        sheet.write_somewhere(places, words, style);
    }

    fn ticks(&self) -> Vec<Ticks> {
        let all = self.scene.run.events().all();
        events::ticks(self.plot, self.scene.axis, all)
    }

    fn draw_ticks(&self, sheet: &mut Sheet<'_>, ticks: &[Ticks]) {
        let Some(row) = self.frame.events() else {
            return;
        };
        for kind in ticks {
            for &column in &kind.columns {
                sheet.put(column, row, kind.glyph, self.style.tick);
            }
        }
    }

    fn draw_line_below(&self, sheet: &mut Sheet<'_>) {
        let Some(row) = self.frame.line else { return };
        let (line, knot) = (self.sign('─', '-'), self.sign('┬', '+'));
        for (x, _) in self.places() {
            if let Some(column) = self.plot.column(x) {
                sheet.put(column, row, knot, self.style.axis);
            }
        }
        for column in self.plot.area.left()..self.plot.area.right() {
            sheet.put(column, row, line, self.style.axis);
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
