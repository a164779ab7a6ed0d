//! A line a second of a run that goes on: how far, how much, and what can be said so far.

use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::sample::{Sample, TreeMemory};
use leveloff_model::units::{Seconds, Step};
use leveloff_report::verdict::text::headline;
use leveloff_text::page::{WIDTH, columns};
use leveloff_text::paint::Paint;
use leveloff_text::verdict::{brief, growth};

use crate::summary::rss_misleads;

/// Where the words begin: behind a mark, the time, the step and the memory.
const WORDS_BEGIN: usize = 28;

/// Room for them.
const ROOM: usize = WIDTH - WORDS_BEGIN;

/// Time between lines.
const EVERY: Seconds = Seconds(1.0);

/// Makes the lines, and knows what was said last.
#[derive(Debug)]
pub(crate) struct LiveTable {
    paint: Paint,
    planned: Step,
    due: Seconds,
    said: Option<Verdict>,
    explained_rss: bool,
}

impl LiveTable {
    /// A table for a training of so many steps.
    pub(crate) fn new(paint: Paint, steps: u64) -> LiveTable {
        LiveTable {
            paint,
            planned: Step(steps),
            due: EVERY,
            said: None,
            explained_rss: false,
        }
    }

    /// What stands above the columns.
    pub(crate) fn head() -> String {
        row(' ', "time", "step", "memory", "verdict so far")
    }

    /// Whether a second is over.
    pub(crate) fn is_due(&self, t: Seconds) -> bool {
        t.0 >= self.due.0
    }

    /// The line for this moment. It stands out when the verdict is another than before: by a mark, by
    /// capitals and, where that can be seen, by colour.
    pub(crate) fn lines(&mut self, sample: &Sample, verdict: Option<&RunVerdict>) -> String {
        // A look that came late is not made up for.
        self.due = Seconds(sample.t.0.floor() + EVERY.0);
        let memory = sample.tree();
        let is_new = verdict
            .is_some_and(|verdict| self.said.replace(verdict.verdict) != Some(verdict.verdict));
        let words = match verdict {
            Some(verdict) if is_new => changed(verdict, self.paint),
            Some(verdict) => unchanged(verdict, &memory),
            None => "nothing seen yet".to_owned(),
        };
        let mark = if is_new { '▶' } else { ' ' };
        let time = format!("{:.0} s", sample.t.0.floor());
        let step = sample
            .progress
            .step
            .map_or_else(|| "–".to_owned(), |step| format!("{step}/{}", self.planned));
        let mut lines = row(mark, &time, &step, &memory.total.to_string(), &words);
        if misleads(&memory) && !std::mem::replace(&mut self.explained_rss, true) {
            lines += &remark("RSS counts shared pages once for each process:");
            lines += &remark(&format!("its sum says {} for {}", memory.rss, memory.total));
        }
        lines
    }
}

fn changed(verdict: &RunVerdict, paint: Paint) -> String {
    let width = columns(&headline(verdict, Paint::Plain));
    if width > ROOM {
        return brief(verdict);
    }
    let words = headline(verdict, paint);
    with_tail(words, width, growth(verdict))
}

fn unchanged(verdict: &RunVerdict, memory: &TreeMemory) -> String {
    let words = brief(verdict);
    let width = columns(&words);
    let words = with_tail(words, width, growth(verdict));
    let width = columns(&words);
    let rss = misleads(memory).then(|| format!("RSS sum {}", memory.rss));
    with_tail(words, width, rss)
}

/// Puts `tail` behind the words if that fits; the verdict in the end has all of it.
fn with_tail(words: String, width: usize, tail: Option<String>) -> String {
    match tail {
        Some(tail) if width + 3 + columns(&tail) <= ROOM => format!("{words} · {tail}"),
        _ => words,
    }
}

/// A single process shares no pages within the run.
fn misleads(memory: &TreeMemory) -> bool {
    memory.processes > 1 && rss_misleads(memory.rss, memory.total)
}

fn row(mark: char, time: &str, step: &str, memory: &str, words: &str) -> String {
    format!("{mark}{time:>5}  {step:>8}  {memory:>8}  {words}\n")
}

fn remark(text: &str) -> String {
    format!("{:WORDS_BEGIN$}{text}\n", "")
}
