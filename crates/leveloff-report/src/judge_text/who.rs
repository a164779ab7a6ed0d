//! Where it leads, who and what grows, and what to try next.

use leveloff_classifier::verdict::{Blame, Clock, ClockTick, Kind, Risk, RunVerdict, Verdict};
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
    let named = run.blame.iter().take(PARTS_NAMED);
    let named: Vec<&Blame> = named
        .filter(|blame| blame.share.abs() >= SHARE_NAMED)
        .collect();
    let mut label = "who";
    for blame in &named {
        page.row(label, &blame_words(blame));
        label = "";
    }
    let rest: f64 = run
        .blame
        .iter()
        .skip(named.len())
        .map(|blame| blame.share)
        .sum();
    if rest.abs() >= SHARE_NAMED {
        page.row(label, &format!("others: {:.0} %", rest * 100.0));
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
    let grows = matches!(run.verdict, Verdict::Leak(_) | Verdict::WarmingUp);
    if grows && run.blame.is_empty() && run.findings.is_empty() {
        page.row(
            "next",
            "leveloff run -- CMD, or leveloff record --pid PID -o FILE: a recording also tells \
             which process and which kind of memory grows",
        );
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

fn blame_words(blame: &Blame) -> String {
    let who = match (blame.role, blame.pid) {
        (Some(role), Some(pid)) => format!("{role} (pid {pid})"),
        (Some(role), None) => role.to_string(),
        (None, _) => "no process".to_owned(),
    };
    let share = blame.share * 100.0;
    let kind = kind_words(blame.kind);
    match blame.kind {
        Kind::Descriptors => format!("{who}: {share:.0} %, {:+.0} {kind}", blame.growth),
        _ => {
            let growth = ByteDelta(blame.growth.round() as i64);
            format!("{who}: {share:.0} %, {growth} of {kind}")
        }
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
