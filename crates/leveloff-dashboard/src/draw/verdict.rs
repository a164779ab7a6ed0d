//! The verdict in its box: readable from across the room, and up close with its numbers.

use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::sample::{Sample, TreeMemory};
use leveloff_report::rate::MemoryRate;
use leveloff_report::subject::things;
use leveloff_report::words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::since::marker_words;
use super::text::{joined, put, put_right, width};
use super::{boxed, text};
use crate::dashboard::Dashboard;
use crate::run::RunState;
use crate::table::Row;
use crate::theme::{Look, Paint};

/// A sum of RSS that is so many times the memory misleads.
const MISLEADS: f64 = 1.25;

/// The first words, and what stands behind them in the border.
struct Title {
    words: String,
    rest: String,
    paint: Paint,
    /// How much was seen.
    facts: String,
}

/// Draws it.
pub fn draw(dashboard: &Dashboard, look: &Look, area: Rect, buffer: &mut Buffer) {
    let title = Title::of(dashboard);
    let line = Line::from_iter([
        Span::raw(" "),
        Span::styled(format!(" {} ", title.words), look.badge(title.paint)),
        Span::styled(format!(" {} ", title.rest), look.style(title.paint).bold()),
    ]);
    let free = usize::from(area.width).saturating_sub(line.width() + 4);
    let inner = boxed(line, title.paint, look, area, buffer);
    if width(&title.facts) + 2 <= free {
        let facts = Line::styled(format!(" {} ", title.facts), look.style(Paint::Faint));
        let border = Rect { y: area.y, ..inner };
        put_right(facts, 0, border, buffer);
    }
    for (row, line) in lines(dashboard, inner).iter().enumerate() {
        put(line.as_str(), row, inner, buffer);
    }
}

impl Title {
    fn of(dashboard: &Dashboard) -> Title {
        let run = dashboard.run();
        match run.verdict() {
            _ if run.is_machine() && run.sample().is_some() => Title {
                words: "SYSTEM".to_owned(),
                rest: format!("top growers since {}", marker_words(run)),
                paint: Paint::Accent,
                facts: String::new(),
            },
            Some(verdict) => Title::of_verdict(verdict),
            None => Title {
                words: "WAITING".to_owned(),
                rest: waiting_for(dashboard).to_owned(),
                paint: Paint::Unsure,
                facts: String::new(),
            },
        }
    }

    fn of_verdict(verdict: &RunVerdict) -> Title {
        let headline = words::Headline::of(verdict);
        Title {
            words: headline.words().to_owned(),
            rest: headline.rest.trim_start_matches([':', ',', ' ']).to_owned(),
            paint: Paint::from(verdict.verdict),
            facts: headline.facts().join(" · "),
        }
    }
}

fn waiting_for(dashboard: &Dashboard) -> &'static str {
    match (dashboard.run().sample(), dashboard.ended()) {
        (None, None) => "for the first sample",
        (None, Some(_)) => "in vain: it ended before the first sample",
        (Some(_), None) => "for a process to judge",
        (Some(_), Some(_)) => "in vain: it ended before anything could be judged",
    }
}

/// As many lines as there is room for.
fn lines(dashboard: &Dashboard, inner: Rect) -> Vec<String> {
    let run = dashboard.run();
    let columns = usize::from(inner.width);
    let Some(sample) = run.sample() else {
        return vec![format!(
            "{} has not been measured yet",
            dashboard.subject().title
        )];
    };
    let (first, second) = match run.verdict() {
        Some(verdict) => (now(verdict, run, sample), later(verdict, run, columns)),
        None => (growers(dashboard), of_machine(sample)),
    };
    if inner.height >= 2 {
        return vec![joined(&first, columns), joined(&second, columns)];
    }
    // In one line, where it leads is worth more than what else can be said of now.
    let mut all = first;
    let rest = all.split_off(all.len().min(2));
    all.extend(second);
    all.extend(rest);
    vec![joined(&all, columns)]
}

/// How it is now, what matters most first.
fn now(verdict: &RunVerdict, run: &RunState, sample: &Sample) -> Vec<String> {
    let holds = holds(&sample.tree());
    let sentence = words::sentence(verdict, run.stated());
    let mut parts = match verdict.verdict {
        Verdict::Level => vec![holds, bound(verdict), sentence],
        Verdict::Undecided => vec![holds, sentence],
        Verdict::WarmingUp | Verdict::Leak(_) => match words::growth_with_interval(verdict) {
            Some(growth) => vec![format!("growing {growth}"), holds, sentence],
            None => vec![holds, sentence],
        },
    };
    parts.extend(conversions(verdict));
    parts
}

/// `holds 17.0 GiB (RSS says 24.1 GiB)`
fn holds(tree: &TreeMemory) -> String {
    let about = if tree.unread > 0 { "about " } else { "" };
    let misleads = tree.rss.0 as f64 > MISLEADS * tree.total.0 as f64;
    let rss = if misleads {
        format!(" (RSS says {})", tree.rss)
    } else {
        String::new()
    };
    format!("holds {about}{}{rss}", tree.total)
}

fn bound(verdict: &RunVerdict) -> String {
    let rate = verdict.judgement.rate;
    let at_most = rate.and_then(|rate| MemoryRate::new(rate, verdict.x_unit).at_most());
    at_most.map_or_else(
        || "no growth".to_owned(),
        |at_most| format!("no growth faster than {at_most}"),
    )
}

/// The rate in other bases, where it is one of memory.
fn conversions(verdict: &RunVerdict) -> Option<String> {
    let grows = words::growth(verdict).is_some() && things(verdict.decisive).is_none();
    let rate = verdict.judgement.rate.filter(|_| grows)?;
    let also = MemoryRate::new(rate, verdict.x_unit).conversions(verdict.pace);
    (!also.is_empty()).then(|| format!("= {}", also.join(" = ")))
}

/// Where it leads, or what would settle it.
fn later(verdict: &RunVerdict, run: &RunState, columns: usize) -> Vec<String> {
    let settling = || {
        let settling = words::settling(verdict, run.stated());
        settling
            .into_iter()
            .next()
            .map(|line| format!("decided {line}"))
    };
    let risk = risk(verdict, columns);
    let who = verdict.blame.first().map(words::blame_words);
    let parts = match verdict.verdict {
        Verdict::Level => vec![sizing(verdict, columns)],
        Verdict::Undecided => vec![settling(), risk],
        Verdict::WarmingUp => vec![risk, settling(), who],
        Verdict::Leak(_) => vec![risk, who],
    };
    parts.into_iter().flatten().collect()
}

fn risk(verdict: &RunVerdict, columns: usize) -> Option<String> {
    let risk = verdict.risk.as_ref()?;
    let full = words::risk_words(risk, verdict);
    Some(if width(&full) <= columns {
        full
    } else {
        words::short_risk_words(risk, verdict)
    })
}

/// How much memory it needs; where there is little room, without where that comes from.
fn sizing(verdict: &RunVerdict, columns: usize) -> Option<String> {
    let full = words::sizing(&verdict.memory)?;
    let short = full.split_once("→ ").map(|(_, needed)| needed.to_owned());
    Some(if width(&full) <= columns {
        full
    } else {
        short.unwrap_or(full)
    })
}

/// `python 4312 +1.2 GiB`, who grew most first.
fn growers(dashboard: &Dashboard) -> Vec<String> {
    let mut rows: Vec<Row> = dashboard.rows();
    rows.retain(|row| row.growth.0 > 0);
    rows.sort_by_key(|row| std::cmp::Reverse(row.growth.0));
    let named = rows.iter().take(5).map(|row| {
        let name = row.command.split_whitespace().next().unwrap_or("?");
        let name = name.rsplit('/').next().unwrap_or(name);
        let pid = row.pid.map_or_else(String::new, |pid| format!(" {pid}"));
        format!("{}{pid} {}", text::cut(name, 20), row.growth)
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() {
        vec!["nothing grew".to_owned()]
    } else {
        named
    }
}

fn of_machine(sample: &Sample) -> Vec<String> {
    let machine = &sample.machine;
    let memory = machine.available.zip(machine.total);
    let swap = machine.swap_used.zip(machine.swap_total);
    [
        memory.map(|(left, all)| format!("{left} of {all} available")),
        swap.map(|(used, all)| format!("{used} of {all} swap in use")),
        machine
            .pressure_some
            .map(|percent| format!("tasks waited for memory {percent:.1} % of the time")),
    ]
    .into_iter()
    .flatten()
    .collect()
}
