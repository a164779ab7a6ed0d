//! The first line: what is watched, how far it is, and what watching costs.

use leveloff_model::process::Role;
use leveloff_model::sample::Sample;
use leveloff_model::units::Seconds;
use leveloff_text::number::thousands;
use leveloff_text::steps;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::since::clock;
use super::text::{cut, padded, put, put_right, width};
use crate::dashboard::Dashboard;
use crate::event::{Mode, ReplayPosition};
use crate::run::RunState;
use crate::theme::{Paint, Styles};

/// The name of the program.
const NAME: &str = "leveloff  ";
/// The title is never cut below this.
const TITLE_LEAST: usize = 12;
/// Columns of the badge at most.
const BADGE_MOST: usize = 32;

/// Draws it.
pub fn draw(dashboard: &Dashboard, styles: &Styles, area: Rect, buffer: &mut Buffer) {
    let area = padded(area);
    let badge = badge(dashboard);
    let title = &dashboard.subject.title;
    let taken = width(NAME) + badge.as_ref().map_or(0, |(text, _)| width(text) + 3);
    let room = usize::from(area.width).saturating_sub(taken);
    let least = width(title).min(TITLE_LEAST);
    let facts = longest(facts(dashboard), room.saturating_sub(least));
    let room = room.saturating_sub(width(&facts));
    let cost = longest(costs(dashboard.run()), room.saturating_sub(least + 2));

    let mut line = Line::from(Span::styled(NAME, styles.get(Paint::Accent).bold()));
    if let Some((text, paint)) = badge {
        line.push_span(Span::styled(format!(" {text} "), styles.badge(paint)));
        line.push_span(Span::raw(" "));
    }
    let room = room.saturating_sub(width(&cost) + 2 * usize::from(!cost.is_empty()));
    line.push_span(Span::styled(cut(title, room), styles.get(Paint::Strong)));
    line.push_span(Span::raw(facts));
    put(line, 0, area, buffer);
    let cost = Line::styled(cost, styles.get(Paint::Faint));
    put_right(cost, 0, area, buffer);
}

/// The first that fits.
fn longest(texts: Vec<String>, columns: usize) -> String {
    let mut texts = texts.into_iter();
    let fits = texts.find(|text| width(text) <= columns);
    fits.unwrap_or_default()
}

/// What differs from a live view.
fn badge(dashboard: &Dashboard) -> Option<(String, Paint)> {
    if dashboard.is_frozen() {
        return Some((frozen(dashboard), Paint::Accent));
    }
    if let Some(how) = dashboard.ended() {
        return Some((cut(&format!("ENDED {how}"), BADGE_MOST), Paint::Plain));
    }
    match (dashboard.replay, dashboard.subject.mode) {
        (Some(position), _) => Some((replaying(position), Paint::Accent)),
        (None, Mode::Follow) => Some(("FOLLOWING".to_owned(), Paint::Plain)),
        (None, _) => None,
    }
}

fn frozen(dashboard: &Dashboard) -> String {
    let at = |run: &RunState| run.sample().map_or(Seconds(0.0), |sample| sample.t);
    let behind = at(dashboard.live_run()) - at(dashboard.run());
    if behind.0 > 0.0 {
        format!("FROZEN {behind} ago")
    } else {
        "FROZEN".to_owned()
    }
}

fn replaying(position: ReplayPosition) -> String {
    let end = position
        .end
        .map_or_else(String::new, |end| format!("/{}", clock(end)));
    let place = format!("{}{end}", clock(position.at));
    if position.paused {
        format!("PAUSED {place}")
    } else {
        format!("REPLAY {place} ×{}", short(position.speed, 2))
    }
}

/// ` · pid 22180 · step 80/663 · 7:12`, the longest first.
fn facts(dashboard: &Dashboard) -> Vec<String> {
    let run = dashboard.run();
    let Some(sample) = run.sample() else {
        return Vec::new();
    };
    // The badge of a replay shows the time.
    let is_replaying = dashboard.replay.is_some() && dashboard.ended().is_none();
    let time = (!is_replaying).then(|| clock(sample.t));
    // A title may be all that is known of who it is.
    let who = who(run).filter(|who| *who != dashboard.subject.title);
    let step = step(run, sample);
    let source = steps::source_words(&sample.progress).map(|source| format!("steps: {source}"));
    let short = steps::position(&sample.progress);
    let joined = |facts: &[&Option<String>]| {
        let facts = facts.iter().copied().flatten();
        facts.map(|fact| format!(" · {fact}")).collect::<String>()
    };
    vec![
        joined(&[&who, &step, &time, &source]),
        joined(&[&who, &step, &time]),
        joined(&[&step, &time]),
        joined(&[&step]),
        joined(&[&short]),
    ]
}

fn who(run: &RunState) -> Option<String> {
    let account = run.account()?;
    if run.is_machine {
        return Some(format!("{} processes", account.alive().count()));
    }
    let ranks = account.ranks().len();
    if ranks > 1 {
        return Some(format!("{ranks} ranks"));
    }
    let trainer = account.alive().find(|one| one.role == Role::Trainer);
    let process = trainer.or_else(|| account.alive().next())?;
    Some(format!("pid {}", process.pid))
}

fn step(run: &RunState, sample: &Sample) -> Option<String> {
    let position = steps::position(&sample.progress)?;
    let planned = sample.progress.planned_steps.or(run.stated.planned_steps);
    let of = planned.map_or_else(String::new, |of| format!("/{}", thousands(of.0)));
    Some(format!("{position}{of}"))
}

/// The sampling interval and its cost, the longest text first.
fn costs(run: &RunState) -> Vec<String> {
    let Some(sample) = run.sample() else {
        return Vec::new();
    };
    let every = run.interval.map_or_else(String::new, |each| match each.0 {
        fast if fast < 1.0 => format!("{:.0} ms", fast * 1000.0),
        slow => format!("{} s", short(slow, 1)),
    });
    if sample.t.0 <= 0.0 || sample.cost.rss.0 == 0 {
        return vec![every];
    }
    let percent = sample.cost.cpu.0 as f64 / 10.0 / sample.t.0;
    let memory = sample.cost.rss;
    vec![
        format!("every {every}, costs {percent:.2} % CPU and {memory}"),
        format!("{every} · {percent:.2} % CPU · {memory}"),
        format!("{every} · {percent:.2} %"),
        every,
    ]
}

/// With at most so many decimals, without trailing zeros.
fn short(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
