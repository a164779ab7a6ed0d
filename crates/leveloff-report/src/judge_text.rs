//! A verdict for people: the verdict first, then the evidence, the risk, who and what grows, and
//! what to do next. Fits into 80 columns.

pub mod evidence;
mod page;
mod paint;
mod table;
mod who;

pub(crate) use evidence::{bound, memory_beside, warmup};
pub use page::{Page, WIDTH, columns, unbroken};
pub use paint::Paint;
pub use table::{Table, Tally};

use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::printable;

use crate::judged::Judged;
use crate::place::Place;
use crate::words::{Headline, growth_with_interval, verdict_words};

/// The whole screen for one input.
pub fn block(judged: &Judged, paint: Paint) -> String {
    let name = printable(judged.input.as_bytes());
    let mut page = Page::new();
    write_headline(&name, judged.verdict, paint, &mut page);
    page.gap();
    for (label, text) in evidence::rows(judged) {
        page.row(label, &text);
    }
    page.gap();
    who::write_risk(judged.verdict, &mut page);
    who::write_blame(judged.verdict, &mut page);
    who::write_clock(judged.verdict, &mut page);
    page.gap();
    who::write_findings(judged.verdict, &mut page);
    write_looks(judged, &mut page);
    for note in judged.notes {
        page.row("note", &printable(note.as_bytes()));
    }
    page.into_text()
}

/// The verdict in one line, with growth and risk if there is any, as a run's last word.
pub fn line(verdict: &RunVerdict) -> String {
    let mut parts = vec![Headline::of(verdict).whole()];
    parts.extend(growth_with_interval(verdict));
    if let Some(risk) = &verdict.risk {
        let place = Place::new(risk.at_x, verdict.x_unit);
        parts.push(format!("{} at {place} if it goes on", risk.limit));
    }
    parts.join(" · ")
}

/// Who and what grows, when, and what was found: what a failed check tells of a run.
pub(crate) fn write_culprits(verdict: &RunVerdict, page: &mut Page) {
    who::write_risk(verdict, page);
    who::write_blame(verdict, page);
    who::write_clock(verdict, page);
    if !verdict.findings.is_empty() {
        who::write_findings(verdict, page);
    }
}

/// The headline, with its first words in the colour of the verdict.
pub fn headline(verdict: &RunVerdict, paint: Paint) -> String {
    let headline = Headline::of(verdict);
    let words = paint.verdict(verdict.verdict, headline.words());
    format!("{words}{}", headline.rest)
}

/// On one line if it fits, the facts to the right; else one below the other.
fn write_headline(name: &str, verdict: &RunVerdict, paint: Paint, page: &mut Page) {
    let plain = Headline::of(verdict);
    let facts = plain.facts().join(" · ");
    let left = columns(name) + 3 + columns(&plain.whole());
    let painted = headline(verdict, paint);
    if left + 2 + columns(&facts) <= WIDTH {
        let space = WIDTH - left - columns(&facts);
        page.line(format!("{name}   {painted}{:space$}{facts}", ""));
    } else if left <= WIDTH {
        page.line(format!("{name}   {painted}"));
        page.line(format!("  {facts}"));
    } else {
        page.line(name.to_owned());
        page.line(format!("  {painted}"));
        page.line(format!("  {facts}"));
    }
}

fn write_looks(judged: &Judged, page: &mut Page) {
    if judged.looks.is_empty() {
        return;
    }
    page.gap();
    let mut told = None;
    for look in judged.looks {
        let words = verdict_words(look.verdict);
        if told != Some(words) {
            let place = look.x.map_or_else(
                || "before the first count".to_owned(),
                |x| format!("from {}", Place::new(x, judged.verdict.x_unit)),
            );
            let label = if told.is_none() { "history" } else { "" };
            page.row(label, &format!("{place}: {words}, {}", look.shape.name()));
            told = Some(words);
        }
    }
}

#[cfg(test)]
mod tests;
