//! All patterns, by name, with what is true of each.

use crate::pattern::{Knobs, Pattern, Schedule, Truth};

/// A pattern that can be chosen.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What the tool should say, in one line.
    pub says: &'static str,
    /// Steps that show it.
    pub steps: u64,
    /// What is true of it.
    pub truth: fn(&Knobs, &Schedule) -> Truth,
    /// Makes it.
    pub make: fn(&Knobs, &Schedule) -> Box<dyn Pattern>,
}

/// All of them, healthy ones first.
pub const ALL: &[Entry] = &[];
