//! All keys, and what the words on the screen mean.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::boxed;
use super::text::{left_aligned, put, width};
use crate::dashboard::Dashboard;
use crate::event::Mode;
use crate::theme::{Paint, Styles};

/// Keys that belong together.
struct Group {
    name: &'static str,
    keys: &'static [(&'static str, &'static str)],
}

const RUN: Group = Group {
    name: "THE RUN",
    keys: &[
        ("m", "growth since now"),
        ("p", "freeze the view"),
        ("e", "export CSV"),
        ("r", "write the report"),
        ("q", "quit, run goes on"),
        ("ctrl-z", "suspend, fg: back"),
    ],
};

const CHART: Group = Group {
    name: "THE CHART",
    keys: &[
        ("x", "over steps or time"),
        ("+ -", "zoom (or wheel)"),
        ("h l ← →", "move"),
        ("f end", "follow the newest"),
        ("0 home", "the whole run"),
    ],
};

const PROCESSES: Group = Group {
    name: "PROCESSES",
    keys: &[
        ("j k ↓ ↑", "choose (or click)"),
        ("space", "members of a group"),
        ("enter", "open one process"),
        ("s", "next sort order"),
        ("/", "show matching"),
    ],
};

const PAGES: Group = Group {
    name: "PAGES",
    keys: &[
        ("?", "this help"),
        ("F", "findings, what to try"),
        ("L", "what happened"),
        ("esc", "back"),
    ],
};

const REPLAY: Group = Group {
    name: "REPLAY",
    keys: &[
        ("p", "pause, go on"),
        ("[ ]", "slower, faster"),
        (", .", "10 s back, 10 s on"),
        ("g", "jump to a step"),
        ("G", "to the end"),
    ],
};

const VERDICTS: Group = Group {
    name: "VERDICTS",
    keys: &[
        ("WARMING UP", "too early to say"),
        ("LEVEL", "does not grow"),
        ("LEAK", "grows past warmup"),
        ("UNDECIDED", "see F"),
    ],
};

const MEMORY: Group = Group {
    name: "MEMORY",
    keys: &[
        ("MEMORY", "shared pages: once"),
        ("RSS", "once per process"),
        ("~", "PSS not read yet"),
    ],
};

/// Columns between a key and what it does.
const GAP: usize = 2;
/// Columns of a group at least.
const GROUP_LEAST: usize = 29;
/// Columns of a group at most: further apart, a key and its text are hard to match.
const GROUP_MOST: usize = 44;

/// Rows from which on there is a free line between groups.
const AIRY: u16 = 19;
/// Rows of a column at most: on a large screen, columns are about equally long.
const ROWS_MOST: u16 = 20;

/// Draws it.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let title = Line::styled(" HELP ", styles.badge(Paint::Accent));
    let inner = boxed(title, Paint::Accent, styles, area, buffer);
    let columns = usize::from(inner.width);
    let beside = if columns >= 2 * GROUP_LEAST { 2 } else { 1 };
    let wide = (columns / beside).clamp(1, GROUP_MOST);
    let high = usize::from(inner.height.min(ROWS_MOST));
    let (mut x, mut row) = (0, 0);
    for group in groups(dashboard.subject.mode) {
        let rows = group.keys.len() + 1;
        if row > 0 && row + rows > high {
            (x, row) = (x + wide, 0);
        }
        if x + wide > columns {
            break;
        }
        let column = Rect {
            x: inner.x + x as u16,
            // The last column keeps it apart from the next group.
            width: wide as u16 - 1,
            ..inner
        };
        draw_group(group, row, styles, column, buffer);
        row += rows + usize::from(inner.height >= AIRY);
    }
}

/// What is needed most first: on a small screen the rest is left out.
fn groups(mode: Mode) -> Vec<&'static Group> {
    let mut groups = vec![&PROCESSES, &CHART, &PAGES, &RUN, &VERDICTS, &MEMORY];
    if mode == Mode::Replay {
        groups.insert(0, &REPLAY);
    }
    groups
}

fn draw_group(group: &Group, row: usize, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let name = Line::styled(group.name, styles.get(Paint::Heading));
    put(name, row, area, buffer);
    let keys = group.keys.iter().map(|(key, _)| width(key));
    let columns = keys.max().unwrap_or(0) + GAP;
    for (below, (key, does)) in group.keys.iter().enumerate() {
        let line = Line::from_iter([
            Span::styled(left_aligned(key, columns), styles.get(Paint::Accent).bold()),
            Span::raw(*does),
        ]);
        put(line, row + 1 + below, area, buffer);
    }
}
