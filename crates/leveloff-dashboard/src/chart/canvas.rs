//! Dots smaller than a character, in layers.
//!
//! ratatui has a canvas, but there a later layer replaces the dots that an earlier one put into a
//! cell, a layer has a colour and cannot be bold or dim, which is all that `NO_COLOR` leaves, and
//! without Unicode a cell is one dot. Here a cell shows the dots of all its layers.

use leveloff_text::braille::braille;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::cells::Cells;
use crate::theme::{Charset, Paint, Styles};

/// A place in dots, from the upper left; fractions are between dots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// What a dot belongs to. The later one gives a cell its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    Rss,
    Fan,
    Forecast,
    Line,
    Fit,
}

/// How a line is drawn: so many dots, then so many left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pen {
    pub(super) on: usize,
    pub(super) off: usize,
}

/// Dots over an area.
#[derive(Debug, Clone)]
pub(super) struct Canvas {
    area: Rect,
    charset: Charset,
    cells: Vec<[u8; Layer::COUNT]>,
}

impl Canvas {
    /// An empty one.
    pub(super) fn new(area: Rect, charset: Charset) -> Canvas {
        Canvas {
            area,
            charset,
            cells: vec![[0; Layer::COUNT]; area.area() as usize],
        }
    }

    /// Dots across and down.
    pub(super) fn size(&self) -> (usize, usize) {
        let (across, down) = self.charset.dots();
        let (width, height) = (self.area.width, self.area.height);
        (usize::from(width) * across, usize::from(height) * down)
    }

    /// A straight line, as far as it is on the canvas.
    pub(super) fn line(&mut self, layer: Layer, from: Point, to: Point, pen: Pen) {
        let (across, down) = self.size();
        let Some((from, to)) = clipped(from, to, across as f64 - 1.0, down as f64 - 1.0) else {
            return;
        };
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let steps = dx.abs().max(dy.abs()).ceil();
        for i in (0..=steps as usize).filter(|&i| pen.touches(i)) {
            let share = i as f64 / steps.max(1.0);
            self.dot(layer, from.x + share * dx, from.y + share * dy);
        }
    }

    /// Puts the dots on the screen. What was fitted, and where it leads, has the verdict's paint.
    pub(super) fn paint(&self, styles: &Styles, verdict: Paint, cells: &mut Cells<'_>) {
        for (row, dots) in (self.area.y..).zip(self.cells.chunks(self.area.width.max(1).into())) {
            for (column, layers) in (self.area.x..).zip(dots) {
                let top = Layer::ALL
                    .into_iter()
                    .rev()
                    .find(|&layer| layers[layer as usize] > 0);
                if let Some(top) = top {
                    let glyph = self.charset.glyph(top, layers);
                    cells.put(column, row, glyph, top.style(styles, verdict));
                }
            }
        }
    }

    /// Coordinates that are clipped to the canvas are never negative.
    fn dot(&mut self, layer: Layer, x: f64, y: f64) {
        let (across, down) = self.charset.dots();
        let (x, y) = (x.round() as usize, y.round() as usize);
        let cell = y / down * usize::from(self.area.width) + x / across;
        if let Some(layers) = self.cells.get_mut(cell) {
            layers[layer as usize] |= 1 << (y % down * across + x % across);
        }
    }
}

impl Layer {
    const ALL: [Layer; 5] = [
        Layer::Rss,
        Layer::Fan,
        Layer::Forecast,
        Layer::Line,
        Layer::Fit,
    ];
    const COUNT: usize = Layer::ALL.len();

    fn style(self, styles: &Styles, verdict: Paint) -> Style {
        match self {
            Layer::Rss => styles.get(Paint::Faint),
            Layer::Fan | Layer::Forecast => styles.get(verdict),
            Layer::Line => styles.get(Paint::Accent),
            Layer::Fit => styles.get(verdict).bold(),
        }
    }
}

impl Pen {
    pub(super) const SOLID: Pen = Pen { on: 1, off: 0 };

    fn touches(self, dot: usize) -> bool {
        dot % (self.on + self.off) < self.on
    }
}

impl Charset {
    /// Dots in a cell, across and down.
    pub(super) fn dots(self) -> (usize, usize) {
        match self {
            Charset::Unicode => (2, 4),
            // A full stop, a dash and an apostrophe stand at three heights.
            Charset::Ascii => (1, 3),
        }
    }

    fn glyph(self, top: Layer, layers: &[u8; Layer::COUNT]) -> char {
        match self {
            Charset::Unicode => braille(layers.iter().fold(0, |all, layer| all | layer)),
            Charset::Ascii => ascii(top, layers[top as usize]),
        }
    }
}

fn ascii(layer: Layer, dots: u8) -> char {
    match (layer, dots) {
        (Layer::Rss, _) => '~',
        (Layer::Fan, _) => '.',
        (Layer::Forecast | Layer::Fit, _) => '+',
        (Layer::Line, 0b001) => '\'',
        (Layer::Line, 0b010) => '-',
        (Layer::Line, 0b100) => '.',
        (Layer::Line, _) => '|',
    }
}

/// The part of a line between 0 and these (Liang and Barsky: where each border is crossed, as a share
/// of the line).
fn clipped(from: Point, to: Point, right: f64, bottom: f64) -> Option<(Point, Point)> {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
    let borders = [
        (-dx, from.x),
        (dx, right - from.x),
        (-dy, from.y),
        (dy, bottom - from.y),
    ];
    for (towards, room) in borders {
        if towards > 0.0 {
            leaves = leaves.min(room / towards);
        } else if towards < 0.0 {
            enters = enters.max(room / towards);
        } else if room < 0.0 || towards.is_nan() {
            return None;
        }
    }
    let at = |share: f64| Point {
        x: (from.x + share * dx).clamp(0.0, right.max(0.0)),
        y: (from.y + share * dy).clamp(0.0, bottom.max(0.0)),
    };
    let is_seen = enters <= leaves && dx.is_finite() && dy.is_finite();
    is_seen.then(|| (at(enters), at(leaves)))
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;

    use super::*;

    const SLASH: [(f64, f64); 2] = [(0.0, 7.0), (7.0, 0.0)];

    fn drawn(charset: Charset, lines: &[(Layer, [(f64, f64); 2])]) -> Vec<String> {
        let area = Rect::new(0, 0, 4, 2);
        let mut canvas = Canvas::new(area, charset);
        for (layer, [from, to]) in lines {
            let point = |(x, y): (f64, f64)| Point { x, y };
            canvas.line(*layer, point(*from), point(*to), Pen::SOLID);
        }
        let mut buffer = Buffer::empty(area);
        let mut cells = Cells::new(area, &mut buffer);
        canvas.paint(&Styles::default(), Paint::Plain, &mut cells);
        crate::chart::lines(&buffer)
    }

    #[test]
    fn a_slash_is_made_of_dots() {
        let drawing = drawn(Charset::Unicode, &[(Layer::Line, SLASH)]);
        assert_eq!(drawing, ["  ⡠⠊", "⡠⠊"]);
    }

    #[test]
    fn ascii_has_three_heights() {
        let line = [(0.0, 5.0), (3.0, 2.0)];
        let drawing = drawn(Charset::Ascii, &[(Layer::Line, line)]);
        assert_eq!(drawing, ["   .", ".-'"]);
    }

    #[test]
    fn layers_in_a_cell_are_seen_together() {
        let rss = [(0.0, 0.0), (7.0, 0.0)];
        let drawing = drawn(Charset::Unicode, &[(Layer::Line, SLASH), (Layer::Rss, rss)]);
        assert_eq!(drawing, ["⠉⠉⡩⠋", "⡠⠊"]);
    }

    #[test]
    fn lines_from_and_to_far_away_are_cut_at_the_border() {
        let far = [(-1e9, 3.0), (1e9, 3.0)];
        assert_eq!(drawn(Charset::Unicode, &[(Layer::Line, far)]), ["⣀⣀⣀⣀", ""]);
        for nowhere in [
            [(0.0, -5.0), (7.0, -1.0)],
            [(f64::NAN, 0.0), (7.0, 1.0)],
            [(0.0, 0.0), (f64::INFINITY, 1.0)],
        ] {
            assert_eq!(
                drawn(Charset::Unicode, &[(Layer::Line, nowhere)]),
                ["", ""],
                "{nowhere:?}"
            );
        }
    }
}
