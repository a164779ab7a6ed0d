//! Where it leads, who and what grows, and what to try next.

use leveloff_classifier::verdict::{
    Blame, Clock, ClockTick, Kind, Risk, RunVerdict, Subject, Verdict,
};
use leveloff_model::process::Role;
use leveloff_model::sample::CeilingKind;
use leveloff_model::units::ByteDelta;

use super::page::Page;
use crate::place::{Place, extent};
use crate::rate::amount;
use crate::subject::kind_words;

/// More parts than this are summed up.
const PARTS_NAMED: usize = 4;

/// A share below this rounds to nothing.
const SHARE_NAMED: f64 = 0.005;

/// If it goes on: when the limit is reached. Needs no verdict.
pub fn write_risk(run: &RunVerdict, page: &mut Page) {
    if let Some(risk) = &run.risk {
        page.row("risk", &risk_words(risk, run));
    }
}

/// Who grew, and which kind of memory.
pub fn write_blame(run: &RunVerdict, page: &mut Page) {
    let is_named = |blame: &&Blame| blame.share.abs() >= SHARE_NAMED;
    let parts: Vec<&Blame> = run.blame.iter().filter(is_named).collect();
    let (named, others) = parts.split_at(parts.len().min(PARTS_NAMED));
    let mut label = "who";
    for blame in named {
        page.row(label, &blame_words(blame));
        label = "";
    }
    let rest: f64 = others.iter().map(|blame| blame.share).sum();
    if rest.abs() >= SHARE_NAMED {
        page.row("", &format!("others: {:.0} %", rest * 100.0));
    }
}

/// What makes it grow, when that is not simply each step.
pub fn write_clock(run: &RunVerdict, page: &mut Page) {
    if let Some(clock) = run.clock.as_ref().filter(|c| c.tick != ClockTick::Step) {
        page.row("when", &clock_words(clock, run));
    }
}

/// What else was found, each with the next step.
pub fn write_findings(run: &RunVerdict, page: &mut Page) {
    let mut label = "found";
    for finding in &run.findings {
        page.row(label, &format!("{}: {}", finding.name, finding.text));
        if !finding.next.is_empty() {
            page.hanging("", &format!("→ {}", finding.next), 2);
        }
        label = "";
    }
    if run.findings.is_empty()
        && let Some(next) = what_to_try(run)
    {
        page.row("next", next);
    }
}

/// The next step when growth is all that is known, or when it is known whose it is, but not what.
fn what_to_try(run: &RunVerdict) -> Option<&'static str> {
    let grows = matches!(run.verdict, Verdict::Leak(_) | Verdict::WarmingUp);
    match run.blame.first() {
        _ if !grows => None,
        None => Some(
            "leveloff run -- CMD, or leveloff record --pid PID -o FILE: a recording also tells \
             which process and which kind of memory grows",
        ),
        Some(blame) if blame.role != Some(Role::Trainer) || blame.kind != Kind::Anonymous => None,
        Some(_)
            if run
                .subjects
                .iter()
                .any(|(subject, _)| *subject == Subject::Tensors) =>
        {
            Some("`memray run --native` names the code that allocates")
        }
        Some(_) => Some(
            "have the training tell how many tensors live: if they grow along, references are \
             kept; if not, `memray run --native` names the native code that allocates",
        ),
    }
}

fn risk_words(risk: &Risk, run: &RunVerdict) -> String {
    let place = Place::new(risk.at_x, run.x_unit);
    let place = place.with_range(risk.earliest_x, risk.latest_x);
    let time = risk
        .in_time
        .map_or_else(String::new, |time| format!(", in about {time}"));
    let limit = risk.limit;
    let what = match risk.kind {
        CeilingKind::Cgroup => "what the control group allows",
        CeilingKind::Rlimit => "what its own rlimit allows",
        CeilingKind::Host => "what the machine has for it",
        CeilingKind::Stated => "the stated limit",
    };
    format!("if it goes on, {limit} ({what}) is reached at {place}{time}")
}

/// `trainer (pid 22180): 98 %, +1.8 GiB of anonymous memory`
fn blame_words(blame: &Blame) -> String {
    let who = match (blame.role, blame.pid) {
        (Some(role), Some(pid)) => format!("{role} (pid {pid})"),
        (Some(role), None) => role.to_string(),
        (None, _) => "no process".to_owned(),
    };
    let kind = kind_words(blame.kind);
    let growth = match blame.kind {
        Kind::Descriptors => format!("{:+.0} {kind}", blame.growth),
        _ => format!("{} of {kind}", ByteDelta(blame.growth.round() as i64)),
    };
    // What gave memory back has no share in the growth; the others have more than all of it.
    if blame.share < 0.0 {
        format!("{who}: shrank meanwhile, {growth}")
    } else {
        format!("{who}: {:.0} %, {growth}", blame.share * 100.0)
    }
}

fn clock_words(clock: &Clock, run: &RunVerdict) -> String {
    let what = match clock.tick {
        ClockTick::Step => "each step",
        ClockTick::Evaluation => "each evaluation",
        ClockTick::Checkpoint => "each checkpoint",
        ClockTick::Epoch => "each epoch",
        ClockTick::Regular => "something regular",
    };
    let times = match clock.ticks {
        1 => "once so far".to_owned(),
        ticks => format!("{ticks} times so far"),
    };
    let every = clock.every.map_or_else(String::new, |every| {
        format!(", about every {}", extent(every, run.x_unit))
    });
    format!("{what} adds {}: {times}{every}", amount(clock.growth))
}
