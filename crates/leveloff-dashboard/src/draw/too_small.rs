//! A screen that is too small for the overview: it says what it needs, and what can still be said.

use leveloff_text::verdict::verdict_words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::text::{put, wrapped};
use crate::dashboard::Dashboard;
use crate::layout::LEAST;
use crate::theme::{Look, Paint};

/// Draws it.
pub fn draw(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    let columns = usize::from(area.width);
    let mut lines: Vec<Line> = Vec::new();
    let run = dashboard.run();
    if let Some(verdict) = run.verdict() {
        let words = format!(" {} ", verdict_words(verdict.verdict));
        lines.push(Line::styled(
            words,
            look.badge(Paint::from(verdict.verdict)),
        ));
    }
    if let Some(account) = run.account() {
        lines.push(Line::raw(format!("holds {}", account.memory.now)));
    }
    let (wide, high) = LEAST;
    let needs = format!(
        "the dashboard needs {wide}×{high}, this is {}×{}",
        area.width, area.height
    );
    let needs = wrapped(&needs, columns);
    lines.extend(needs.into_iter().map(Line::raw));
    let keys = Line::styled("q quits", look.style(Paint::Faint));
    lines.push(keys);
    for (row, line) in lines.into_iter().enumerate() {
        put(line, row, area, buffer);
    }
}
