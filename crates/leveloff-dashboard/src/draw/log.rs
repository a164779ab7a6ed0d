//! What happened, newest last.

use leveloff_text::number::thousands;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::since::clock;
use super::text::{padded, put, right_aligned, width};
use super::{below_heading, boxed, heading};
use crate::dashboard::Dashboard;
use crate::run::{LogEntry, LogKind};
use crate::theme::{Paint, Styles};

/// Draws the newest in the overview.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    // Beside the processes, a heading separates them from the part above.
    let is_beside = area.x > 0;
    let mut area = padded(area);
    if is_beside {
        heading("WHAT HAPPENED", "", styles, area, buffer);
        area = below_heading(area);
    }
    draw_entries(dashboard, 0, styles, area, buffer);
}

/// Draws all that fits, over the whole screen.
pub fn draw_page(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let title = Line::from_iter([
        Span::styled(" WHAT HAPPENED ", styles.badge(Paint::Accent)),
        Span::raw(" time since the start, step, newest last "),
    ]);
    let inner = boxed(title, Paint::Accent, styles, area, buffer);
    draw_entries(dashboard, dashboard.view.scrolled, styles, inner, buffer);
}

/// Draws as many as there is room for, up to the newest but `newer`.
fn draw_entries(
    dashboard: &Dashboard,
    newer: usize,
    styles: &Styles,
    area: Rect,
    buffer: &mut Buffer,
) {
    let entries = dashboard.run().log().all();
    let room = usize::from(area.height);
    let before = entries.len().saturating_sub(room);
    let before = before.saturating_sub(newer);
    let shown: Vec<&LogEntry> = entries.skip(before).take(room).collect();
    let widest = |text: fn(&LogEntry) -> String| {
        let widths = shown.iter().map(|entry| width(&text(entry)));
        widths.max().unwrap_or(0)
    };
    let (times, steps) = (widest(time_of), widest(step_of));
    for (row, entry) in shown.iter().enumerate() {
        let time = right_aligned(&time_of(entry), times);
        let step = right_aligned(&step_of(entry), steps);
        let line = Line::from_iter([
            Span::styled(format!("{time}{step}  "), styles.get(Paint::Faint)),
            Span::styled(entry.text.clone(), styles.get(paint(entry.kind))),
        ]);
        put(line, row, area, buffer);
    }
}

fn time_of(entry: &LogEntry) -> String {
    clock(entry.t)
}

fn step_of(entry: &LogEntry) -> String {
    entry
        .step
        .map_or_else(String::new, |step| format!("  step {}", thousands(step.0)))
}

fn paint(kind: LogKind) -> Paint {
    match kind {
        LogKind::Verdict => Paint::Strong,
        LogKind::Training | LogKind::Processes => Paint::Plain,
        LogKind::Gap => Paint::Early,
        LogKind::Own => Paint::Faint,
    }
}
