//! Remembers the bars that are not taken for the training bar.

use crate::formats::bar::Bar;

/// More bars than any training shows; beyond that the oldest is dropped.
const MOST_BARS: usize = 16;

/// The other bars, identified by their totals.
#[derive(Debug, Default)]
pub struct OtherBars(Vec<OtherBar>);

/// A bar that is not the training bar.
#[derive(Debug, Clone, Copy)]
pub struct OtherBar {
    /// It is drawn below another bar.
    pub nested: bool,
    /// It was drawn before the training bar: it is around it, or was finished by then.
    pub is_older: bool,
    /// Its count when it was first seen.
    pub first_n: u64,
    /// How often the training bar had started by then.
    pub training_starts: u64,
    /// It filled up and restarted, and the training bar was not drawn in between.
    pub restarted: bool,
    total: Option<u64>,
    n: u64,
    full: bool,
}

impl OtherBars {
    /// The bar with the total of `bar`. `training_starts`: how often the training bar has started, if
    /// there is one.
    pub fn get(&mut self, bar: &Bar<'_>, training_starts: Option<u64>) -> &mut OtherBar {
        let known = self.0.iter().position(|other| other.total == bar.total);
        let at = known.unwrap_or_else(|| {
            if self.0.len() == MOST_BARS {
                self.0.remove(0);
            }
            self.0.push(OtherBar {
                nested: false,
                is_older: training_starts.is_none(),
                first_n: bar.n,
                training_starts: training_starts.unwrap_or(0),
                restarted: false,
                total: bar.total,
                n: bar.n,
                full: false,
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// Marks the bar with this total as nested.
    pub fn nest(&mut self, total: Option<u64>) {
        if let Some(other) = self.0.iter_mut().find(|other| other.total == total) {
            other.nested = true;
        }
    }

    /// Drops the bar with this total: it is the training bar now.
    pub fn forget(&mut self, total: Option<u64>) {
        self.0.retain(|other| other.total != total);
    }

    /// Notes a drawing of the training bar.
    pub fn training_is_drawn(&mut self) {
        for other in &mut self.0 {
            (other.full, other.restarted) = (false, false);
        }
    }
}

impl OtherBar {
    /// Processes a drawing; returns what is known now.
    pub fn note(&mut self, bar: &Bar<'_>) -> OtherBar {
        self.restarted |= self.full && bar.n < self.n;
        self.full |= bar.total == Some(bar.n);
        self.n = bar.n;
        *self
    }
}
