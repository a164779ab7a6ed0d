//! The verdict in its box: readable from across the room, and up close with its numbers.

use leveloff_classifier::verdict::{Because, RunVerdict, Verdict};
use leveloff_model::sample::{Sample, TreeMemory};
use leveloff_text::evidence::bound;
use leveloff_text::rate::MemoryRate;
use leveloff_text::sizing::Sizing;
use leveloff_text::subject::things;
use leveloff_text::verdict::{
    Headline, blame_words, growth, growth_with_interval, risk_words, sentence, settling,
    short_risk_words,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::since::marker_words;
use super::text::{Part, joined, program, put, put_right, width};
use super::{boxed, text};
use crate::dashboard::Dashboard;
use crate::run::RunState;
use crate::table::Row;
use crate::theme::{Look, Paint};

/// A sum of RSS that is so many times the memory misleads.
const MISLEADS: f64 = 1.25;

/// Who is named among those that grow on a machine, in so many columns each.
const GROWERS_NAMED: usize = 5;
const PROGRAM_MOST: usize = 20;

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
        Span::styled(format!(" {} ", title.words), look.badge(title.paint)),
        Span::styled(format!(" {} ", title.rest), look.style(title.paint).bold()),
    ]);
    let free = usize::from(area.width).saturating_sub(line.width() + 4);
    let inner = boxed(line, title.paint, look, area, buffer);
    if !title.facts.is_empty() && width(&title.facts) + 2 <= free {
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
        let headline = Headline::of(verdict);
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
        let title = &dashboard.subject().title;
        return vec![format!("{title} has not been measured yet")];
    };
    let (first, second) = match run.verdict() {
        Some(verdict) => (now(verdict, run, sample), later(verdict, dashboard)),
        None => (growers(dashboard), of_machine(sample)),
    };
    vec![joined(&first, columns), joined(&second, columns)]
}

/// How it is now, what matters most first.
fn now(verdict: &RunVerdict, run: &RunState, sample: &Sample) -> Vec<Part> {
    let holds = holds(&sample.tree());
    let sentence = Part::from(sentence(verdict, run.stated()));
    let mut parts = match verdict.verdict {
        Verdict::Level => vec![holds, bound(verdict).into(), sentence],
        Verdict::Undecided => vec![holds, sentence],
        Verdict::WarmingUp | Verdict::Leak(_) => growth_part(verdict)
            .into_iter()
            .chain([holds, sentence])
            .collect(),
    };
    parts.extend(conversions(verdict));
    parts
}

/// How fast it grows, with the interval if there is room for it.
fn growth_part(verdict: &RunVerdict) -> Option<Part> {
    let forms = [growth_with_interval(verdict)?, growth(verdict)?];
    let forms = forms.into_iter().map(|growth| format!("growing {growth}"));
    Some(Part(forms.collect()))
}

/// `holds 17.0 GiB (RSS says 24.1 GiB)`
fn holds(tree: &TreeMemory) -> Part {
    let about = if tree.unread > 0 { "about " } else { "" };
    let holds = format!("holds {about}{}", tree.total);
    let misleads = tree.rss.0 as f64 > MISLEADS * tree.total.0 as f64;
    if misleads {
        Part(vec![format!("{holds} (RSS says {})", tree.rss), holds])
    } else {
        Part::from(holds)
    }
}

/// The rate in other bases, where it is one of memory.
fn conversions(verdict: &RunVerdict) -> Option<Part> {
    let grows = growth(verdict).is_some() && things(verdict.decisive).is_none();
    let rate = verdict.judgement.rate.filter(|_| grows)?;
    let also = MemoryRate::new(rate, verdict.x_unit).conversions(verdict.pace);
    (!also.is_empty()).then(|| format!("that is {}", also.join(", ")).into())
}

/// Where it leads, or what would settle it.
fn later(verdict: &RunVerdict, dashboard: &Dashboard) -> Vec<Part> {
    let run = dashboard.run();
    let settling = || {
        if dashboard.ended().is_some() {
            return Some(Part::from(
                "it ended before that could be decided".to_owned(),
            ));
        }
        let settling = settling(verdict, run.stated()).into_iter().next();
        settling.map(|line| {
            let short = line.split_once(", ").map(|(first, _)| first);
            let forms = std::iter::once(line.as_str()).chain(short);
            Part(forms.map(|line| format!("decided {line}")).collect())
        })
    };
    let who = || verdict.blame.first().map(blame_words).map(Part::from);
    let parts = match verdict.verdict {
        Verdict::Level => vec![Some(calm(verdict).to_owned().into()), sizing(verdict)],
        Verdict::Undecided => vec![settling(), risk(verdict)],
        Verdict::WarmingUp => vec![risk(verdict), settling(), who()],
        Verdict::Leak(_) => vec![risk(verdict), who()],
    };
    parts.into_iter().flatten().collect()
}

/// How much is meant by level.
fn calm(verdict: &RunVerdict) -> &'static str {
    match verdict.judgement.because {
        Because::Immaterial => "growing, so far below the reporting threshold",
        _ => "no leak seen",
    }
}

fn risk(verdict: &RunVerdict) -> Option<Part> {
    let risk = verdict.risk.as_ref()?;
    let mut forms = vec![risk_words(risk, verdict)];
    forms.extend(short_risk_words(risk, verdict));
    Some(Part(forms))
}

/// How much memory it needs; where there is little room, without where that comes from.
fn sizing(verdict: &RunVerdict) -> Option<Part> {
    let full = Sizing::of_memory(&verdict.memory)?.line();
    let short = full.split_once("→ ").map(|(_, needed)| needed.to_owned());
    Some(Part(std::iter::once(full).chain(short).collect()))
}

/// `python 4312 +1.2 GiB`, who grew most first.
fn growers(dashboard: &Dashboard) -> Vec<Part> {
    let mut rows: Vec<Row> = dashboard.rows();
    rows.retain(|row| row.growth.0 > 0);
    rows.sort_by_key(|row| std::cmp::Reverse(row.growth.0));
    let named = rows.iter().take(GROWERS_NAMED).map(|row| {
        let name = text::cut(&program(&row.command), PROGRAM_MOST);
        let pid = row.pid.map_or_else(String::new, |pid| format!(" {pid}"));
        format!("{name}{pid} {}", row.growth)
    });
    let named: Vec<Part> = named.map(Part::from).collect();
    if named.is_empty() {
        vec!["nothing grew".to_owned().into()]
    } else {
        named
    }
}

fn of_machine(sample: &Sample) -> Vec<Part> {
    let machine = &sample.machine;
    let memory = machine.available.zip(machine.total);
    let swap = machine.swap_used.zip(machine.swap_total);
    let parts = [
        memory.map(|(left, all)| format!("{left} of {all} available")),
        swap.map(|(used, all)| format!("{used} of {all} swap in use")),
        machine
            .pressure_some
            .map(|percent| format!("tasks waited for memory {percent:.1} % of the time")),
    ];
    parts.into_iter().flatten().map(Part::from).collect()
}
