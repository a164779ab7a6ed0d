//! Compares a verdict with the ground truth of a pattern.

use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::process::Role;
use leveloff_text::verdict::brief;
use leveloff_text::x_position::XPosition;

use super::pattern_list::{TrueVerdict, Truth};

/// Where the verdict differs from the truth, in words.
pub(crate) fn mismatches(truth: &Truth, said: &RunVerdict) -> Vec<String> {
    match (truth.verdict, said.verdict) {
        (TrueVerdict::Level, Verdict::Level(_)) => missing_findings(truth, said),
        (TrueVerdict::Leak, Verdict::Leak(_)) => {
            let mut found = wrong_blame(truth, said);
            found.extend(missing_findings(truth, said));
            found
        }
        _ => vec![format!("the verdict was {}", brief(said))],
    }
}

/// The same in one line. `is_short`: the training ended before it had shown its pattern.
pub(crate) fn met(truth: &Truth, said: &RunVerdict, is_short: bool) -> String {
    let mismatches = mismatches(truth, said);
    if mismatches.is_empty() {
        return match said.judgement.decided_at_x {
            Some(x) => format!("yes, since {}", XPosition::new(x, said.x_unit)),
            None => "yes".to_owned(),
        };
    }
    let why = if is_short {
        "; the training was too short to show it"
    } else {
        ""
    };
    format!("no: {}{why}", mismatches.join("; "))
}

/// The largest share of the growth must be in the right role and kind. A file in /dev/shm belongs to no process.
fn wrong_blame(truth: &Truth, said: &RunVerdict) -> Vec<String> {
    let Some(largest) = said.blame.first() else {
        let expected = truth.role.is_some() || truth.kind.is_some();
        return expected
            .then(|| "no process was blamed".to_owned())
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
