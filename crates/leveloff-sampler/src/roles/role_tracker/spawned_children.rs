//! What the spawned children of each process turned out to be. The workers of the next epoch are the same.

use std::collections::BTreeMap;

use leveloff_model::process::{Pid, Role};

use crate::facts::ProcessFacts;
use crate::roles::Assignment;
use crate::roles::python::is_spawned;

/// For each process, the role of its spawned children; `None` if they have several.
#[derive(Debug, Default)]
pub(super) struct SpawnedChildren(BTreeMap<Pid, Option<Role>>);

impl SpawnedChildren {
    /// Notes a role that a child has shown.
    pub(super) fn note(&mut self, facts: &ProcessFacts, assignment: &Assignment) {
        if !is_spawned(facts) || assignment.reason.is_undecided() {
            return;
        }
        let known = self.0.entry(facts.parent).or_insert(Some(assignment.role));
        if *known != Some(assignment.role) {
            *known = None;
        }
    }

    /// Forgets the children of a process that exited, whose pid may be reused.
    pub(super) fn remove(&mut self, parent: Pid) {
        self.0.remove(&parent);
    }

    /// The processes whose spawned children all have one role.
    pub(super) fn known(&self) -> BTreeMap<Pid, Role> {
        let roles = self.0.iter();
        roles.filter_map(|(&by, &role)| Some((by, role?))).collect()
    }
}
