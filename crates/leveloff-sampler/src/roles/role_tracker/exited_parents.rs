//! Processes that exited and whose children live, because a child's role depends on its creator.

use std::collections::{BTreeMap, BTreeSet};

use leveloff_model::process::{Pid, ProcessKey, ProcessState};

use crate::facts::ProcessFacts;

/// The facts of exited parents.
#[derive(Debug, Default)]
pub(super) struct ExitedParents(BTreeMap<ProcessKey, Exited>);

#[derive(Debug)]
struct Exited {
    facts: ProcessFacts,
    origin: Option<ProcessKey>,
}

impl ExitedParents {
    pub(super) fn add(&mut self, mut facts: ProcessFacts, origin: Option<ProcessKey>) {
        // The rules give no active role to a process in this state.
        facts.state = ProcessState::Dead;
        if let Some(origin) = origin {
            facts.parent = origin.pid;
        }
        self.0.insert(facts.key, Exited { facts, origin });
    }

    /// Drops an exited process whose pid was reused, because the rules identify parents by pid.
    pub(super) fn remove_pid(&mut self, pid: Pid) {
        self.0.retain(|key, _| key.pid != pid);
    }

    /// Drops the processes that have no child left, living or exited.
    pub(super) fn keep_parents_of(&mut self, origins: impl Iterator<Item = Option<ProcessKey>>) {
        let mut needed: BTreeSet<ProcessKey> = origins.flatten().collect();
        // A child is younger than its parent, so the youngest come first.
        let mut by_age: Vec<ProcessKey> = self.0.keys().copied().collect();
        by_age.sort_by_key(|key| std::cmp::Reverse(key.start));
        for key in by_age {
            if needed.contains(&key) {
                needed.extend(self.0[&key].origin);
            }
        }
        self.0.retain(|key, _| needed.contains(key));
    }

    pub(super) fn contains(&self, key: ProcessKey) -> bool {
        self.0.contains_key(&key)
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = &ProcessFacts> {
        self.0.values().map(|exited| &exited.facts)
    }
}
