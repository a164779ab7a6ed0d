//! What happened, newest last.

use leveloff_report::place::thousands;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::since::clock;
use super::text::{padded, put, right_aligned};
use super::{below_heading, boxed, heading};
use crate::dashboard::Dashboard;
use crate::run::{LogEntry, LogKind};
use crate::theme::{Look, Paint};

/// Draws the newest in the overview.
pub fn draw(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    let area = padded(area);
    if area.height > 4 {
        heading("WHAT HAPPENED", "", look, area, buffer);
        draw_entries(dashboard, look, below_heading(area), buffer);
    } else {
        draw_entries(dashboard, look, area, buffer);
    }
}

/// Draws all that fits, over the whole screen.
pub fn draw_page(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    let title = Line::from_iter([
        Span::styled(" WHAT HAPPENED ", look.badge(Paint::Accent)),
        Span::raw(" time since the start, step, newest last "),
    ]);
    let inner = boxed(title, Paint::Accent, look, area, buffer);
    draw_entries(dashboard, look, inner, buffer);
}

fn draw_entries(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    let entries = dashboard.run().log().all();
    let before = entries.len().saturating_sub(usize::from(area.height));
    for (row, entry) in entries.skip(before).enumerate() {
        put(line(entry, look), row, area, buffer);
    }
}

fn line(entry: &LogEntry, look: &Look) -> Line<'static> {
    let step = entry
        .step
        .map_or_else(String::new, |step| format!("step {}", thousands(step.0)));
    Line::from_iter([
        Span::styled(right_aligned(&clock(entry.t), 9), look.style(Paint::Faint)),
        Span::styled(right_aligned(&step, 13), look.style(Paint::Faint)),
        Span::raw("  "),
        Span::styled(entry.text.clone(), look.style(paint(entry.kind))),
    ])
}

fn paint(kind: LogKind) -> Paint {
    match kind {
        LogKind::Verdict => Paint::Strong,
        LogKind::Training | LogKind::Processes => Paint::Plain,
        LogKind::Gap => Paint::Early,
        LogKind::Own => Paint::Faint,
    }
}
