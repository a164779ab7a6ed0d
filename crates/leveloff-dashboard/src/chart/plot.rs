//! Where on the screen a moment and an amount are.

use std::ops::Range;

use ratatui::layout::Rect;

use super::canvas::Point;
use crate::theme::Charset;

/// The area of the curve, and what its borders stand for.
#[derive(Debug, Clone)]
pub(super) struct Plot {
    /// Where it is on the screen.
    pub(super) area: Rect,
    /// From the left to the right border: steps or seconds.
    pub(super) x: Range<f64>,
    /// From the lowest to the highest dot: bytes.
    pub(super) memory: Range<f64>,
    /// Which characters may be used.
    pub(super) charset: Charset,
}

impl Plot {
    /// The place of an amount at a moment, in dots.
    pub(super) fn point(&self, x: f64, memory: f64) -> Point {
        let (_, down) = self.charset.dots();
        let dots = f64::from(self.area.height) * down as f64;
        Point {
            // The middle of a dot's column, so that all of the column rounds to it.
            x: self.share(x) * self.columns() as f64 - 0.5,
            y: (self.memory.end - memory) / (self.memory.end - self.memory.start) * (dots - 1.0),
        }
    }

    /// Columns of dots.
    pub(super) fn columns(&self) -> usize {
        let (across, _) = self.charset.dots();
        usize::from(self.area.width) * across
    }

    /// The column of the screen at which a moment is, if it is in sight.
    pub(super) fn column(&self, x: f64) -> Option<u16> {
        let share = self.share(x);
        let column = (share * f64::from(self.area.width)) as u16;
        let is_seen = (0.0..=1.0).contains(&share) && self.area.width > 0;
        is_seen.then(|| self.area.x + column.min(self.area.width - 1))
    }

    /// The row of the screen at which an amount is, if it is in sight.
    pub(super) fn row(&self, memory: f64) -> Option<u16> {
        let (_, down) = self.charset.dots();
        let dot = self.point(self.x.start, memory).y.round();
        let row = (dot / down as f64).floor();
        let is_seen = (0.0..f64::from(self.area.height)).contains(&row);
        is_seen.then(|| self.area.y + row as u16)
    }

    fn share(&self, x: f64) -> f64 {
        (x - self.x.start) / (self.x.end - self.x.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_are_in_sight_and_what_is_beyond_is_not() {
        let plot = Plot {
            area: Rect::new(10, 5, 20, 4),
            x: 100.0..200.0,
            memory: 0.0..30.0,
            charset: Charset::Unicode,
        };
        assert_eq!(plot.column(100.0), Some(10));
        assert_eq!(plot.column(150.0), Some(20));
        assert_eq!(plot.column(200.0), Some(29));
        assert_eq!((plot.column(99.0), plot.column(200.1)), (None, None));
        assert_eq!((plot.row(0.0), plot.row(30.0)), (Some(8), Some(5)));
        assert_eq!((plot.row(-2.0), plot.row(33.0)), (None, None));
        assert_eq!(plot.row(f64::NAN), None);
    }
}
