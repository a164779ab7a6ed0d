//! The facts about the formats seen lately: a format is looked at once, its lines come by the thousand.

use crate::key_search::position_of;
use crate::line::ScannedLine;
use crate::line_facts::LineFacts;

/// How many formats are remembered.
const MOST: usize = 64;

/// Facts by skeleton.
#[derive(Debug, Default)]
pub struct FactsCache {
    skeletons: Vec<u64>,
    /// `None` for a format without any number that could be of use.
    facts: Vec<Option<LineFacts>>,
    /// The entry that the next new format replaces.
    next: usize,
}

impl FactsCache {
    /// The facts about a line; `None` when its format is known to be of no use.
    pub fn of(&mut self, line: &[u8], scanned: &ScannedLine) -> Option<LineFacts> {
        if let Some(at) = self.position(scanned.skeleton) {
            return self.facts[at];
        }
        let facts = LineFacts::of(line, &scanned.numbers);
        if self.skeletons.len() < MOST {
            self.skeletons.push(scanned.skeleton);
            self.facts.push(Some(facts));
        } else {
            (self.skeletons[self.next], self.facts[self.next]) = (scanned.skeleton, Some(facts));
            self.next = (self.next + 1) % MOST;
        }
        Some(facts)
    }

    /// Remembers that no number of this format can be of use.
    pub fn mark_barren(&mut self, skeleton: u64) {
        if let Some(at) = self.position(skeleton) {
            self.facts[at] = None;
        }
    }

    fn position(&self, skeleton: u64) -> Option<usize> {
        position_of(skeleton, &self.skeletons)
    }
}
