//! The lines below the banner: the numbers of the verdict, and what follows.

use leveloff_classifier::run_analysis::RunAccount;
use leveloff_classifier::verdict::{Grade, Reason, RunVerdict, Verdict};
use leveloff_model::sample::Sample;
use leveloff_model::units::Bytes;
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

use super::text;
use super::text::{Part, joined, padded, program, put};
use crate::dashboard::Dashboard;
use crate::run::RunState;
use crate::table::{self, Row};
use crate::view::TableView;

/// A sum of RSS that is so many times the memory misleads.
const MISLEADS: f64 = 1.25;

/// Processes of a machine that are named among those that grow, in so many columns each.
const GROWERS_NAMED: usize = 5;
const PROGRAM_MOST: usize = 20;

/// Draws them.
pub fn draw(dashboard: &Dashboard, area: Rect, buffer: &mut Buffer) {
    let inner = padded(area);
    for (row, line) in lines(dashboard, inner).iter().enumerate() {
        put(line.as_str(), row, inner, buffer);
    }
}

/// As many lines as there is room for.
fn lines(dashboard: &Dashboard, inner: Rect) -> Vec<String> {
    let run = dashboard.run();
    let columns = usize::from(inner.width);
    let Some((account, sample)) = run.account().zip(run.sample()) else {
        let title = &dashboard.subject.title;
        return vec![format!("{title} has not been measured yet")];
    };
    let (first, second) = match run.verdict() {
        Some(verdict) => {
            let mut later = later(verdict, account, run);
            later.push(Headline::of(verdict).facts().join(" · ").into());
            (now(verdict, run, account), later)
        }
        None => (growers(run), of_machine(sample)),
    };
    vec![joined(&first, columns), joined(&second, columns)]
}

/// The state now, the most important first.
fn now(verdict: &RunVerdict, run: &RunState, account: &RunAccount) -> Vec<Part> {
    let holds = holds(account);
    let sentence = Part::from(sentence(verdict, &run.stated));
    let mut parts = match verdict.verdict {
        Verdict::Level(_) => vec![holds, bound(verdict).into(), sentence],
        Verdict::Undecided => vec![holds, sentence],
        Verdict::WarmingUp | Verdict::Leak(_) => growth_part(verdict, account)
            .into_iter()
            .chain([holds, sentence])
            .collect(),
    };
    parts.extend(conversions(verdict));
    parts
}

/// How fast it grows, with the interval if there is room for it.
fn growth_part(verdict: &RunVerdict, account: &RunAccount) -> Option<Part> {
    let verb = if account.is_over { "grew" } else { "growing" };
    let forms = [growth_with_interval(verdict)?, growth(verdict)?];
    let forms = forms.into_iter().map(|growth| format!("{verb} {growth}"));
    Some(Part(forms.collect()))
}

/// `holds 17.0 GiB (RSS says 24.1 GiB)`
fn holds(account: &RunAccount) -> Part {
    let verb = if account.is_over { "held" } else { "holds" };
    let about = match account.estimated() {
        0 => "",
        _ => "about ",
    };
    let memory = account.memory.now;
    let holds = format!("{verb} {about}{memory}");
    let misleads = |rss: &Bytes| rss.0 as f64 > MISLEADS * memory.0 as f64;
    match account.rss.filter(misleads) {
        Some(rss) => Part(vec![format!("{holds} (RSS says {rss})"), holds]),
        None => Part::from(holds),
    }
}

/// The rate in other bases, where it is one of memory.
fn conversions(verdict: &RunVerdict) -> Option<Part> {
    let grows = growth(verdict).is_some() && things(verdict.decisive).is_none();
    let rate = verdict.judgement.rate.filter(|_| grows)?;
    let also = MemoryRate::new(rate, verdict.x_unit).conversions(verdict.pace);
    (!also.is_empty()).then(|| format!("that is {}", also.join(", ")).into())
}

/// The forecast, or what would decide the verdict.
fn later(verdict: &RunVerdict, account: &RunAccount, run: &RunState) -> Vec<Part> {
    let settling = || {
        if account.is_over {
            return Some(Part::from(
                "it ended before that could be decided".to_owned(),
            ));
        }
        let settling = settling(verdict, &run.stated).into_iter().next();
        settling.map(|line| {
            let short = line.split_once(", ").map(|(first, _)| first);
            let forms = std::iter::once(line.as_str()).chain(short);
            Part(forms.map(|line| format!("decided {line}")).collect())
        })
    };
    let who = || verdict.blame.first().map(blame_words).map(Part::from);
    let parts = match verdict.verdict {
        Verdict::Level(_) => vec![Some(calm(verdict).to_owned().into()), sizing(verdict)],
        Verdict::Undecided => vec![settling(), risk(verdict)],
        Verdict::Leak(Grade::Suspected) | Verdict::WarmingUp => {
            vec![risk(verdict), settling(), who()]
        }
        Verdict::Leak(_) => vec![risk(verdict), who()],
    };
    parts.into_iter().flatten().collect()
}

/// What level means here.
fn calm(verdict: &RunVerdict) -> &'static str {
    match verdict.judgement.reason {
        Reason::Immaterial => "growing, so far below the reporting threshold",
        _ => "no leak seen",
    }
}

fn risk(verdict: &RunVerdict) -> Option<Part> {
    let risk = verdict.risk.as_ref()?;
    let mut forms = vec![risk_words(risk, verdict)];
    forms.extend(short_risk_words(risk, verdict));
    Some(Part(forms))
}

/// How much memory it needs; the short form without the numbers behind it.
fn sizing(verdict: &RunVerdict) -> Option<Part> {
    let full = Sizing::of_memory(&verdict.memory)?.line();
    let short = full.split_once("→ ").map(|(_, needed)| needed.to_owned());
    Some(Part(std::iter::once(full).chain(short).collect()))
}

/// `python 4312 +1.2 GiB`, the largest growth first.
fn growers(run: &RunState) -> Vec<Part> {
    let rows: Vec<Row> = table::rows(run, &TableView::default());
    let grew = rows.iter().filter(|row| row.growth().0 > 0);
    let named = grew.take(GROWERS_NAMED).map(|row| {
        let name = text::cut(&program(&row.command), PROGRAM_MOST);
        let pid = row.pid.map_or_else(String::new, |pid| format!(" {pid}"));
        format!("{name}{pid} {}", row.growth())
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
