//! What the evidence shows beside the verdict, with what to try next.

use leveloff_classifier::verdict::{ClockTick, RunVerdict, Verdict};
use leveloff_text::finding::{FindingWords, finding_words};
use leveloff_text::verdict::{blame_words, clock_words, settling, what_to_try};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::text::{padded, put, put_right, width, wrapped};
use super::{below_heading, boxed, heading};
use crate::dashboard::Dashboard;
use crate::theme::{Look, Paint};

/// Something to tell, and what to do about it.
struct Told {
    name: String,
    text: String,
    next: String,
}

/// Where the rest is when a line is all there is.
const HINT: &str = "  F shows what to try";

/// Draws them in the overview: whole if there is room, else a line each.
pub fn draw(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    // Beside the processes, they need a heading to tell them from what is above.
    let is_beside = area.x > 0;
    let mut area = padded(area);
    let told = dashboard.run().verdict().map_or_else(Vec::new, findings);
    if is_beside {
        heading("FINDINGS", "", look, area, buffer);
        area = below_heading(area);
    }
    draw_told(&told, look, area, buffer);
    if told.is_empty() && dashboard.run().verdict().is_some() {
        let nothing = Line::styled("◆ nothing else was found", look.style(Paint::Faint));
        put(nothing, 0, area, buffer);
    }
}

/// Draws all of them, over the whole screen.
pub fn draw_page(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    let title = Line::styled(" FINDINGS ", look.badge(Paint::Accent));
    let inner = boxed(title, Paint::Accent, look, area, buffer);
    let lines = page_lines(dashboard, look, inner.width);
    let room = usize::from(inner.height);
    let above = dashboard
        .view()
        .scrolled
        .min(lines.len().saturating_sub(room));
    let below = lines.len().saturating_sub(above + room);
    for (row, line) in lines.into_iter().skip(above).take(room).enumerate() {
        put(line, row, inner, buffer);
    }
    if below > 0 {
        let more = format!(" {below} more below ");
        let more = Line::styled(more, look.style(Paint::Accent));
        put_right(more, usize::from(area.height) - 1, padded(area), buffer);
    }
}

/// Rows that the page has, on a screen of so many columns.
pub fn rows_of_page(dashboard: &Dashboard, columns: u16) -> usize {
    // A border and a space at either side.
    page_lines(dashboard, &Look::default(), columns.saturating_sub(4)).len()
}

fn page_lines(dashboard: &Dashboard, look: &Look, columns: u16) -> Vec<Line<'static>> {
    let Some(verdict) = dashboard.run().verdict() else {
        return vec![Line::from("nothing has been judged yet")];
    };
    let mut told = beside(verdict);
    told.splice(0..0, findings(verdict));
    let mut lines = Vec::new();
    if told.is_empty() {
        lines.push(Line::from("nothing was found beside the verdict"));
    }
    for line in settling(verdict, dashboard.run().stated()) {
        told.extend(is_open(verdict).then(|| Told::new("decided", line)));
    }
    lines.extend(
        told.iter()
            .flat_map(|it| it.lines(usize::from(columns), look)),
    );
    lines
}

/// What the verdict found; where it found nothing, what to try all the same.
fn findings(verdict: &RunVerdict) -> Vec<Told> {
    let mut told: Vec<Told> = verdict
        .findings
        .iter()
        .map(|finding| {
            let FindingWords { text, next } = finding_words(finding);
            Told {
                name: finding.name().replace('-', " "),
                text,
                next: next.into_owned(),
            }
        })
        .collect();
    if let (true, Some(next)) = (told.is_empty(), what_to_try(verdict)) {
        told.push(Told::new("next", next.to_owned()));
    }
    told
}

/// Who and what grew, and when.
fn beside(verdict: &RunVerdict) -> Vec<Told> {
    let clock = verdict
        .clock
        .as_ref()
        .filter(|clock| clock.tick != ClockTick::Step)
        .map(|clock| Told::new("when", clock_words(clock, verdict)));
    let who = verdict.blame.iter().take(4);
    let who = who.map(|blame| Told::new("who", blame_words(blame)));
    clock.into_iter().chain(who).collect()
}

fn is_open(verdict: &RunVerdict) -> bool {
    matches!(verdict.verdict, Verdict::WarmingUp | Verdict::Undecided)
}

/// What is most telling whole as far as there is room for it, the others in a line each.
fn draw_told(told: &[Told], look: &Look, area: Rect, buffer: &mut Buffer) {
    let mut hint = HINT;
    let mut row = 0;
    for (place, it) in told.iter().enumerate() {
        let lines = it.lines(usize::from(area.width), look);
        let others = usize::from(place + 1 < told.len());
        if row + lines.len() + others <= usize::from(area.height) {
            for line in lines {
                put(line, row, area, buffer);
                row += 1;
            }
        } else {
            let line = it.first_line(&it.text, look);
            put_with_hint(line, std::mem::take(&mut hint), row, look, area, buffer);
            row += 1;
        }
    }
}

/// A line that ends before the hint at the end of its row.
fn put_with_hint(
    line: Line,
    hint: &'static str,
    row: usize,
    look: &Look,
    area: Rect,
    buffer: &mut Buffer,
) {
    let room = Rect {
        width: area.width.saturating_sub(width(hint) as u16),
        ..area
    };
    put(line, row, room, buffer);
    put_right(
        Line::styled(hint, look.style(Paint::Accent)),
        row,
        area,
        buffer,
    );
}

impl Told {
    fn new(name: &str, text: String) -> Told {
        Told {
            name: name.to_owned(),
            text,
            next: String::new(),
        }
    }

    fn first_line(&self, text: &str, look: &Look) -> Line<'static> {
        Line::from_iter([
            Span::styled("◆ ", look.style(Paint::Accent)),
            Span::styled(format!("{}: ", self.name), look.style(Paint::Strong)),
            Span::raw(text.to_owned()),
        ])
    }

    /// The text below its name, and what to try below that.
    fn lines(&self, columns: usize, look: &Look) -> Vec<Line<'static>> {
        let name = format!("{}: ", self.name);
        let whole = format!("{name}{}", self.text);
        let mut lines = Vec::new();
        for (row, text) in wrapped(&whole, columns.saturating_sub(2))
            .iter()
            .enumerate()
        {
            lines.push(match text.strip_prefix(&name) {
                Some(rest) if row == 0 => self.first_line(rest, look),
                _ => Line::from(format!("  {text}")),
            });
        }
        for (row, text) in wrapped(&self.next, columns.saturating_sub(4))
            .iter()
            .enumerate()
        {
            let begin = if row == 0 { "  → " } else { "    " };
            lines.push(Line::styled(
                format!("{begin}{text}"),
                look.style(Paint::Accent),
            ));
        }
        lines
    }
}
