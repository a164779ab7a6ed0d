//! Which public bugs a run looks like.

use std::collections::BTreeMap;

use leveloff_model::process::Role;

use crate::finding::Finding;
use crate::known_bugs::{KNOWN_BUGS, KnownBug, Signature, SuspectedBug};
use crate::verdict::{Blame, Verdict};

/// The share of the growth that the role of a signature must have.
const MOST: f64 = 0.5;

/// What a run shows, as far as bugs need it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BugEvidence<'a> {
    /// Its verdict.
    pub(super) verdict: Verdict,
    /// Its findings.
    pub(super) findings: &'a [Finding],
    /// What grew, by shares.
    pub(super) blame: &'a [Blame],
    /// The roles that its processes have.
    pub(super) roles: &'a [Role],
}

/// The bugs that a run looks like. `packages` has the installed versions, if they are known.
pub(super) fn suspected(
    evidence: BugEvidence<'_>,
    packages: Option<&BTreeMap<String, String>>,
) -> Vec<SuspectedBug> {
    if matches!(evidence.verdict, Verdict::Level(_) | Verdict::Undecided) {
        return Vec::new();
    }
    let looks_like = |bug: &&KnownBug| holds(&bug.signature, &evidence) && bug.concerns(packages);
    let version = |bug: &KnownBug| packages?.get(bug.package).cloned();
    KNOWN_BUGS
        .iter()
        .filter(looks_like)
        .map(|bug| SuspectedBug {
            bug,
            version: version(bug),
        })
        .collect()
}

fn holds(signature: &Signature, evidence: &BugEvidence<'_>) -> bool {
    let found = |name: &&str| evidence.findings.iter().any(|one| one.name() == *name);
    let share = |role: Role| -> f64 {
        let of_role = evidence.blame.iter().filter(|one| one.role == Some(role));
        of_role.map(|one| one.share).sum()
    };
    (signature.findings.is_empty() || signature.findings.iter().any(found))
        && signature.grows.is_none_or(|role| share(role) >= MOST)
        && (signature.beside.is_empty()
            || signature
                .beside
                .iter()
                .any(|one| evidence.roles.contains(one)))
}

#[cfg(test)]
mod tests;
