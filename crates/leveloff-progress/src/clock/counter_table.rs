//! The counters that are followed, in bounded memory.

use super::counter::Counter;
use crate::key_search::position_of;
use crate::label::Label;

/// How many counters are followed. A training's formats have a few dozen numbers; hostile output has any number.
const MOST_COUNTERS: usize = 192;

/// Counters by key.
#[derive(Debug, Default)]
pub struct CounterTable {
    /// Searched on its own: it is small and lies in one piece.
    keys: Vec<u64>,
    counters: Vec<Counter>,
}

impl CounterTable {
    /// The counter with this key.
    pub fn get(&self, key: u64) -> Option<&Counter> {
        self.position(key).map(|at| &self.counters[at])
    }

    /// All counters.
    pub fn iter(&self) -> impl Iterator<Item = &Counter> {
        self.counters.iter()
    }

    /// The counter with this key.
    pub fn get_mut(&mut self, key: u64) -> Option<&mut Counter> {
        self.position(key).map(|at| &mut self.counters[at])
    }

    /// Adds a counter, in place of the least useful one when the table is full. `kept` stays.
    pub fn insert(&mut self, key: u64, counter: Counter, kept: Option<u64>) {
        if self.keys.len() < MOST_COUNTERS {
            self.keys.push(key);
            self.counters.push(counter);
            return;
        }
        let candidates = (0..self.keys.len()).filter(|at| Some(self.keys[*at]) != kept);
        // Named counters outlive a flood of numbers without a name.
        let worst = candidates.min_by_key(|at| {
            let counter = &self.counters[*at];
            let is_named = matches!(
                counter.label,
                Label::Step(_) | Label::Unit(_) | Label::Epoch
            );
            (is_named, counter.last_line)
        });
        if let Some(at) = worst {
            (self.keys[at], self.counters[at]) = (key, counter);
        }
    }

    fn position(&self, key: u64) -> Option<usize> {
        position_of(key, &self.keys)
    }
}
