//! Finds the mapping that a process fills: more and more of it is used while its size stays the same.

use leveloff_model::process::ProcessIndex;
use leveloff_model::sample::FillingMapping;
use leveloff_model::units::Bytes;

use crate::kernel::large_mappings::{LargeMapping, LargeMappings};

/// Compares the readings of one process.
#[derive(Debug, Default)]
pub struct FillingMappings {
    process: Option<ProcessIndex>,
    followed: Vec<Followed>,
    number: u32,
}

/// A mapping whose size has stayed the same.
#[derive(Debug, Clone, Copy)]
struct Followed {
    number: u32,
    /// As it was when it was first seen.
    first: LargeMapping,
    now: LargeMapping,
}

/// Neighbours that the kernel joins to a mapping may enlarge it by this share of what was filled, as one in so many. A
/// mapping that grows as it is filled is no reservation.
const NEIGHBOURS: u64 = 10;

/// A rise by less than this is none.
const LEAST_RISE: Bytes = Bytes(1 << 20);

impl FillingMappings {
    /// Takes the next reading of a process: the mapping that was filled most since it was first seen.
    pub fn observe(
        &mut self,
        process: ProcessIndex,
        large: &LargeMappings,
    ) -> Option<FillingMapping> {
        if self.process.replace(process) != Some(process) {
            self.followed.clear();
        }
        let now = large.buffers();
        self.followed.retain_mut(|followed| followed.goes_on(now));
        for mapping in now {
            self.follow(mapping);
        }
        let filled = self.followed.iter().filter(|it| it.rise() >= LEAST_RISE);
        filled.max_by_key(|it| it.rise()).map(|it| FillingMapping {
            number: it.number,
            size: it.now.size(),
            used: it.now.used,
        })
    }

    fn follow(&mut self, mapping: &LargeMapping) {
        let is_known = |followed: &Followed| followed.now.overlaps(mapping);
        if !self.followed.iter().any(is_known) {
            self.number += 1;
            self.followed.push(Followed {
                number: self.number,
                first: *mapping,
                now: *mapping,
            });
        }
    }
}

impl Followed {
    /// How much was filled.
    fn rise(&self) -> Bytes {
        self.now.used.saturating_sub(self.first.used)
    }

    /// Takes the next reading; whether the mapping still has its size.
    fn goes_on(&mut self, now: &[LargeMapping]) -> bool {
        let Some(same) = now.iter().find(|mapping| mapping.overlaps(&self.now)) else {
            return false;
        };
        self.now = *same;
        let change = same.size().0.abs_diff(self.first.size().0);
        change <= self.rise().0 / NEIGHBOURS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: ProcessIndex = ProcessIndex(3);

    /// Mappings at addresses and of sizes in MiB, with what is used of them.
    fn large(mappings: &[(u64, u64, u64)]) -> LargeMappings {
        let mut large = LargeMappings::default();
        for (at, size, used) in mappings {
            let (start, size) = ((at << 20) + 4096, size << 20);
            let line = format!("{start:x}-{:x} rw-p 00000000 00:00 0", start + size);
            large.begin(line.as_bytes(), b"");
            large.add_used(Bytes(used << 20));
        }
        large
    }

    fn numbers(readings: &[&[(u64, u64, u64)]]) -> Vec<Option<(u32, u64)>> {
        let mut filling = FillingMappings::default();
        let observed = readings
            .iter()
            .map(|reading| filling.observe(PROCESS, &large(reading)));
        observed
            .map(|it| it.map(|it| (it.number, it.used.0 >> 20)))
            .collect()
    }

    #[test]
    fn what_is_filled_is_followed_until_it_is_full() {
        let seen = numbers(&[
            &[(900, 64, 20)],
            &[(100, 600, 10), (900, 64, 22)],
            &[(100, 600, 90), (900, 64, 23)],
            &[(100, 600, 600), (900, 64, 24)],
            &[(100, 600, 600), (900, 64, 24)],
        ]);
        let full = Some((2, 600));
        assert_eq!(seen, [None, Some((1, 22)), Some((2, 90)), full, full]);
    }

    #[test]
    fn a_mapping_that_grows_as_it_is_filled_is_none() {
        let seen = numbers(&[&[(500, 100, 90)], &[(450, 150, 140)], &[(400, 200, 190)]]);
        assert_eq!(seen, [None, None, None]);
    }

    #[test]
    fn one_that_is_enlarged_is_another_one() {
        let seen = numbers(&[
            &[(100, 600, 10)],
            &[(100, 600, 90)],
            &[(100, 900, 100)],
            &[(100, 900, 200)],
        ]);
        assert_eq!(seen, [None, Some((1, 90)), None, Some((2, 200))]);
    }
}
