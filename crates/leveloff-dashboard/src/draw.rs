//! The whole screen, drawn from the state. Nothing here changes anything.
//!
//! One file for each part of the screen; [`crate::layout`] says where it stands. `text`, `bars` and
//! `since` are what the parts share.

mod bars;
mod counters;
pub(crate) mod findings;
pub mod fleet;
mod footer;
mod growth;
mod header;
mod help;
mod log;
mod process;
mod ranks;
mod since;
mod table;
mod text;
mod too_small;
mod verdict;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Widget};

use crate::chart::{self, ChartStyle};
use crate::dashboard::Dashboard;
use crate::layout::{LEAST, Layout};
use crate::theme::{Look, Paint};
use crate::view::Page;

/// Draws everything.
pub fn draw(dashboard: &Dashboard, look: &Look, frame: &mut Frame) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        too_small::draw(dashboard, look, area, buffer);
    } else {
        // For one frame after a resize, the layout may be that of another size.
        let layout = Layout::of(dashboard).within(area);
        header::draw(dashboard, look, layout.header, buffer);
        draw_page(dashboard, look, &layout, buffer);
        footer::draw(dashboard, look, layout.footer, buffer);
    }
    look.charset.limit(buffer);
}

fn draw_page(dashboard: &Dashboard, look: &Look, layout: &Layout, buffer: &mut Buffer) {
    let area = layout.body();
    match dashboard.view().page {
        Page::Overview => draw_overview(dashboard, look, layout, buffer),
        Page::Help => help::draw(dashboard, look, area, buffer),
        Page::Process(index) => process::draw(dashboard, index, look, area, buffer),
        Page::Findings => findings::draw_page(dashboard, look, area, buffer),
        Page::Log => log::draw_page(dashboard, look, area, buffer),
    }
}

fn draw_overview(dashboard: &Dashboard, look: &Look, layout: &Layout, buffer: &mut Buffer) {
    verdict::draw(dashboard, look, layout.verdict, buffer);
    ranks::draw(dashboard, look, layout.ranks, buffer);
    let style = curve_style(dashboard, look);
    chart::draw(dashboard, &style, text::padded(layout.chart), buffer);
    table::draw(dashboard, look, layout, buffer);
    growth::draw(dashboard, look, layout.growth, buffer);
    findings::draw(dashboard, look, layout.findings, buffer);
    log::draw(dashboard, look, layout.log, buffer);
}

/// What was fitted, and where it leads, has the colour of the verdict.
fn curve_style(dashboard: &Dashboard, look: &Look) -> ChartStyle {
    let verdict = dashboard.run().verdict();
    let paint = verdict.map_or(Paint::Unsure, |verdict| Paint::from(verdict.verdict));
    ChartStyle {
        line: look.style(Paint::Accent),
        rss: look.style(Paint::Faint),
        fit: look.style(paint).bold(),
        forecast: look.style(paint),
        limit: look.style(Paint::Bad),
        level_by: look.style(Paint::Unsure),
        axis: look.style(Paint::Faint),
        tick: look.style(Paint::Unsure),
        marker: look.style(Paint::Strong),
        charset: look.charset,
    }
}

/// A box around a page or a verdict; what is inside is handed back.
fn boxed(title: Line, paint: Paint, look: &Look, area: Rect, buffer: &mut Buffer) -> Rect {
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(look.style(paint))
        .title_top(text::cut_line(
            title,
            usize::from(area.width).saturating_sub(4),
        ));
    let inner = block.inner(area);
    block.render(area, buffer);
    text::padded(inner)
}

/// The heading of a part that has room for one: `WHAT GREW since step 10 ──────`.
fn heading(name: &str, rest: &str, look: &Look, area: Rect, buffer: &mut Buffer) {
    let rest = match rest {
        "" => " ".to_owned(),
        rest => format!(" {rest} "),
    };
    let mut line = Line::from_iter([
        Span::styled(name.to_owned(), look.style(Paint::Heading)),
        Span::styled(rest, look.style(Paint::Faint)),
    ]);
    let left = usize::from(area.width).saturating_sub(line.width());
    let rule = "─".repeat(left);
    line.push_span(Span::styled(rule, look.style(Paint::Faint)));
    text::put(line, 0, area, buffer);
}

/// What is below a heading.
fn below_heading(area: Rect) -> Rect {
    let taken = area.height.min(1);
    Rect {
        y: area.y + taken,
        height: area.height - taken,
        ..area
    }
}
