//! Those who are gone and whose children live. Who made a process stays true when its maker ends.

use std::collections::{BTreeMap, BTreeSet};

use leveloff_model::process::{Pid, ProcessKey, ProcessState};

use crate::facts::ProcessFacts;

/// What was known of gone parents.
#[derive(Debug, Default)]
pub(super) struct Departed(BTreeMap<ProcessKey, Gone>);

#[derive(Debug)]
struct Gone {
    facts: ProcessFacts,
    origin: Option<ProcessKey>,
}

impl Departed {
    pub(super) fn remember(&mut self, mut facts: ProcessFacts, origin: Option<ProcessKey>) {
        // Nobody gives a part in what goes on to one who is gone.
        facts.state = ProcessState::Dead;
        if let Some(origin) = origin {
            facts.parent = origin.pid;
        }
        self.0.insert(facts.key, Gone { facts, origin });
    }

    /// Another process has this number now, and numbers are what the rules know parents by.
    pub(super) fn number_reused(&mut self, pid: Pid) {
        self.0.retain(|key, _| key.pid != pid);
    }

    /// Forgets whoever has no child left, alive or remembered.
    pub(super) fn keep_parents_of(&mut self, origins: impl Iterator<Item = Option<ProcessKey>>) {
        let mut needed: BTreeSet<ProcessKey> = origins.flatten().collect();
        // A child is younger than its parent, so from the youngest on each has said whom it needs.
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
        self.0.values().map(|gone| &gone.facts)
    }
}
