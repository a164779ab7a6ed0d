//! The screen of a fleet: how many leak, every run in a row, and what is known of the selected one.

use leveloff_classifier::verdict::Verdict;
use leveloff_model::process::printable;
use leveloff_text::finding::finding_words;
use leveloff_text::fleet::{FleetTable, counts};
use leveloff_text::verdict::{Headline, risk_words};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::footer::keys;
use super::text::{cut, left_aligned, padded, put, put_right, width, wrapped};
use crate::fleet_view::FleetView;
use crate::theme::{Paint, Styles};

/// Rows of the selected run, where there is room for them beside the table.
const DETAIL: u16 = 7;

/// Below this there is a table and nothing else.
const TALL: u16 = 18;

/// A name takes at most so many columns.
const LONGEST_NAME: usize = 36;

const KEYS: [(&str, &str); 4] = [
    ("q", "quit"),
    ("↑↓", "choose"),
    ("r", "refresh"),
    ("g G", "worst, best"),
];

/// Draws it.
pub fn draw(view: &FleetView, styles: &Styles, frame: &mut Frame) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    let row = |y: u16, height: u16| Rect {
        y: area.y + y.min(area.height),
        height: height.min(area.height.saturating_sub(y)),
        ..area
    };
    let detail = if area.height >= TALL { DETAIL } else { 0 };
    draw_header(view, styles, padded(row(0, 2)), buffer);
    draw_table(
        view,
        styles,
        padded(row(3, rows_of(area.height) as u16 + 1)),
        buffer,
    );
    let below = row(area.height.saturating_sub(detail + 1), detail);
    draw_detail(view, styles, padded(below), buffer);
    let footer = padded(row(area.height.saturating_sub(1), 1));
    put(
        keys(&KEYS, false, usize::from(footer.width), styles),
        0,
        footer,
        buffer,
    );
    styles.charset.limit(buffer);
}

/// Runs that are seen at once on a screen of this height.
pub fn rows_of(height: u16) -> usize {
    let detail = if height >= TALL { DETAIL + 1 } else { 0 };
    // Two lines of header, an empty one, the headings, the footer.
    usize::from(height.saturating_sub(5 + detail))
}

fn draw_header(view: &FleetView, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let mut line = Line::from(Span::styled("leveloff  ", styles.get(Paint::Accent).bold()));
    if let Some(fleet) = view.fleet() {
        let worst = fleet
            .members
            .first()
            .map_or(Verdict::Undecided, |worst| worst.verdict.verdict);
        line.push_span(Span::styled(
            format!(" {} ", counts(fleet).trim()),
            styles.badge(worst.into()),
        ));
        let about = format!("{} · {}", fleet.server, fleet.query);
        put(
            Line::styled(printable(about.as_bytes()), styles.get(Paint::Faint)),
            1,
            area,
            buffer,
        );
    }
    put(line, 0, area, buffer);
    let (text, paint) = match (view.error(), view.fleet(), view.is_querying()) {
        (Some(error), _, _) => (error.to_owned(), Paint::Bad),
        (None, _, true) => ("querying …".to_owned(), Paint::Faint),
        (None, Some(fleet), false) if fleet.is_partial() => (fleet.failures.join("; "), Paint::Bad),
        (None, Some(fleet), false) => (fleet.at.clone(), Paint::Faint),
        (None, None, false) => (String::new(), Paint::Faint),
    };
    // Trouble has the second line for itself; what is usual stands beside the first.
    let row = usize::from(paint == Paint::Bad);
    let text = cut(&printable(text.as_bytes()), usize::from(area.width));
    put_right(Line::styled(text, styles.get(paint)), row, area, buffer);
}

fn draw_table(view: &FleetView, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let rows = usize::from(area.height.saturating_sub(1));
    let selected = view.selected();
    let first = (selected + 1).saturating_sub(rows);
    let shown = || view.members().iter().skip(first).take(rows);
    let table = FleetTable::of(shown());
    let widths = table.widths(LONGEST_NAME);
    let heading = line(&table.headings, &widths);
    let heading = Line::styled(heading, styles.get(Paint::Heading));
    put(heading, 0, area, buffer);
    for (place, (member, row)) in shown().zip(&table.rows).enumerate() {
        let text = line(row, &widths);
        let line = if first + place == selected {
            let text = left_aligned(&text, usize::from(area.width));
            Line::styled(text, styles.get(Paint::Chosen))
        } else {
            painted(&text, &widths, member.verdict.verdict, styles)
        };
        put(line, place + 1, area, buffer);
    }
}

fn line(row: &[impl AsRef<str>], widths: &[usize]) -> String {
    let cells = row.iter().zip(widths);
    let cells: Vec<String> = cells
        .map(|(cell, width)| left_aligned(cell.as_ref(), *width))
        .collect();
    cells.join("  ").trim_end().to_owned()
}

/// The verdict in its colour, the rest plain.
fn painted(text: &str, widths: &[usize], verdict: Verdict, styles: &Styles) -> Line<'static> {
    let place = |columns: usize| {
        let mut taken = 0;
        let at = text.char_indices().find(|(_, c)| {
            taken += width(&c.to_string());
            taken > columns
        });
        at.map_or(text.len(), |(at, _)| at)
    };
    let (begin, end) = (place(widths[0] + 2), place(widths[0] + 2 + widths[1]));
    Line::from(vec![
        Span::raw(text[..begin].to_owned()),
        Span::styled(
            text[begin..end].to_owned(),
            styles.get(verdict.into()).bold(),
        ),
        Span::raw(text[end..].to_owned()),
    ])
}

fn draw_detail(view: &FleetView, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let Some(member) = view.members().get(view.selected()) else {
        return;
    };
    let columns = usize::from(area.width);
    let title = format!("{}  {}", member.name, Headline::of(&member.verdict).whole());
    put(
        Line::styled(printable(title.as_bytes()), styles.get(Paint::Strong)),
        0,
        area,
        buffer,
    );
    let run = &member.verdict;
    let risk = run.risk.as_ref().map(|risk| risk_words(risk, run));
    let findings = run.findings.iter().flat_map(|found| {
        let words = finding_words(found);
        [words.text, format!("→ {}", words.next)]
    });
    let texts = risk
        .into_iter()
        .chain(findings)
        .chain(member.notes.iter().cloned());
    let lines = texts.flat_map(|text| wrapped(&printable(text.as_bytes()), columns));
    for (row, text) in lines.enumerate() {
        put(Line::raw(text), row + 1, area, buffer);
    }
}
