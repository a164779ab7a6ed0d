//! What the evidence shows beside the verdict, with what to try next.

use leveloff_classifier::allocation_history::LineGrowth;
use leveloff_classifier::verdict::{ClockTick, RunVerdict, Verdict};
use leveloff_text::allocation;
use leveloff_text::finding::{FindingWords, finding_words};
use leveloff_text::known_bug::bug_words;
use leveloff_text::verdict::{blame_words, clock_words, settling, what_to_try};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::text::{padded, put, put_right, width, wrapped};
use super::{below_heading, boxed, heading};
use crate::dashboard::Dashboard;
use crate::run::RunState;
use crate::theme::{Paint, Styles};

/// A finding or another note, and what to do about it.
struct Note {
    name: String,
    text: String,
    next: String,
}

/// Shown beside notes that are cut to one line.
const HINT: &str = "  F shows what to try";

/// Draws them in the overview: whole if there is room, else a line each.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    // Beside the processes, a heading separates them from the part above.
    let is_beside = area.x > 0;
    let mut area = padded(area);
    let run = dashboard.run();
    let notes = run
        .verdict()
        .map_or_else(Vec::new, |verdict| findings(run, verdict));
    if is_beside {
        heading("FINDINGS", "", styles, area, buffer);
        area = below_heading(area);
    }
    draw_notes(&notes, styles, area, buffer);
    if notes.is_empty() && dashboard.run().verdict().is_some() {
        let nothing = Line::styled("◆ nothing else was found", styles.get(Paint::Faint));
        put(nothing, 0, area, buffer);
    }
}

/// Draws all of them, over the whole screen.
pub fn draw_page(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let title = Line::styled(" FINDINGS ", styles.badge(Paint::Accent));
    let inner = boxed(title, Paint::Accent, styles, area, buffer);
    let lines = page_lines(dashboard, styles, inner.width);
    let room = usize::from(inner.height);
    let above = dashboard
        .view
        .scrolled
        .min(lines.len().saturating_sub(room));
    let below = lines.len().saturating_sub(above + room);
    for (row, line) in lines.into_iter().skip(above).take(room).enumerate() {
        put(line, row, inner, buffer);
    }
    if below > 0 {
        let more = format!(" {below} more below ");
        let more = Line::styled(more, styles.get(Paint::Accent));
        put_right(more, usize::from(area.height) - 1, padded(area), buffer);
    }
}

/// Rows that the page has, on a screen of so many columns.
pub fn rows_of_page(dashboard: &Dashboard, columns: u16) -> usize {
    // A border and a space at either side.
    page_lines(dashboard, &Styles::default(), columns.saturating_sub(4)).len()
}

fn page_lines(dashboard: &Dashboard, styles: &Styles, columns: u16) -> Vec<Line<'static>> {
    let Some(verdict) = dashboard.run().verdict() else {
        return vec![Line::from("nothing has been judged yet")];
    };
    let mut notes = beside(verdict);
    notes.splice(0..0, findings(dashboard.run(), verdict));
    let mut lines = Vec::new();
    if notes.is_empty() {
        lines.push(Line::from("nothing was found beside the verdict"));
    }
    for line in settling(verdict, &dashboard.run().stated) {
        notes.extend(is_open(verdict).then(|| Note::new("decided", line)));
    }
    lines.extend(
        notes
            .iter()
            .flat_map(|it| it.lines(usize::from(columns), styles)),
    );
    lines
}

/// The lines that made the growth and the findings of the verdict; without any, what to try.
fn findings(run: &RunState, verdict: &RunVerdict) -> Vec<Note> {
    let lines = allocation::named(run.lines()).map(|line| line_note(line, verdict));
    let findings = verdict.findings.iter().map(|finding| {
        let FindingWords { text, next, .. } = finding_words(finding);
        Note {
            name: finding.name().replace('-', " "),
            text,
            next: next.into_owned(),
        }
    });
    let bugs = verdict.known_bugs.iter().map(|suspected| {
        let words = bug_words(suspected);
        Note {
            name: "known bug".to_owned(),
            text: format!("{}, {}", words.text, suspected.bug.link),
            next: words.next.into_owned(),
        }
    });
    let mut notes: Vec<Note> = lines.chain(findings).chain(bugs).collect();
    if let (true, Some(next)) = (notes.is_empty(), what_to_try(verdict)) {
        notes.push(Note::new("next", next.to_owned()));
    }
    notes
}

/// The line, its text, and what has to be kept in mind.
fn line_note(line: &LineGrowth, verdict: &RunVerdict) -> Note {
    let source = allocation::source(line).map_or_else(String::new, |text| format!(": {text}"));
    let words = allocation::line_words(line, verdict.x_unit);
    Note {
        name: "line".to_owned(),
        text: format!("{words}{source}"),
        next: allocation::caution(line).to_owned(),
    }
}

/// The processes and kinds that grew, and when.
fn beside(verdict: &RunVerdict) -> Vec<Note> {
    let clock = verdict
        .clock
        .as_ref()
        .filter(|clock| clock.tick != ClockTick::Step)
        .map(|clock| Note::new("when", clock_words(clock, verdict)));
    let who = verdict.blame.iter().take(4);
    let who = who.map(|blame| Note::new("who", blame_words(blame)));
    clock.into_iter().chain(who).collect()
}

fn is_open(verdict: &RunVerdict) -> bool {
    matches!(verdict.verdict, Verdict::WarmingUp | Verdict::Undecided)
}

/// The first notes whole, as far as there is room; the others in a line each.
fn draw_notes(notes: &[Note], styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let mut hint = HINT;
    let mut row = 0;
    for (place, it) in notes.iter().enumerate() {
        let lines = it.lines(usize::from(area.width), styles);
        let others = usize::from(place + 1 < notes.len());
        if row + lines.len() + others <= usize::from(area.height) {
            for line in lines {
                put(line, row, area, buffer);
                row += 1;
            }
        } else {
            let line = it.first_line(&it.text, styles);
            put_with_hint(line, std::mem::take(&mut hint), row, styles, area, buffer);
            row += 1;
        }
    }
}

/// A line that ends before the hint at the end of its row.
fn put_with_hint(
    line: Line,
    hint: &'static str,
    row: usize,
    styles: &Styles,
    area: Rect,
    buffer: &mut Buffer,
) {
    let room = Rect {
        width: area.width.saturating_sub(width(hint) as u16),
        ..area
    };
    put(line, row, room, buffer);
    put_right(
        Line::styled(hint, styles.get(Paint::Accent)),
        row,
        area,
        buffer,
    );
}

impl Note {
    fn new(name: &str, text: String) -> Note {
        Note {
            name: name.to_owned(),
            text,
            next: String::new(),
        }
    }

    fn first_line(&self, text: &str, styles: &Styles) -> Line<'static> {
        Line::from_iter([
            Span::styled("◆ ", styles.get(Paint::Accent)),
            Span::styled(format!("{}: ", self.name), styles.get(Paint::Strong)),
            Span::raw(text.to_owned()),
        ])
    }

    /// The text below its name, and what to try below that.
    fn lines(&self, columns: usize, styles: &Styles) -> Vec<Line<'static>> {
        let name = format!("{}: ", self.name);
        let whole = format!("{name}{}", self.text);
        let mut lines = Vec::new();
        for (row, text) in wrapped(&whole, columns.saturating_sub(2))
            .iter()
            .enumerate()
        {
            lines.push(match text.strip_prefix(&name) {
                Some(rest) if row == 0 => self.first_line(rest, styles),
                _ => Line::from(format!("  {text}")),
            });
        }
        if self.next.is_empty() {
            return lines;
        }
        for (row, text) in wrapped(&self.next, columns.saturating_sub(4))
            .iter()
            .enumerate()
        {
            let begin = if row == 0 { "  → " } else { "    " };
            lines.push(Line::styled(
                format!("{begin}{text}"),
                styles.get(Paint::Accent),
            ));
        }
        lines
    }
}
