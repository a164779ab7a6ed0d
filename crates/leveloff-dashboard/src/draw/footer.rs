//! The last line: the keys, a prompt, a question or a message.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::text::{padded, put, width};
use crate::dashboard::Dashboard;
use crate::event::Mode;
use crate::theme::{Paint, Styles};
use crate::view::{Page, Prompt, Purpose, Question};

/// A key, and what it does in a word or two.
pub(super) type Key = (&'static str, &'static str);

/// The most needed first: what does not fit is left out.
const OVERVIEW: [Key; 14] = [
    ("?", "help"),
    ("q", "quit"),
    ("↑↓", "choose"),
    ("space", "expand"),
    ("enter", "open"),
    ("m", "marker"),
    ("p", "freeze"),
    ("x", "steps/time"),
    ("s", "sort"),
    ("/", "filter"),
    ("+-", "zoom"),
    ("F", "findings"),
    ("e", "csv"),
    ("r", "report"),
];

const REPLAY: [Key; 13] = [
    ("?", "help"),
    ("q", "quit"),
    ("p", "pause"),
    ("[]", "speed"),
    (",.", "skip"),
    ("g", "to step"),
    ("G", "end"),
    ("↑↓", "choose"),
    ("space", "expand"),
    ("enter", "open"),
    ("m", "marker"),
    ("x", "steps/time"),
    ("F", "findings"),
];

const PAGE: [Key; 5] = [
    ("esc", "back"),
    ("?", "help"),
    ("F", "findings"),
    ("L", "log"),
    ("q", "quit"),
];

const PROCESS: [Key; 4] = [
    ("esc", "back"),
    ("↑↓", "next process"),
    ("m", "marker"),
    ("q", "quit"),
];

/// Draws it.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let view = &dashboard.view;
    let inner = padded(area);
    let line = if let Some(question) = view.question {
        question_line(question, styles)
    } else if let Some(prompt) = &view.prompt {
        prompt_line(prompt, styles)
    } else if let Some(message) = dashboard.message() {
        Line::styled(message.to_owned(), styles.get(Paint::Accent).bold())
    } else {
        let is_still = dashboard.is_frozen() || dashboard.replay.is_some_and(|it| it.paused);
        keys(
            keys_of(dashboard),
            is_still,
            usize::from(inner.width),
            styles,
        )
    };
    put(line, 0, inner, buffer);
}

fn keys_of(dashboard: &Dashboard) -> &'static [Key] {
    match (dashboard.view.page, dashboard.subject.mode) {
        (Page::Overview, Mode::Replay) => &REPLAY,
        (Page::Overview, _) => &OVERVIEW,
        (Page::Process(_), _) => &PROCESS,
        (Page::Help | Page::Findings | Page::Log, _) => &PAGE,
    }
}

/// As many keys as fit.
pub(super) fn keys(keys: &[Key], is_still: bool, columns: usize, styles: &Styles) -> Line<'static> {
    let mut line = Line::default();
    for &(key, does) in keys {
        let does = if key == "p" && is_still {
            "go on"
        } else {
            does
        };
        let gap = if line.spans.is_empty() { "" } else { "  " };
        if line.width() + width(gap) + width(key) + 1 + width(does) > columns {
            continue;
        }
        line.push_span(Span::raw(gap));
        line.push_span(Span::styled(key, styles.get(Paint::Accent).bold()));
        line.push_span(Span::styled(format!(" {does}"), styles.get(Paint::Faint)));
    }
    line
}

fn question_line(question: Question, styles: &Styles) -> Line<'static> {
    match question {
        Question::LeaveRun => Line::from_iter([
            Span::styled(" The command still runs: ", styles.badge(Paint::Accent)),
            Span::raw(" "),
            Span::styled("l", styles.get(Paint::Accent).bold()),
            Span::raw(" leave it running  "),
            Span::styled("s", styles.get(Paint::Accent).bold()),
            Span::raw(" stop it  any other key: stay"),
        ]),
    }
}

fn prompt_line(prompt: &Prompt, styles: &Styles) -> Line<'static> {
    let (what, then) = match prompt.purpose {
        Purpose::Filter => ("show processes with: ", "  enter keeps it, esc shows all"),
        Purpose::Step => ("jump to step: ", "  enter jumps, esc cancels"),
    };
    Line::from_iter([
        Span::styled(what, styles.get(Paint::Accent).bold()),
        Span::raw(prompt.text.clone()),
        Span::styled(
            " ",
            styles.get(Paint::Plain).add_modifier(Modifier::REVERSED),
        ),
        Span::styled(then, styles.get(Paint::Faint)),
    ])
}
