//! A screen that is too small for the overview: it shows the verdict and the size that is needed.

use leveloff_text::verdict::verdict_words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::text::{put, wrapped};
use crate::dashboard::Dashboard;
use crate::layout::MINIMUM_SIZE;
use crate::theme::{Paint, Styles};

/// Draws it.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let columns = usize::from(area.width);
    let mut lines: Vec<Line> = Vec::new();
    let run = dashboard.run();
    if let Some(verdict) = run.verdict() {
        let words = format!(" {} ", verdict_words(verdict.verdict));
        lines.push(Line::styled(
            words,
            styles.badge(Paint::from(verdict.verdict)),
        ));
    }
    if let Some(account) = run.account() {
        lines.push(Line::raw(format!("holds {}", account.memory.now)));
    }
    let (wide, high) = MINIMUM_SIZE;
    let needs = format!(
        "the dashboard needs {wide}×{high}, this is {}×{}",
        area.width, area.height
    );
    let needs = wrapped(&needs, columns);
    lines.extend(needs.into_iter().map(Line::raw));
    let keys = Line::styled("q quits", styles.get(Paint::Faint));
    lines.push(keys);
    for (row, line) in lines.into_iter().enumerate() {
        put(line, row, area, buffer);
    }
}
