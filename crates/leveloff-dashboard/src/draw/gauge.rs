//! What the run holds against its limit, as one bar.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::bars::bar;
use super::text::{padded, put, width};
use crate::dashboard::Dashboard;
use crate::theme::{Paint, Styles};

/// Draws it; nothing where no limit is known.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let run = dashboard.run();
    let (Some(account), Some(verdict)) = (run.account(), run.verdict()) else {
        return;
    };
    let Some(limit) = verdict.limit.filter(|limit| limit.0 > 0) else {
        return;
    };
    let area = padded(area);
    let share = account.memory.now.0 as f64 / limit.0 as f64;
    let held = format!("{} of {limit}  ", account.memory.now);
    let percent = format!("  {:.0} %", 100.0 * share);
    let columns = usize::from(area.width).saturating_sub(width(&held) + width(&percent));
    let filled = bar(share, columns);
    let empty = "░".repeat(columns.saturating_sub(width(&filled)));
    let line = Line::from_iter([
        Span::styled(held, styles.get(Paint::Strong)),
        Span::styled(filled, styles.get(Paint::from(verdict.verdict))),
        Span::styled(empty, styles.get(Paint::Faint)),
        Span::styled(percent, styles.get(Paint::Strong)),
    ]);
    put(line, 0, area, buffer);
}
