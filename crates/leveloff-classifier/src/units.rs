//! Quantities of the x axis, which counts steps in one run and seconds in another.

use crate::observation::XUnit;

/// A position on the x axis, with what the axis counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// How far along.
    pub x: f64,
    /// What x counts.
    pub unit: XUnit,
}
