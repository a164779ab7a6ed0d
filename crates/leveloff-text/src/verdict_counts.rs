//! How many runs got which verdict.

use leveloff_classifier::verdict::{Grade, Verdict};

use crate::number::thousands;

/// How many inputs got which verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    leak: usize,
    suspected: usize,
    level: usize,
    warming_up: usize,
    undecided: usize,
    errors: usize,
}

impl VerdictCounts {
    /// Counts a verdict.
    pub fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Leak(Grade::Suspected) => self.suspected += 1,
            Verdict::Leak(_) => self.leak += 1,
            Verdict::Level(_) => self.level += 1,
            Verdict::WarmingUp => self.warming_up += 1,
            Verdict::Undecided => self.undecided += 1,
        }
    }

    /// Counts an input that could not be read.
    pub fn add_error(&mut self) {
        self.errors += 1;
    }

    /// How many there were.
    pub fn all(&self) -> usize {
        self.leak + self.suspected + self.level + self.warming_up + self.undecided + self.errors
    }

    /// `12 inputs: 2 leak, 9 level, 1 undecided`, for `counted` = "inputs".
    pub fn line(&self, counted: &str) -> String {
        let counts = [
            (self.leak, "leak"),
            (self.suspected, "suspected"),
            (self.level, "level"),
            (self.warming_up, "warming up"),
            (self.undecided, "undecided"),
            (self.errors, "not readable"),
        ];
        let parts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", thousands(*count as u64)))
            .collect();
        let all = thousands(self.all() as u64);
        format!("{all} {counted}: {}\n", parts.join(", "))
    }
}
