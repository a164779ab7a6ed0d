//! Where the parts of the chart stand; a small one has fewer.

use ratatui::layout::Rect;

/// Rows from which on there is a row for the unit and for what lies out of sight,
const ROWS_FOR_HEADER: u16 = 4;
/// for what is written below,
const ROWS_FOR_PLACES: u16 = 3;
/// and for a line below the curve.
const ROWS_FOR_LINE: u16 = 8;
/// Columns from which on numbers stand beside the curve.
const COLUMNS_FOR_NUMBERS: u16 = 14;
/// Columns that `step` needs below the numbers.
const CAPTION: u16 = 4;

/// Rows of the parts, from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChartAreas {
    /// All of it.
    pub(super) area: Rect,
    /// The unit and what lies out of sight.
    pub(super) header: Option<u16>,
    /// The curve, over the whole width.
    pub(super) curve: Rect,
    /// A line below the curve.
    pub(super) line: Option<u16>,
    /// Steps or times.
    pub(super) places: Option<u16>,
}

impl ChartAreas {
    /// The parts in an area.
    pub(super) fn of(area: Rect) -> ChartAreas {
        let has = |rows: u16| area.height >= rows;
        let above = u16::from(has(ROWS_FOR_HEADER));
        let line = u16::from(has(ROWS_FOR_LINE));
        let places = u16::from(has(ROWS_FOR_PLACES));
        let curve = Rect {
            y: area.y + above,
            height: area.height - above - line - places,
            ..area
        };
        ChartAreas {
            area,
            header: (above > 0).then_some(area.y),
            curve,
            line: (line > 0).then_some(curve.bottom()),
            places: (places > 0).then_some(curve.bottom() + line),
        }
    }

    /// The curve without what its numbers need. Without a unit above them there are none.
    pub(super) fn beside_numbers(&self, widest: usize) -> Rect {
        let has_numbers = self.header.is_some() && self.area.width >= COLUMNS_FOR_NUMBERS;
        let numbers = (widest as u16).max(CAPTION) + 1;
        let numbers = if has_numbers { numbers } else { 0 };
        Rect {
            x: self.curve.x + numbers.min(self.curve.width),
            width: self.curve.width.saturating_sub(numbers),
            ..self.curve
        }
    }

    /// The row for events.
    pub(super) fn events(&self) -> Option<u16> {
        self.line.or(self.places)
    }
}
