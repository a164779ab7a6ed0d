//! The banner in the colour of the verdict: verdict, who, how fast, how much time is left.

use leveloff_text::tiles::{Tile, tiles};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::text::{cut, left_aligned, put};
use crate::dashboard::Dashboard;
use crate::theme::{Paint, Styles};

/// From this many columns on, all four answers stand side by side.
const FOUR_FIT: u16 = 76;

/// From this many on, each has room for what belongs to it.
const WIDE: u16 = 110;

/// Less time than this is left: the answer is set off.
const ALMOST_OVER: f64 = 300.0;

/// What a banner says.
struct Banner {
    tiles: Vec<Tile>,
    paint: Paint,
    is_urgent: bool,
}

/// Draws it over two or three rows.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let banner = Banner::of(dashboard);
    let filled = styles.get(banner.paint).reversed();
    buffer.set_style(area, filled);
    let widths = widths(area.width, banner.tiles.len());
    let has_headings = area.height > 2;
    for row in 0..usize::from(area.height) {
        let line = banner.line(row, has_headings, &widths, filled);
        put(line, row, area, buffer);
    }
}

impl Banner {
    fn of(dashboard: &Dashboard) -> Banner {
        let run = dashboard.run();
        let only = |main: &str, detail: String, paint| Banner {
            tiles: vec![Tile {
                heading: "",
                main: main.to_owned(),
                detail,
                short: main.to_owned(),
            }],
            paint,
            is_urgent: false,
        };
        match (run.verdict(), run.account()) {
            (Some(verdict), Some(account)) => Banner {
                tiles: tiles(verdict, account).to_vec(),
                paint: Paint::from(verdict.verdict),
                is_urgent: !account.is_over
                    && (verdict.risk.as_ref())
                        .and_then(|risk| risk.in_time)
                        .is_some_and(|left| left.0 < ALMOST_OVER),
            },
            (None, Some(account)) => only(
                "SYSTEM",
                format!(
                    "top growers since {}",
                    leveloff_text::since::since_words(account)
                ),
                Paint::Accent,
            ),
            _ => only("WAITING", waiting_for(dashboard).to_owned(), Paint::Unsure),
        }
    }

    fn line(&self, row: usize, has_headings: bool, widths: &[u16], filled: Style) -> Line<'static> {
        let shown = self.shown(widths.len());
        let mut line = Line::from(Span::styled(" ", filled));
        for (tile, width) in shown.iter().zip(widths) {
            let (text, style) = match (has_headings, row) {
                (true, 0) => (tile.heading.to_owned(), filled),
                (true, 1) => (tile.main.clone(), filled.bold()),
                (true, _) => (tile.detail.clone(), filled),
                (false, 0) => (tile.short.clone(), filled.bold()),
                (false, _) => (tile.detail.clone(), filled),
            };
            let is_time =
                tile.heading == "TIME LEFT" && self.is_urgent && text.contains(&tile.main);
            let style = if is_time { style.not_reversed() } else { style };
            let columns = usize::from(*width);
            let text = left_aligned(&cut(&text, columns.saturating_sub(1)), columns);
            line.push_span(Span::styled(text, style));
        }
        line
    }

    /// Where not all fit, the rate is left out: the line below has it.
    fn shown(&self, fit: usize) -> Vec<&Tile> {
        let fits = |tile: &&Tile| fit >= self.tiles.len() || tile.heading != "RATE";
        self.tiles.iter().filter(fits).collect()
    }
}

/// The columns of the answers, always the same at a width.
fn widths(columns: u16, tiles: usize) -> Vec<u16> {
    let columns = columns.saturating_sub(1);
    if tiles < 4 {
        return vec![columns];
    }
    match columns + 1 {
        WIDE.. => [28, 30, 20, 22]
            .map(|percent| columns * percent / 100)
            .to_vec(),
        FOUR_FIT.. => vec![20, 21, 15, columns - 56],
        _ => vec![18, 20, columns.saturating_sub(38)],
    }
}

fn waiting_for(dashboard: &Dashboard) -> &'static str {
    match dashboard.ended() {
        None => "for the first sample",
        Some(_) => "the run ended before the first sample",
    }
}
