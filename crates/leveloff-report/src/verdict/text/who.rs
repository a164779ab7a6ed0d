//! Where it leads, who and what grows, and what to try next.

use leveloff_classifier::allocation_history::LineGrowth;
use leveloff_classifier::verdict::{Blame, ClockTick, RunVerdict};
use leveloff_text::allocation::{self, line_words};
use leveloff_text::finding::finding_words;
use leveloff_text::judged::Judged;
use leveloff_text::known_bug::bug_words;
use leveloff_text::page::Page;
use leveloff_text::verdict::{blame_words, clock_words, risk_words, what_to_try};

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

/// Which line of the program allocated the memory that is not freed.
pub fn write_lines(lines: &[LineGrowth], run: &RunVerdict, page: &mut Page) {
    let mut label = "line";
    for line in allocation::named(lines) {
        page.row(label, &line_words(line, run.x_unit));
        if let Some(source) = allocation::source(line) {
            page.hanging("", &source, 2);
        }
        if let Some(holder) = &line.holder {
            page.hanging("", &allocation::holder_words(holder), 2);
        }
        page.hanging("", &format!("({})", allocation::caution(line)), 2);
        label = "";
    }
}

/// What makes it grow, when that is not simply each step.
pub fn write_clock(run: &RunVerdict, page: &mut Page) {
    if let Some(clock) = run.clock.as_ref().filter(|c| c.tick != ClockTick::Step) {
        page.row("when", &clock_words(clock, run));
    }
}

/// What else was found, each with the next step.
pub fn write_findings(judged: &Judged, page: &mut Page) {
    let run = judged.verdict;
    let mut label = "found";
    for finding in &run.findings {
        let words = finding_words(finding);
        page.row(label, &format!("{}: {}", finding.name(), words.text));
        page.hanging("", &format!("→ {}", words.next), 2);
        if let Some(experiment) = judged.experiment(finding) {
            page.hanging("", &format!("$ {experiment}"), 2);
        }
        label = "";
    }
    let mut label = "known";
    for suspected in &run.known_bugs {
        let words = bug_words(suspected);
        page.row(label, &words.text);
        page.hanging("", &format!("→ {}", words.next), 2);
        page.hanging("", suspected.bug.link, 2);
        label = "";
    }
    if run.findings.is_empty()
        && let Some(next) = what_to_try(run)
    {
        page.row("next", next);
    }
    if let Some(trial) = judged.trial() {
        page.hanging("", &format!("$ {trial}"), 2);
    }
}
