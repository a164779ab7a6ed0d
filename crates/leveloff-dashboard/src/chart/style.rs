//! How the parts of the chart look.

use ratatui::style::{Modifier, Style};

pub use crate::theme::Charset;

/// How the parts of the chart look.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ChartStyle {
    /// Memory of the run.
    pub line: Style,
    /// The sum of RSS.
    pub rss: Style,
    /// What was fitted.
    pub fit: Style,
    /// Where it leads.
    pub forecast: Style,
    /// The limit, and where it is met.
    pub limit: Style,
    /// By when it must have levelled off.
    pub level_by: Style,
    /// The axes and their numbers.
    pub axis: Style,
    /// Evaluations, checkpoints, epochs.
    pub tick: Style,
    /// Since when growth is told.
    pub marker: Style,
    /// Which characters may be used.
    pub charset: Charset,
}

impl ChartStyle {
    /// Without colour: what is in the background is dim, what matters is bold.
    pub fn plain(charset: Charset) -> ChartStyle {
        let dim = Style::new().add_modifier(Modifier::DIM);
        let bold = Style::new().add_modifier(Modifier::BOLD);
        ChartStyle {
            line: Style::new(),
            rss: dim,
            fit: bold,
            forecast: Style::new(),
            limit: bold,
            level_by: Style::new(),
            axis: dim,
            tick: Style::new(),
            marker: bold,
            charset,
        }
    }
}
