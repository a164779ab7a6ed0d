//! Where a moment and an amount are on the sheet.

use std::ops::Range;

use super::SIZE;

/// Room for the numbers beside the chart, and for half a number at its end.
const BESIDE: (f64, f64) = (78.0, 34.0);

/// Room for the numbers below the chart, and what they count.
const BELOW: f64 = 58.0;

/// Below this the highest number and the unit stand.
const ABOVE: f64 = 34.0;

/// The part of the sheet that curves are drawn on.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) across: Range<f64>,
    /// From its upper border down.
    pub(super) down: Range<f64>,
    x: Range<f64>,
    amounts: Range<f64>,
}

impl Frame {
    /// Below what takes the upper part of the sheet, for curves over these.
    pub(super) fn new(top: f64, x: Range<f64>, amounts: Range<f64>) -> Frame {
        Frame {
            across: BESIDE.0..f64::from(SIZE.0) - BESIDE.1,
            down: top + ABOVE..f64::from(SIZE.1) - BELOW,
            x,
            amounts,
        }
    }

    /// Where an amount at a moment is; what lies beyond a border is on it.
    pub(super) fn at(&self, x: f64, amount: f64) -> (f64, f64) {
        (self.column(x), self.row(amount))
    }

    pub(super) fn column(&self, x: f64) -> f64 {
        let share = (x - self.x.start) / (self.x.end - self.x.start);
        self.across.start + share.clamp(0.0, 1.0) * (self.across.end - self.across.start)
    }

    pub(super) fn row(&self, amount: f64) -> f64 {
        let share = (amount - self.amounts.start) / (self.amounts.end - self.amounts.start);
        self.down.end - share.clamp(0.0, 1.0) * (self.down.end - self.down.start)
    }
}
