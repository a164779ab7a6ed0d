//! A verdict for people: the verdict first, then the evidence, the risk, who and what grows, and
//! what to do next. Fits into 80 columns.

mod brief;
mod evidence;
mod headline;
mod page;
mod paint;
mod reason;
mod sizing;
mod table;
mod who;

pub use brief::{brief, growth, headline};
pub use page::{Page, WIDTH, columns};
pub use paint::Paint;
pub use table::{Table, Tally};

use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::printable;
use leveloff_model::units::Bytes;

use crate::judged::Judged;
use crate::place::Place;
use headline::Headline;

/// The whole screen for one input.
pub fn block(judged: &Judged, paint: Paint) -> String {
    let name = printable(judged.input.as_bytes());
    let mut page = Page::new();
    Headline::of(judged.verdict).write(&name, paint, &mut page);
    page.gap();
    evidence::write(judged, &mut page);
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
    parts.extend(brief::growth_with_interval(verdict));
    if let Some(risk) = &verdict.risk {
        let place = Place::new(risk.at_x, verdict.x_unit);
        parts.push(format!("{} at {place} if it goes on", risk.limit));
    }
    parts.join(" · ")
}

fn write_looks(judged: &Judged, page: &mut Page) {
    if judged.looks.is_empty() {
        return;
    }
    page.gap();
    let mut told = None;
    for look in judged.looks {
        let words = headline::verdict_words(look.verdict);
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

/// An amount of memory out of a statistic.
fn bytes(amount: f64) -> Bytes {
    Bytes(amount.max(0.0).round() as u64)
}

#[cfg(test)]
mod tests;
