//! All keys, and what the words on the screen mean.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::boxed;
use super::text::{left_aligned, put};
use crate::dashboard::Dashboard;
use crate::event::Mode;
use crate::theme::{Look, Paint};

/// Keys that belong together.
struct Group {
    name: &'static str,
    keys: &'static [(&'static str, &'static str)],
}

const RUN: Group = Group {
    name: "THE RUN",
    keys: &[
        ("m", "marker: growth since now"),
        ("p", "freeze; sampling goes on"),
        ("e", "export CSV"),
        ("r", "write the report"),
        ("q", "quit; the run goes on"),
        ("ctrl-z", "suspend; fg continues"),
    ],
};

const CHART: Group = Group {
    name: "THE CHART",
    keys: &[
        ("x", "over steps or time"),
        ("+ -", "zoom, also the wheel"),
        ("h l ← →", "move"),
        ("f end", "follow the newest"),
        ("0 home", "the whole run"),
    ],
};

const PROCESSES: Group = Group {
    name: "PROCESSES",
    keys: &[
        ("j k ↓ ↑", "choose, also a click"),
        ("space", "members of a group"),
        ("enter", "open one process"),
        ("s", "sort by the next column"),
        ("/", "show those that match"),
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
        ("WARMING UP", "grows; too early to say"),
        ("LEVEL", "does not grow any more"),
        ("LEAK", "early, then confirmed"),
        ("UNDECIDED", "F says what settles it"),
    ],
};

const MEMORY: Group = Group {
    name: "MEMORY",
    keys: &[
        ("MEMORY", "shared pages count once"),
        ("RSS", "counts them every time"),
        ("~", "estimate: PSS not read"),
    ],
};

/// Columns of a key.
const KEY: usize = 11;
/// Columns of a group at least.
const GROUP_LEAST: usize = 30;
/// Columns of a group at most: further apart, nobody sees what belongs together.
const GROUP_MOST: usize = 44;

/// Draws it.
pub fn draw(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    let title = Line::styled(" HELP ", look.badge(Paint::Accent));
    let inner = boxed(title, Paint::Accent, look, area, buffer);
    let columns = usize::from(inner.width);
    let wide = columns
        .checked_div(columns / GROUP_LEAST)
        .unwrap_or(columns)
        .clamp(1, GROUP_MOST);
    let (mut x, mut row) = (0, 0);
    for group in groups(dashboard.subject().mode) {
        let high = group.keys.len() + 1;
        if row > 0 && row + high > usize::from(inner.height) {
            (x, row) = (x + wide, 0);
        }
        if x + wide > columns {
            break;
        }
        let column = Rect {
            x: inner.x + x as u16,
            width: wide as u16,
            ..inner
        };
        draw_group(group, row, look, column, buffer);
        row += high + usize::from(inner.height > 22);
    }
}

/// What is needed most first: on a small screen the rest is left out.
fn groups(mode: Mode) -> Vec<&'static Group> {
    let mut groups = vec![&PROCESSES, &CHART, &RUN, &PAGES, &VERDICTS, &MEMORY];
    if mode == Mode::Replay {
        groups.insert(0, &REPLAY);
    }
    groups
}

fn draw_group(group: &Group, row: usize, look: &Look, area: Rect, buffer: &mut Buffer) {
    let name = Line::styled(group.name, look.style(Paint::Heading));
    put(name, row, area, buffer);
    for (below, (key, does)) in group.keys.iter().enumerate() {
        let line = Line::from_iter([
            Span::styled(left_aligned(key, KEY), look.style(Paint::Accent).bold()),
            Span::raw(*does),
        ]);
        put(line, row + 1 + below, area, buffer);
    }
}
