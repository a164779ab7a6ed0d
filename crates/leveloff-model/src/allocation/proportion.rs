//! What a site holds by the number of its blocks alone. Blocks of one line are mostly of one size.

use super::SiteReading;
use crate::units::Bytes;

/// Bytes of an estimate may be off by one part in this many of its standard error.
const PARTS_OF_AN_ERROR: u64 = 10;
/// A standard error may be off by one part in this many.
const PARTS_OF_ITSELF: u64 = 20;

impl SiteReading {
    /// What the site holds at another moment, if bytes and error are in proportion to the blocks as they are here.
    pub fn in_proportion(&self, blocks: u64, freed: u64) -> SiteReading {
        let ratio = match self.blocks {
            0 => 0.0,
            before => blocks as f64 / before as f64,
        };
        let scaled = |amount: Bytes, by: f64| amount.share(by).in_kib();
        SiteReading {
            site: self.site,
            live: scaled(self.live, ratio),
            blocks,
            error: scaled(self.error, ratio.sqrt()),
            freed,
        }
    }

    /// Whether this is as good an estimate as the exact one.
    pub fn is_as_good_as(&self, exact: &SiteReading) -> bool {
        let bytes = self.live.0.abs_diff(exact.live.0);
        let error = self.error.0.abs_diff(exact.error.0);
        (self.blocks, self.freed) == (exact.blocks, exact.freed)
            && bytes * PARTS_OF_AN_ERROR <= exact.error.0.max(PARTS_OF_AN_ERROR << 10)
            && error * PARTS_OF_ITSELF <= exact.error.0.max(PARTS_OF_ITSELF << 10)
    }

    /// The same in whole KiB, which is what a recording has.
    #[must_use]
    pub fn in_kib(self) -> SiteReading {
        SiteReading {
            live: self.live.in_kib(),
            error: self.error.in_kib(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::SiteId;

    fn reading(blocks: u64, kib: u64, error: u64) -> SiteReading {
        SiteReading {
            site: SiteId(3),
            live: Bytes(kib << 10),
            blocks,
            error: Bytes(error << 10),
            freed: 7,
        }
    }

    #[test]
    fn blocks_of_one_size_are_in_proportion() {
        let later = reading(64, 34_827, 4094);
        let from_before = reading(16, 8_707, 2047).in_proportion(64, 7);
        assert_eq!(from_before.blocks, 64);
        assert!(from_before.is_as_good_as(&later), "{from_before:?}");
    }

    #[test]
    fn larger_blocks_are_not() {
        let later = reading(64, 64_000, 3000);
        let from_before = reading(16, 8_707, 2047).in_proportion(64, 7);
        assert!(!from_before.is_as_good_as(&later));
        let from_nothing = reading(0, 0, 0).in_proportion(64, 7);
        assert!(!from_nothing.is_as_good_as(&later));
    }
}
