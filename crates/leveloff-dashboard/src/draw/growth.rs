//! What grew, by role and kind: the parts add up to the growth of the run.

use leveloff_classifier::run_analysis::{PartAccount, RunAccount};
use leveloff_model::process::Role;
use leveloff_model::units::{ByteDelta, Bytes};
use leveloff_text::since::since_words;
use leveloff_text::subject::kind_words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::bars::bar;
use super::counters;
use super::text::{left_aligned, padded, put, right_aligned, width};
use super::{below_heading, heading};
use crate::dashboard::Dashboard;
use crate::theme::{Paint, Styles};

/// Columns of an amount.
const AMOUNT: usize = 9;
/// Columns of a bar at most.
const BAR_MOST: usize = 16;

/// Draws it.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    // Beside the processes there is room for a table.
    let is_beside = area.x > 0;
    let area = padded(area);
    let Some(account) = dashboard.run().account() else {
        return;
    };
    if !is_beside {
        let line = line(account, styles, usize::from(area.width));
        put(line, 0, area, buffer);
        return;
    }
    let rest = format!(
        "since {}: {}",
        since_words(account),
        account.memory.growth()
    );
    heading("WHAT GREW", &rest, styles, area, buffer);
    draw_table(account, styles, below_heading(area), buffer);
}

fn draw_table(account: &RunAccount, styles: &Styles, mut area: Rect, buffer: &mut Buffer) {
    let parts = &account.parts;
    for text in counter_lines(account, area).into_iter().rev() {
        let last = area.height.saturating_sub(1);
        let line = Line::styled(text, styles.get(Paint::Faint));
        put(line, usize::from(last), area, buffer);
        area.height = last;
    }
    let (named, rest) = split(parts, usize::from(area.height));
    let most = parts.first().map_or(0, |part| part.growth().0.abs());
    let columns = usize::from(area.width);
    for (row, part) in named.iter().enumerate() {
        let by = part.growth();
        let share = by.0.abs() as f64 / most.max(1) as f64;
        let line = table_line(&name(part), by, Some((share, part.now)), columns, styles);
        put(line, row, area, buffer);
    }
    if !rest.is_empty() {
        let others = format!("{} others", rest.len());
        let line = table_line(&others, total(rest), None, columns, styles);
        put(line, named.len(), area, buffer);
    }
}

/// The training's counters, below the parts. Tensors come first; the rest has what room the parts leave.
fn counter_lines(account: &RunAccount, area: Rect) -> Vec<String> {
    let left = usize::from(area.height).saturating_sub(account.parts.len());
    let mut lines = counters::words(account);
    lines.retain(|text| width(text) <= usize::from(area.width));
    lines.truncate(left.max(1));
    lines
}

fn table_line(
    name: &str,
    by: ByteDelta,
    share_and_now: Option<(f64, Bytes)>,
    columns: usize,
    styles: &Styles,
) -> Line<'static> {
    let share = share_and_now.map_or(0.0, |(share, _)| share);
    let to = share_and_now.map_or_else(String::new, |(_, now)| format!("to {now}"));
    let bar_columns = (columns / 5).min(BAR_MOST);
    let name_columns = columns.saturating_sub(2 * AMOUNT + bar_columns + 6);
    let paint = match by.0 {
        0 => Paint::Faint,
        _ => Paint::Plain,
    };
    Line::from_iter([
        Span::styled(left_aligned(name, name_columns), styles.get(paint)),
        Span::styled(
            right_aligned(&by.to_string(), AMOUNT + 1),
            styles.get(paint),
        ),
        Span::raw("  "),
        Span::styled(
            left_aligned(&bar(share, bar_columns), bar_columns),
            styles.get(Paint::Accent),
        ),
        Span::styled(right_aligned(&to, AMOUNT + 3), styles.get(Paint::Faint)),
    ])
}

/// `WHAT  +11.6 GiB since step 10, all trainer anonymous · tensors level at 6,529 · malloc +11.5 GiB in use`
fn line(account: &RunAccount, styles: &Styles, columns: usize) -> Line<'static> {
    let begin = format!("{} since {}", account.memory.growth(), since_words(account));
    let room = columns.saturating_sub(width("WHAT  ") + width(&begin));
    let (parts, counters) = parts_and_counters(&account.parts, &counters::words(account), room);
    Line::from_iter([
        Span::styled("WHAT  ", styles.get(Paint::Heading)),
        Span::styled(begin, styles.get(Paint::Strong)),
        Span::raw(parts),
        Span::styled(counters, styles.get(Paint::Faint)),
    ])
}

/// Parts are worth more than counters. The first counter stands beside at least one part, the others
/// where they take no room from the parts.
fn parts_and_counters(parts: &[PartAccount], counters: &[String], room: usize) -> (String, String) {
    let beside = |counters: &[String]| {
        let counters: String = counters.iter().map(|text| format!(" · {text}")).collect();
        let parts = parts_that_fit(parts, room.checked_sub(width(&counters))?)?;
        Some((parts, counters))
    };
    let first = &counters[..counters.len().min(1)];
    let Some(least) = beside(first).or_else(|| beside(&[])) else {
        return Default::default();
    };
    let all = beside(counters).filter(|(parts, _)| *parts == least.0);
    all.unwrap_or(least)
}

/// As many parts as fit, what is left counted together.
fn parts_that_fit(parts: &[PartAccount], columns: usize) -> Option<String> {
    let has_moved = |part: &&PartAccount| part.growth().0 != 0;
    let moved: Vec<PartAccount> = parts.iter().filter(has_moved).copied().collect();
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

fn parts_in_words(named: &[PartAccount], rest: &[PartAccount]) -> String {
    let mut words: Vec<String> = named
        .iter()
        .map(|part| format!("{} {}", name(part), part.growth()))
        .collect();
    if !rest.is_empty() {
        words.push(format!("{} others {}", rest.len(), total(rest)));
    }
    format!(": {}", words.join(" · "))
}

/// Those that have a line of their own, and those that are counted together.
fn split(parts: &[PartAccount], room: usize) -> (&[PartAccount], &[PartAccount]) {
    let named = if parts.len() > room {
        room.saturating_sub(1)
    } else {
        parts.len()
    };
    parts.split_at(named)
}

/// `trainer anonymous`
fn name(part: &PartAccount) -> String {
    format!("{} {}", part.role.name().replace('-', " "), kind(part))
}

fn kind(part: &PartAccount) -> &'static str {
    let kind = kind_words(part.kind);
    kind.strip_suffix(" memory").unwrap_or(kind)
}

fn total(parts: &[PartAccount]) -> ByteDelta {
    let growths = parts.iter().map(PartAccount::growth);
    growths.fold(ByteDelta(0), |sum, growth| sum + growth)
}
