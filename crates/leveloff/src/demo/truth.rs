//! Whether what was said is what is true.

use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::process::Role;
use leveloff_text::verdict::brief;
use leveloff_text::x_position::XPosition;

use super::catalogue::{TrueVerdict, Truth};

/// What was said otherwise than it is, in words; nothing when all was met.
pub fn misses(truth: &Truth, said: &RunVerdict) -> Vec<String> {
    match (truth.verdict, said.verdict) {
        (TrueVerdict::Level, Verdict::Level) => missing_findings(truth, said),
        (TrueVerdict::Leak, Verdict::Leak(_)) => {
            let mut misses = wrong_blame(truth, said);
            misses.extend(missing_findings(truth, said));
            misses
        }
        _ => vec![format!("said was {}", brief(said))],
    }
}

/// The same for people. `is_short`: the training ended before it had shown its pattern.
pub fn met(truth: &Truth, said: &RunVerdict, is_short: bool) -> String {
    let misses = misses(truth, said);
    if misses.is_empty() {
        return match said.judgement.decided_at_x {
            Some(x) => format!("yes, and said from {} on", XPosition::new(x, said.x_unit)),
            None => "yes".to_owned(),
        };
    }
    let why = if is_short {
        "; the training was too short to show it"
    } else {
        ""
    };
    format!("no: {}{why}", misses.join("; "))
}

/// The largest share of the growth has to be on who keeps it. What belongs to no process, such as a
/// file in /dev/shm, is nobody's.
fn wrong_blame(truth: &Truth, said: &RunVerdict) -> Vec<String> {
    let Some(largest) = said.blame.first() else {
        let expected = truth.role.is_some() || truth.kind.is_some();
        return expected
            .then(|| "nobody was blamed".to_owned())
            .into_iter()
            .collect();
    };
    let role = largest.role.map(Role::name);
    let roles = truth.role.as_deref().zip(role);
    let kinds = truth
        .kind
        .as_deref()
        .map(|kind| (kind, largest.kind.name()));
    let wrong = [roles, kinds].into_iter().flatten();
    wrong
        .filter(|(truth, said)| truth != said)
        .map(|(truth, said)| format!("{said} was blamed, not {truth}"))
        .collect()
}

fn missing_findings(truth: &Truth, said: &RunVerdict) -> Vec<String> {
    let was_found = |name: &str| said.findings.iter().any(|finding| finding.name() == name);
    let missing = truth.findings.iter().filter(|name| !was_found(name));
    missing
        .map(|name| format!("{name} was not found"))
        .collect()
}
