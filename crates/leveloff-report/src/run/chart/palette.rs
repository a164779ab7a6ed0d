//! Colours that differ without red and green (Okabe and Ito), on white paper.

use plotters::style::RGBColor;

pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);
pub(super) const INK: RGBColor = RGBColor(28, 30, 33);
/// Words that are not read first; still 7 : 1 against the paper.
pub(super) const QUIET: RGBColor = RGBColor(82, 86, 92);
pub(super) const GRID: RGBColor = RGBColor(225, 228, 232);
/// The curve of the run.
pub(super) const MEMORY: RGBColor = RGBColor(0, 84, 140);
/// What a sum of RSS says.
pub(super) const RSS: RGBColor = RGBColor(120, 120, 120);
/// What was fitted and where it leads.
pub(super) const FIT: RGBColor = RGBColor(213, 94, 0);
/// The limit.
pub(super) const LIMIT: RGBColor = RGBColor(152, 27, 30);

/// Events in the training.
pub(super) const EVALUATION: RGBColor = RGBColor(0, 120, 88);
pub(super) const CHECKPOINT: RGBColor = RGBColor(160, 70, 120);
pub(super) const NAMED_EVENT: RGBColor = RGBColor(150, 100, 0);

/// Roles, and what is left of them.
pub(super) const ROLES: [RGBColor; 6] = [
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(240, 228, 66),
    RGBColor(153, 153, 153),
];
