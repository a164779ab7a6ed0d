//! What is remembered of bars that are not taken for the training's.

use super::bar::Bar;

/// More bars than any training shows; beyond that the first is forgotten.
const MOST_BARS: usize = 16;

/// The other bars, told apart by their totals.
#[derive(Debug, Default)]
pub struct OtherBars(Vec<OtherBar>);

/// One of them.
#[derive(Debug, Clone, Copy)]
pub struct OtherBar {
    /// It is drawn below another bar.
    pub nested: bool,
    /// It was there before the training bar: around it, or done by then.
    pub is_older: bool,
    /// Its count when it was first seen.
    pub first_n: u64,
    /// How often the training bar had begun by then.
    pub training_starts: u64,
    /// It filled up and began anew, and the training bar was not drawn meanwhile.
    pub began_anew: bool,
    total: Option<u64>,
    n: u64,
    full: bool,
}

impl OtherBars {
    /// The bar with this one's total. `training_starts`: how often the training bar has begun, if
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
                began_anew: false,
                total: bar.total,
                n: bar.n,
                full: false,
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// The bar with this total turned out to be nested.
    pub fn nest(&mut self, total: Option<u64>) {
        if let Some(other) = self.0.iter_mut().find(|other| other.total == total) {
            other.nested = true;
        }
    }

    /// The bar with this total is now the training's.
    pub fn forget(&mut self, total: Option<u64>) {
        self.0.retain(|other| other.total != total);
    }

    /// The training bar is drawn: none of these is alone.
    pub fn training_is_drawn(&mut self) {
        for other in &mut self.0 {
            (other.full, other.began_anew) = (false, false);
        }
    }
}

impl OtherBar {
    /// Takes in a drawing; gives what is known now.
    pub fn note(&mut self, bar: &Bar<'_>) -> OtherBar {
        self.began_anew |= self.full && bar.n < self.n;
        self.full |= bar.total == Some(bar.n);
        self.n = bar.n;
        *self
    }
}
