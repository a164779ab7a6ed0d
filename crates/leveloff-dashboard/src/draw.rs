//! The whole screen, drawn from the state. Nothing here changes anything.
//!
//! One file for each part of the screen; [`crate::layout`] has their areas. `text`, `bars` and
//! `since` are what the parts share.

mod banner;
mod bars;
mod counters;
pub(crate) mod findings;
pub mod fleet;
mod footer;
mod gauge;
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

use crate::chart;
use crate::dashboard::Dashboard;
use crate::layout::{Layout, MINIMUM_SIZE};
use crate::theme::{Paint, Styles};
use crate::view::Page;

/// Draws everything.
pub fn draw(dashboard: &Dashboard, styles: &Styles, frame: &mut Frame) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.width < MINIMUM_SIZE.0 || area.height < MINIMUM_SIZE.1 {
        too_small::draw(dashboard, styles, area, buffer);
    } else {
        // For one frame after a resize, the layout may be that of another size.
        let layout = Layout::of(dashboard).within(area);
        header::draw(dashboard, styles, layout.header, buffer);
        draw_page(dashboard, styles, &layout, buffer);
        footer::draw(dashboard, styles, layout.footer, buffer);
    }
    styles.charset.limit(buffer);
}

fn draw_page(dashboard: &Dashboard, styles: &Styles, layout: &Layout, buffer: &mut Buffer) {
    let area = layout.body();
    match dashboard.view.page {
        Page::Overview => draw_overview(dashboard, styles, layout, buffer),
        Page::Help => help::draw(dashboard, styles, area, buffer),
        Page::Process(index) => process::draw(dashboard, index, styles, area, buffer),
        Page::Findings => findings::draw_page(dashboard, styles, area, buffer),
        Page::Log => log::draw_page(dashboard, styles, area, buffer),
    }
}

fn draw_overview(dashboard: &Dashboard, styles: &Styles, layout: &Layout, buffer: &mut Buffer) {
    banner::draw(dashboard, styles, layout.banner, buffer);
    verdict::draw(dashboard, layout.verdict, buffer);
    gauge::draw(dashboard, styles, layout.gauge, buffer);
    ranks::draw(dashboard, styles, layout.ranks, buffer);
    chart::draw(dashboard, styles, text::padded(layout.chart), buffer);
    table::draw(dashboard, styles, layout, buffer);
    growth::draw(dashboard, styles, layout.growth, buffer);
    findings::draw(dashboard, styles, layout.findings, buffer);
    log::draw(dashboard, styles, layout.log, buffer);
}

/// Draws a box around a page and returns the area inside.
fn boxed(title: Line, paint: Paint, styles: &Styles, area: Rect, buffer: &mut Buffer) -> Rect {
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(styles.get(paint))
        .title_top(text::cut_line(
            title,
            usize::from(area.width).saturating_sub(4),
        ));
    let inner = block.inner(area);
    block.render(area, buffer);
    text::padded(inner)
}

/// The heading of a part that has room for one: `WHAT GREW since step 10 ──────`.
fn heading(name: &str, rest: &str, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let rest = match rest {
        "" => " ".to_owned(),
        rest => format!(" {rest} "),
    };
    let mut line = Line::from_iter([
        Span::styled(name.to_owned(), styles.get(Paint::Heading)),
        Span::styled(rest, styles.get(Paint::Faint)),
    ]);
    let left = usize::from(area.width).saturating_sub(line.width());
    let rule = "─".repeat(left);
    line.push_span(Span::styled(rule, styles.get(Paint::Faint)));
    text::put(line, 0, area, buffer);
}

/// The area below a heading.
fn below_heading(area: Rect) -> Rect {
    let taken = area.height.min(1);
    Rect {
        y: area.y + taken,
        height: area.height - taken,
        ..area
    }
}
