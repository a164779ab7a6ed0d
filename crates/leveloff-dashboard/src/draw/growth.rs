//! What grew since the marker, by role and kind: the parts add up to the whole.

use leveloff_model::units::ByteDelta;
use leveloff_report::place::thousands;
use leveloff_report::subject::kind_words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::bars::bar;
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
    let area = padded(area);
    let run = dashboard.run();
    if run.sample().is_none() {
        return;
    }
    if area.height < 3 {
        put(line(run, look, usize::from(area.width)), 0, area, buffer);
        return;
    }
    let whole = total(&run.grown());
    let rest = format!("since {}: {whole}", marker_words(run));
    heading("WHAT GREW", &rest, look, area, buffer);
    draw_table(run, look, below_heading(area), buffer);
}

fn draw_table(run: &RunState, look: &Look, mut area: Rect, buffer: &mut Buffer) {
    if let Some(tensors) = tensors(run) {
        area.height -= 1;
        let last = Rect {
            y: area.bottom(),
            height: 1,
            ..area
        };
        put(
            Line::styled(tensors, look.style(Paint::Faint)),
            0,
            last,
            buffer,
        );
    }
    let grown = run.grown();
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

/// `WHAT  +11.6 GiB since step 10: trainer anonymous +11.5 GiB · 2 others +1.0 MiB · 6,529 tensors (+0)`
fn line(run: &RunState, look: &Look, columns: usize) -> Line<'static> {
    let grown = run.grown();
    let begin = format!("{} since {}", total(&grown), marker_words(run));
    let tensors = tensors(run).map_or_else(String::new, |text| format!(" · {text}"));
    let room = columns.saturating_sub(6 + width(&begin) + width(&tensors));
    Line::from_iter([
        Span::styled("WHAT  ", look.style(Paint::Heading)),
        Span::styled(begin, look.style(Paint::Strong)),
        Span::raw(parts(&grown, room)),
        Span::styled(tensors, look.style(Paint::Faint)),
    ])
}

/// As many parts as fit, what is left counted together.
fn parts(grown: &[Grown], columns: usize) -> String {
    (0..=grown.len())
        .rev()
        .map(|count| parts_in_words(&grown[..count], &grown[count..]))
        .find(|text| width(text) <= columns)
        .unwrap_or_default()
}

fn parts_in_words(named: &[Grown], rest: &[Grown]) -> String {
    let mut words: Vec<String> = named
        .iter()
        .map(|part| format!("{} {}", name(part), part.by))
        .collect();
    let others = total(rest);
    if named.is_empty() {
        return String::new();
    }
    if !rest.is_empty() {
        words.push(format!("{} others {others}", rest.len()));
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
    let kind = kind_words(part.kind);
    let kind = kind.strip_suffix(" memory").unwrap_or(kind);
    format!("{} {kind}", part.role.name().replace('-', " "))
}

fn total(grown: &[Grown]) -> ByteDelta {
    grown.iter().fold(ByteDelta(0), |sum, part| sum + part.by)
}

/// `tensors level at 6,529`, where the training tells.
fn tensors(run: &RunState) -> Option<String> {
    let now = run.sample()?.progress.tensors?;
    let count = thousands(now);
    Some(match run.marker()?.tensors {
        Some(before) if before == now => format!("tensors level at {count}"),
        Some(before) => {
            let sign = if now > before { '+' } else { '-' };
            let moved = thousands(now.abs_diff(before));
            format!("tensors {sign}{moved} to {count}")
        }
        None => format!("{count} tensors"),
    })
}
