//! A verdict for people: the verdict first, then the evidence, the risk, who and what grows, and
//! what to do next. Fits into 80 columns.

mod table;
mod who;

pub use table::Table;

use leveloff_classifier::units::X;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::printable;
use leveloff_text::evidence;
use leveloff_text::judged::Judged;
use leveloff_text::page::{Page, WIDTH, columns};
use leveloff_text::paint::Paint;
use leveloff_text::verdict::{Headline, verdict_words};
use leveloff_text::x_position::XPosition;

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
    who::write_lines(judged.lines, judged.verdict, &mut page);
    who::write_clock(judged.verdict, &mut page);
    page.gap();
    who::write_findings(judged, &mut page);
    write_looks(judged, &mut page);
    for note in judged.notes {
        page.row("note", &printable(note.as_bytes()));
    }
    page.into_text()
}

/// Who and what grows, when, and what was found: what a failed check prints about a run.
pub(crate) fn write_culprits(judged: &Judged, page: &mut Page) {
    let verdict = judged.verdict;
    who::write_risk(verdict, page);
    who::write_blame(verdict, page);
    who::write_clock(verdict, page);
    if !verdict.findings.is_empty() || !verdict.known_bugs.is_empty() {
        who::write_findings(judged, page);
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
    let mut last = None;
    for look in judged.looks {
        let words = verdict_words(look.verdict);
        if last != Some(words) {
            let place = look.x.map_or_else(
                || "before the first count".to_owned(),
                |x| format!("from {}", XPosition::new(X(x), judged.verdict.x_unit)),
            );
            let label = if last.is_none() { "history" } else { "" };
            page.row(label, &format!("{place}: {words}, {}", look.shape.name()));
            last = Some(words);
        }
    }
}

#[cfg(test)]
mod tests;
