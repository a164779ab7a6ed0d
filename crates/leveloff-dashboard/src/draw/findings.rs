//! What the evidence shows beside the verdict, with what to try next.

use leveloff_classifier::verdict::{ClockTick, RunVerdict};
use leveloff_report::words::{blame_words, clock_words, settling, what_to_try};
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

/// Where `next` is kept when a line is all there is.
const HINT: &str = "  F shows what to try";

/// Draws them in the overview: a line each, or wrapped where there is room.
pub fn draw(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    let area = padded(area);
    let told = dashboard.run().verdict().map_or_else(Vec::new, findings);
    if area.height > 4 {
        let count = match told.len() {
            0 => "none".to_owned(),
            count => count.to_string(),
        };
        heading("FINDINGS", &count, look, area, buffer);
        draw_wrapped(&told, look, below_heading(area), buffer);
        return;
    }
    for (row, told) in told.iter().take(usize::from(area.height)).enumerate() {
        draw_line(told, row, look, area, buffer);
    }
    if told.is_empty() && dashboard.run().verdict().is_some() {
        let nothing = Line::styled("◆ nothing else was found", look.style(Paint::Faint));
        put(nothing, 0, area, buffer);
    }
}

/// Draws all of them, over the whole screen.
pub fn draw_page(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    let inner = boxed(
        Line::styled(" FINDINGS ", look.badge(Paint::Accent)),
        Paint::Accent,
        look,
        area,
        buffer,
    );
    let Some(verdict) = dashboard.run().verdict() else {
        put("nothing has been judged yet", 0, inner, buffer);
        return;
    };
    let mut told = beside(verdict);
    told.splice(0..0, findings(verdict));
    if told.is_empty() {
        put("nothing was found beside the verdict", 0, inner, buffer);
    }
    for line in settling(verdict, dashboard.run().stated()) {
        told.extend(is_open(verdict).then(|| Told::new("decided", line)));
    }
    draw_wrapped(&told, look, inner, buffer);
}

/// What the verdict found; where it found nothing, what to try all the same.
fn findings(verdict: &RunVerdict) -> Vec<Told> {
    let mut told: Vec<Told> = verdict
        .findings
        .iter()
        .map(|finding| Told {
            name: finding.name.replace('-', " "),
            text: finding.text.clone(),
            next: finding.next.clone(),
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
    use leveloff_classifier::verdict::Verdict;
    matches!(verdict.verdict, Verdict::WarmingUp | Verdict::Undecided)
}

fn draw_line(told: &Told, row: usize, look: &Look, area: Rect, buffer: &mut Buffer) {
    let hint = if told.next.is_empty() { "" } else { HINT };
    let text = Rect {
        width: area.width.saturating_sub(width(hint) as u16),
        ..area
    };
    put(told.first_line(&told.text, look), row, text, buffer);
    let hint = Line::styled(hint, look.style(Paint::Accent));
    put_right(hint, row, area, buffer);
}

fn draw_wrapped(told: &[Told], look: &Look, area: Rect, buffer: &mut Buffer) {
    let mut row = 0;
    for told in told {
        for line in told.lines(usize::from(area.width), look) {
            put(line, row, area, buffer);
            row += 1;
        }
    }
    if row > usize::from(area.height) && area.height > 0 {
        let more = Line::styled(" … more with F", look.style(Paint::Accent));
        put_right(more, usize::from(area.height - 1), area, buffer);
    }
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
