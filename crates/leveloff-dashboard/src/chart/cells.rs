//! A part of the screen on which what was put first stays.
//!
//! The curve is put first, then words, then lines: a line never covers a number, and a number never
//! the curve.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// A part of the screen.
pub(super) struct Cells<'a> {
    area: Rect,
    buffer: &'a mut Buffer,
    uses: Vec<Use>,
}

/// What a cell is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Free,
    /// Beside words: blank, and stays so.
    Margin,
    Taken,
}

impl Cells<'_> {
    /// An empty one. The area must be on the screen.
    pub(super) fn new(area: Rect, buffer: &mut Buffer) -> Cells<'_> {
        Cells {
            area,
            buffer,
            uses: vec![Use::Free; area.area() as usize],
        }
    }

    /// Puts a character where nothing is.
    pub(super) fn put(&mut self, x: u16, y: u16, glyph: char, style: Style) {
        if let Some(cell) = self.cell(i32::from(x), y)
            && self.uses[cell] == Use::Free
        {
            self.uses[cell] = Use::Taken;
            self.buffer[(x, y)].set_char(glyph).set_style(style);
        }
    }

    /// Writes words, all or none of them, and keeps a column free on both sides. Says whether there
    /// was room.
    pub(super) fn write(&mut self, x: i32, y: u16, words: &str, style: Style) -> bool {
        let width = words.chars().count() as i32;
        let margins = [x - 1, x + width];
        let used = |x: i32| self.cell(x, y).map(|cell| self.uses[cell]);
        let is_free = (x..x + width).all(|x| used(x) == Some(Use::Free));
        if !is_free || margins.iter().any(|&x| used(x) == Some(Use::Taken)) {
            return false;
        }
        for (x, glyph) in (x..).zip(words.chars()) {
            self.put(x as u16, y, glyph, style);
        }
        for margin in margins {
            if let Some(cell) = self.cell(margin, y) {
                self.uses[cell] = Use::Margin;
            }
        }
        true
    }

    /// Writes words at the first of these places that has room.
    pub(super) fn write_somewhere(
        &mut self,
        places: impl IntoIterator<Item = (i32, u16)>,
        words: &str,
        style: Style,
    ) -> bool {
        places
            .into_iter()
            .any(|(x, y)| self.write(x, y, words, style))
    }

    fn cell(&self, x: i32, y: u16) -> Option<usize> {
        let column = u16::try_from(x).ok()?.checked_sub(self.area.x)?;
        let row = y.checked_sub(self.area.y)?;
        let is_inside = column < self.area.width && row < self.area.height;
        is_inside.then(|| usize::from(row) * usize::from(self.area.width) + usize::from(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::lines;

    #[test]
    fn what_was_put_first_stays() {
        let area = Rect::new(0, 0, 9, 1);
        let mut buffer = Buffer::empty(area);
        let mut cells = Cells::new(area, &mut buffer);
        let style = Style::new();
        assert!(cells.write(2, 0, "abc", style));
        assert!(!cells.write(4, 0, "def", style));
        assert!(!cells.write(7, 0, "def", style), "beyond the border");
        assert!(!cells.write(-1, 0, "def", style), "before the border");
        assert!(cells.write_somewhere([(5, 0), (6, 0)], "def", style));
        cells.put(0, 0, '-', style);
        for x in 0..12 {
            cells.put(x, 0, '=', style);
        }
        assert_eq!(lines(&buffer), ["- abc def"]);
    }

    #[test]
    fn words_keep_their_distance_from_what_is_there() {
        let area = Rect::new(0, 0, 9, 1);
        let mut buffer = Buffer::empty(area);
        let mut cells = Cells::new(area, &mut buffer);
        cells.put(4, 0, '|', Style::new());
        let places = (0..7).rev().map(|x| (x, 0));
        assert!(cells.write_somewhere(places, "abc", Style::new()));
        assert_eq!(lines(&buffer), ["    | abc"]);
    }
}
