//! The curve as text, for a terminal and for a code fence.

use leveloff_classifier::run_curves::Series;
use leveloff_model::folded::Reach;
use leveloff_text::braille::braille;
use leveloff_text::progress_axis;
use leveloff_text::verdict::bytes;

use crate::run::chart::content::{ChartContent, Room, height_at};
use crate::run_report::RunReport;

/// Columns of the whole, numbers included.
const COLUMNS: usize = 72;

/// Rows of the curve.
const ROWS: u16 = 12;

/// Dots in a character, across and down.
const DOTS: (usize, usize) = (2, 4);

/// The chart, line by line. Blanks among the dots are dots as well, namely none: where a font has
/// dots of another width than letters, columns stay columns.
pub fn text_chart(report: &RunReport) -> String {
    match ChartContent::of(report, COLUMNS * DOTS.0, ROWS, Room::ForMemory) {
        Some(content) => written(&content),
        None => "nothing was measured\n".to_owned(),
    }
}

fn written(content: &ChartContent<'_>) -> String {
    let numbers = &content.amounts.numbers;
    let widest = numbers
        .iter()
        .map(|(_, text)| text.len())
        .max()
        .unwrap_or(0);
    let plot = Plot::new(content, COLUMNS - widest - 2);
    let mut lines = vec![content.amounts.caption()];
    for (row, dots) in plot.drawn(content).into_iter().enumerate() {
        let number = numbers.iter().rfind(|(amount, _)| plot.row(*amount) == row);
        let (text, edge) = number.map_or(("", '│'), |(_, text)| (text.as_str(), '┤'));
        lines.push(format!("{text:>widest$} {edge}{dots}"));
    }
    lines.push(format!("{:widest$} └{}", "", "─".repeat(plot.columns)));
    let begin = widest + 2;
    lines.push(below(begin, &plot.places(content)) + &format!("  {}", content.unit.name()));
    if let Some((x, words)) = &content.mark {
        let column = plot.dot_column(*x) / DOTS.0;
        lines.push(marked(begin, column, words));
    }
    if let Some(limit) = content.limit {
        lines.push(format!("{:begin$}dotted: the limit, {}", "", bytes(limit)));
    }
    let lines = lines.iter().map(|line| line.trim_end_matches([' ', '⠀']));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// Where a moment and an amount are, in dots.
struct Plot {
    columns: usize,
    x: std::ops::Range<f64>,
    amounts: std::ops::Range<f64>,
}

impl Plot {
    fn new(content: &ChartContent<'_>, columns: usize) -> Plot {
        Plot {
            columns,
            x: content.x.clone(),
            amounts: content.amounts.range.clone(),
        }
    }

    fn dot_column(&self, x: f64) -> usize {
        let share = (x - self.x.start) / (self.x.end - self.x.start);
        (share.clamp(0.0, 1.0) * (self.columns * DOTS.0 - 1) as f64).round() as usize
    }

    /// From the top down.
    fn dot_row(&self, amount: f64) -> usize {
        let share = (amount - self.amounts.start) / (self.amounts.end - self.amounts.start);
        let rows = usize::from(ROWS) * DOTS.1 - 1;
        ((1.0 - share.clamp(0.0, 1.0)) * rows as f64).round() as usize
    }

    fn row(&self, amount: f64) -> usize {
        self.dot_row(amount) / DOTS.1
    }

    fn x_of(&self, dot_column: usize) -> f64 {
        let share = dot_column as f64 / (self.columns * DOTS.0 - 1) as f64;
        self.x.start + share * (self.x.end - self.x.start)
    }

    fn places(&self, content: &ChartContent<'_>) -> Vec<(usize, String)> {
        let columns = u16::try_from(self.columns).unwrap_or(u16::MAX);
        let places = progress_axis::places(content.unit, &self.x, columns);
        let column = |x: f64| self.dot_column(x) / DOTS.0;
        places
            .into_iter()
            .map(|(x, text)| (column(x), text))
            .collect()
    }

    fn drawn(&self, content: &ChartContent<'_>) -> Vec<String> {
        let mut canvas = Canvas::new(self.columns);
        self.draw_limit(content, &mut canvas);
        self.draw_forecast(content, &mut canvas);
        self.draw_curve(content, &mut canvas);
        canvas.lines()
    }

    fn draw_limit(&self, content: &ChartContent<'_>, canvas: &mut Canvas) {
        if let Some(limit) = content.limit {
            let row = self.dot_row(limit);
            (0..self.columns * DOTS.0)
                .step_by(2)
                .for_each(|column| canvas.dot(column, row));
        }
    }

    /// One dot in three, so that it differs from the curve without colour.
    fn draw_forecast(&self, content: &ChartContent<'_>, canvas: &mut Canvas) {
        let Some(forecast) = &content.outlook.forecast else {
            return;
        };
        let from = self.dot_column(forecast.from.x);
        let to = self.dot_column(forecast.to.x.min(self.x.end));
        for column in (from..=to).step_by(3) {
            let height = height_at(forecast.from, forecast.to, self.x_of(column));
            canvas.dot(column, self.dot_row(height));
        }
    }

    /// From the lowest to the highest of each column of dots, joined to the one before.
    fn draw_curve(&self, content: &ChartContent<'_>, canvas: &mut Canvas) {
        let mut before: Option<(usize, usize, usize)> = None;
        for column in &content.columns {
            let Some(Reach { low, high }) = column.span.value(Series::Memory) else {
                before = None;
                continue;
            };
            let now = (
                self.dot_column(column.x),
                self.dot_row(high),
                self.dot_row(low),
            );
            match before {
                Some(before) => join(before, now, canvas),
                None => canvas.vertical(now.0, now.1, now.2),
            }
            before = Some(now);
        }
    }
}

/// Draws from one column of the curve to the next, both with their upper and lower end.
fn join(from: (usize, usize, usize), to: (usize, usize, usize), canvas: &mut Canvas) {
    let (mut upper, mut lower) = (from.1, from.2);
    let steps = to.0.saturating_sub(from.0).max(1);
    for step in 1..=steps {
        let between = |from: usize, to: usize| {
            let share = step as f64 / steps as f64;
            (from as f64 + share * (to as f64 - from as f64)).round() as usize
        };
        let next = (between(from.1, to.1), between(from.2, to.2));
        // As far as the column before, so that the curve has no holes.
        let (top, bottom) = (next.0.min(lower), next.1.max(upper));
        canvas.vertical((to.0 + step).saturating_sub(steps), top, bottom);
        (upper, lower) = next;
    }
}

/// Dots, row by row.
struct Canvas {
    columns: usize,
    cells: Vec<u8>,
}

impl Canvas {
    fn new(columns: usize) -> Canvas {
        Canvas {
            columns,
            cells: vec![0; columns * usize::from(ROWS)],
        }
    }

    fn vertical(&mut self, column: usize, top: usize, bottom: usize) {
        (top..=bottom).for_each(|row| self.dot(column, row));
    }

    fn dot(&mut self, column: usize, row: usize) {
        let cell = row / DOTS.1 * self.columns + column / DOTS.0;
        if let Some(cell) = self.cells.get_mut(cell) {
            *cell |= 1 << (row % DOTS.1 * DOTS.0 + column % DOTS.0);
        }
    }

    fn lines(&self) -> Vec<String> {
        let rows = self.cells.chunks(self.columns.max(1));
        rows.map(|row| row.iter().map(|dots| braille(*dots)).collect())
            .collect()
    }
}

/// Numbers below their columns, as far as they do not touch.
fn below(begin: usize, places: &[(usize, String)]) -> String {
    let mut line = " ".repeat(begin);
    for (column, text) in places {
        let at = (begin + column).saturating_sub(text.len() / 2);
        let length = line.chars().count();
        if at >= length && at + text.len() <= COLUMNS + 2 {
            line += &format!("{:space$}{text}", "", space = at - length);
        }
    }
    line
}

/// A word beside the mark, on the side where there is room.
fn marked(begin: usize, column: usize, words: &str) -> String {
    let at = begin + column;
    let length = words.chars().count();
    if at + 2 + length <= COLUMNS + 4 {
        format!("{:at$}↑ {words}", "")
    } else {
        let before = at.saturating_sub(length + 1);
        format!("{:before$}{words} ↑", "")
    }
}

#[cfg(test)]
mod tests;
