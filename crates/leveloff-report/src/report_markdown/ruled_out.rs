//! What was judged on its own, and does not grow.

use leveloff_classifier::verdict::{Judgement, RunVerdict, Subject, Verdict};

use super::document::Document;
use super::text::prose;
use crate::place::thousands;
use crate::rate::MemoryRate;
use crate::subject::{things, words};
use crate::words::bytes;

/// Writes what was ruled out. Only what was judged level: what was not looked at is not named.
pub(super) fn write(run: &RunVerdict, page: &mut Document) {
    let level = run.subjects.iter().filter(|(subject, judgement)| {
        judgement.verdict == Verdict::Level && is_told(*subject, run)
    });
    let items: Vec<String> = level
        .map(|(subject, judgement)| item(*subject, judgement, run))
        .collect();
    if items.is_empty() {
        return;
    }
    page.heading(match run.verdict {
        Verdict::Level => "Level as well",
        _ => "Ruled out",
    });
    page.list(&items);
}

/// Whole roles and resources; their kinds and single processes would say the same again.
fn is_told(subject: Subject, run: &RunVerdict) -> bool {
    match subject {
        Subject::Memory | Subject::RoleKind(..) | Subject::Process(..) => false,
        Subject::Role(role) => !run
            .blame
            .iter()
            .any(|blame| blame.role == Some(role) && blame.share > 0.0),
        Subject::DevShm
        | Subject::Descriptors
        | Subject::Processes
        | Subject::Tensors
        | Subject::Cuda => subject != run.decisive,
    }
}

/// `live tensors: level at 6,529`
fn item(subject: Subject, judgement: &Judgement, run: &RunVerdict) -> String {
    let at = judgement
        .level
        .map_or_else(String::new, |level| match things(subject) {
            Some(_) => format!(" at {}", thousands(level.max(0.0).round() as u64)),
            None => format!(" at {}", bytes(level)),
        });
    let rate = judgement.rate.filter(|_| things(subject).is_none());
    let at_most = rate.and_then(|rate| MemoryRate::new(rate, run.x_unit).at_most());
    let bound = at_most.map_or_else(String::new, |most| {
        format!(", no growth faster than {most}")
    });
    prose(&format!("{}: level{at}{bound}", words(subject)))
}
