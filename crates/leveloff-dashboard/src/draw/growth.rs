//! What grew since the marker, by role and kind: the parts add up to the whole.

use leveloff_model::process::Role;
use leveloff_model::units::ByteDelta;
use leveloff_text::subject::kind_words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::bars::bar;
use super::inside;
use super::since::marker_words;
use super::text::{left_aligned, padded, put, right_aligned, width};
use super::{below_heading, heading};
use crate::dashboard::Dashboard;
use crate::run::{Grown, RunState};
use crate::theme::{Look, Paint};

/// Columns of an amount.
const AMOUNT: usize = 9;
/// Columns of a bar at most.
const BAR_MOST: usize = 16;

/// Draws it.
pub fn draw(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    // Beside the processes there is room for a table.
    let is_beside = area.x > 0;
    let area = padded(area);
    let run = dashboard.run();
    if run.sample().is_none() {
        return;
    }
    if !is_beside {
        put(line(run, look, usize::from(area.width)), 0, area, buffer);
        return;
    }
    let whole = total(&run.grown());
    let rest = format!("since {}: {whole}", marker_words(run));
    heading("WHAT GREW", &rest, look, area, buffer);
    draw_table(run, look, below_heading(area), buffer);
}

fn draw_table(run: &RunState, look: &Look, mut area: Rect, buffer: &mut Buffer) {
    let grown = run.grown();
    for text in inside_lines(run, &grown, area).into_iter().rev() {
        let last = area.height.saturating_sub(1);
        let line = Line::styled(text, look.style(Paint::Faint));
        put(line, usize::from(last), area, buffer);
        area.height = last;
    }
    let (named, rest) = split(&grown, usize::from(area.height));
    let most = grown.first().map_or(0, |grown| grown.by.0.abs()).max(1) as f64;
    let columns = usize::from(area.width);
    for (row, part) in named.iter().enumerate() {
        let share = part.by.0.abs() as f64 / most;
        put(
            table_line(&name(part), part.by, Some(share), Some(part), columns, look),
            row,
            area,
            buffer,
        );
    }
    if !rest.is_empty() {
        let others = format!("{} others", rest.len());
        let line = table_line(&others, total(rest), None, None, columns, look);
        put(line, named.len(), area, buffer);
    }
}

/// What the training counts, below the parts. Tensors come first; the rest has what room the parts leave.
fn inside_lines(run: &RunState, grown: &[Grown], area: Rect) -> Vec<String> {
    let left = usize::from(area.height).saturating_sub(grown.len());
    let mut lines = inside::words(run);
    lines.retain(|text| width(text) <= usize::from(area.width));
    lines.truncate(left.max(1));
    lines
}

fn table_line(
    name: &str,
    by: ByteDelta,
    share: Option<f64>,
    part: Option<&Grown>,
    columns: usize,
    look: &Look,
) -> Line<'static> {
    let to = part.map_or_else(String::new, |part| format!("to {}", part.to));
    let bar_columns = (columns / 5).min(BAR_MOST);
    let name_columns = columns.saturating_sub(2 * AMOUNT + bar_columns + 6);
    let paint = match by.0 {
        0 => Paint::Faint,
        _ => Paint::Plain,
    };
    Line::from_iter([
        Span::styled(left_aligned(name, name_columns), look.style(paint)),
        Span::styled(
            right_aligned(&by.to_string(), AMOUNT + 1),
            look.style(paint),
        ),
        Span::raw("  "),
        Span::styled(
            left_aligned(&bar(share.unwrap_or(0.0), bar_columns), bar_columns),
            look.style(Paint::Accent),
        ),
        Span::styled(right_aligned(&to, AMOUNT + 3), look.style(Paint::Faint)),
    ])
}

/// `WHAT  +11.6 GiB since step 10, all trainer anonymous · tensors level at 6,529 · malloc +11.5 GiB in use`
fn line(run: &RunState, look: &Look, columns: usize) -> Line<'static> {
    let grown = run.grown();
    let begin = format!("{} since {}", total(&grown), marker_words(run));
    let room = columns.saturating_sub(width("WHAT  ") + width(&begin));
    let (parts, inside) = parts_and_inside(&grown, &inside::words(run), room);
    Line::from_iter([
        Span::styled("WHAT  ", look.style(Paint::Heading)),
        Span::styled(begin, look.style(Paint::Strong)),
        Span::raw(parts),
        Span::styled(inside, look.style(Paint::Faint)),
    ])
}

/// Who grew is worth more than what was counted. The first that was counted has a place beside at least
/// one part, the others where they take none from the parts.
fn parts_and_inside(grown: &[Grown], counted: &[String], room: usize) -> (String, String) {
    let beside = |counted: &[String]| {
        let inside: String = counted.iter().map(|text| format!(" · {text}")).collect();
        let parts = parts(grown, room.checked_sub(width(&inside))?)?;
        Some((parts, inside))
    };
    let first = &counted[..counted.len().min(1)];
    let Some(least) = beside(first).or_else(|| beside(&[])) else {
        return Default::default();
    };
    let all = beside(counted).filter(|(parts, _)| *parts == least.0);
    all.unwrap_or(least)
}

/// As many parts as fit, what is left counted together.
fn parts(grown: &[Grown], columns: usize) -> Option<String> {
    let moved: Vec<Grown> = grown.iter().filter(|it| it.by.0 != 0).copied().collect();
    if let [only] = moved[..] {
        let all = match only.role {
            Role::Other => format!(", all {}", kind(&only)),
            _ => format!(", all {}", name(&only)),
        };
        return (width(&all) <= columns).then_some(all);
    }
    if moved.is_empty() {
        return Some(String::new());
    }
    (1..=moved.len())
        .rev()
        .map(|count| parts_in_words(&moved[..count], &moved[count..]))
        .find(|text| width(text) <= columns)
}

fn parts_in_words(named: &[Grown], rest: &[Grown]) -> String {
    let mut words: Vec<String> = named
        .iter()
        .map(|part| format!("{} {}", name(part), part.by))
        .collect();
    if !rest.is_empty() {
        words.push(format!("{} others {}", rest.len(), total(rest)));
    }
    format!(": {}", words.join(" · "))
}

/// Those that have a line of their own, and those that are counted together.
fn split(grown: &[Grown], room: usize) -> (&[Grown], &[Grown]) {
    let named = if grown.len() > room {
        room.saturating_sub(1)
    } else {
        grown.len()
    };
    grown.split_at(named)
}

/// `trainer anonymous`
fn name(part: &Grown) -> String {
    format!("{} {}", part.role.name().replace('-', " "), kind(part))
}

fn kind(part: &Grown) -> &'static str {
    let kind = kind_words(part.kind);
    kind.strip_suffix(" memory").unwrap_or(kind)
}

fn total(grown: &[Grown]) -> ByteDelta {
    grown.iter().fold(ByteDelta(0), |sum, part| sum + part.by)
}
