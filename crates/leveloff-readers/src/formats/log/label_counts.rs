//! Which of a log's amounts to follow.

use std::collections::HashMap;

use leveloff_model::process::printable;

use super::counter::Counts;
use super::label::{Class, Label};
use super::memory_value::{MemoryValue, memory_values};
use crate::size_unit::{SizeUnit, by_magnitude};

/// Which names amounts have in the first lines, and how often.
#[derive(Debug, Default)]
pub struct LabelCounts {
    /// How often each was seen, and in which line first.
    found: HashMap<Label, (usize, usize)>,
    /// A line that has memory without a unit.
    pub unitless: Option<String>,
    /// Amounts of memory without a unit.
    bare: Vec<(Label, f64)>,
    /// The words that the user named.
    wanted: Option<Label>,
}

impl LabelCounts {
    /// Counts them.
    pub fn of(lines: &[&[u8]], is_unit_known: bool, wanted: Option<Label>) -> LabelCounts {
        let mut counts = LabelCounts {
            wanted,
            ..LabelCounts::default()
        };
        for (n, line) in lines.iter().enumerate() {
            for value in line.split(|&b| b == b'\r').flat_map(memory_values) {
                counts.count(n, line, &value, is_unit_known);
            }
        }
        counts
    }

    fn count(&mut self, n: usize, line: &[u8], value: &MemoryValue, is_unit_known: bool) {
        let class = value.label.class();
        let is_bare_owner = value.unit.is_none() && !value.label.names_memory();
        if is_bare_owner && self.wanted.is_none() {
            return;
        }
        if value.unit.is_none() && !is_unit_known {
            if class >= Class::Host {
                self.bare.push((value.label, value.value));
                self.unitless.get_or_insert_with(|| {
                    let text = printable(line.trim_ascii());
                    text.chars().take(60).collect()
                });
            }
            return;
        }
        if class == Class::Unnamed && !Counts::of(line).is_any() {
            return;
        }
        let (times, _) = self.found.entry(value.label).or_insert((0, n));
        *times += 1;
    }

    /// The best class; in it the most frequent name; of equals the first.
    pub fn best(&self) -> Option<Label> {
        let usable = self.found.iter().filter(|(label, _)| match self.wanted {
            Some(wanted) => label.has_all(wanted) && !wanted.is_empty(),
            None => label.class() > Class::Other,
        });
        let best = usable.max_by_key(|(label, (times, first))| {
            (label.class(), *times, std::cmp::Reverse(*first))
        });
        best.map(|(label, _)| *label)
    }

    /// The unit of amounts that carry none, if their magnitude tells it.
    pub fn unit_by_magnitude(&self) -> Option<SizeUnit> {
        let best = self.bare.iter().map(|(label, _)| label.class()).max()?;
        let of_best = self.bare.iter().filter(|(label, _)| label.class() == best);
        by_magnitude(of_best.map(|(_, value)| *value))
    }

    /// Whether no amount was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// What the amounts are called, all of them.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.found.keys().map(|label| label.text()).collect();
        names.sort();
        names
    }

    /// What else there is.
    pub fn names_beside(&self, best: Label) -> Vec<String> {
        let others = self.found.keys().filter(|label| **label != best);
        let others = others.filter(|label| label.class() > Class::Unnamed);
        let mut names: Vec<String> = others.map(|label| label.text()).collect();
        names.sort();
        names
    }
}
