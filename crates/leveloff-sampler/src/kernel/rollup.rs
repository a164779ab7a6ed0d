//! `/proc/PID/smaps_rollup`: proportional memory, at the price of a page-table walk.

use leveloff_model::units::Bytes;

use super::keyed::each_number;

/// The values of a rollup. Linux before 5.9 lacks the split of PSS; see [`parse`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rollup {
    /// Pss.
    pub pss: Bytes,
    /// Pss_Anon.
    pub anon: Bytes,
    /// Pss_File.
    pub file: Bytes,
    /// Pss_Shmem.
    pub shmem: Bytes,
    /// Private_Clean + Private_Dirty.
    pub private: Bytes,
    /// Private_Dirty.
    pub private_dirty: Bytes,
    /// SwapPss.
    pub swap: Bytes,
    /// LazyFree.
    pub lazy_free: Bytes,
    /// Private_Hugetlb + Shared_Hugetlb: explicit huge pages, which are in no Pss.
    pub hugetlb: Bytes,
    /// Most anonymous memory that can be shared with others; see [`most_shared`].
    pub shared: Bytes,
}

impl Rollup {
    /// Anonymous memory that no other process maps. The kernel does not count it apart: pages of libraries that only
    /// one process uses are private too, hundreds of MB in a trainer, but they are clean. Anonymous pages are dirty, and
    /// so are those of shared memory.
    pub fn private_anon(&self) -> Bytes {
        self.private_dirty.saturating_sub(self.shmem).min(self.anon)
    }
}

/// Most anonymous memory that can be shared, by its size with shared pages in full and by its PSS.
/// A page of n sharers is missing (n − 1)/n from the PSS: at least a half.
pub fn most_shared(in_full: Bytes, proportional: Bytes) -> Bytes {
    let missing = in_full.saturating_sub(proportional);
    (missing + missing).min(in_full)
}

/// Reads a rollup; `None` when there is no Pss in it.
///
/// Linux before 5.9 does not split PSS. The anonymous part is then all of PSS, so that nothing is missing
/// from the total; the file share is counted too high.
pub fn parse(text: &[u8]) -> Option<Rollup> {
    let mut rollup = Rollup::default();
    let (mut has_pss, mut has_split) = (false, false);
    let mut anonymous = Bytes::ZERO;
    each_number(text, |key, kib| {
        let amount = Bytes::from_kib(kib);
        match key {
            b"Pss" => (rollup.pss, has_pss) = (amount, true),
            b"Pss_Anon" => (rollup.anon, has_split) = (amount, true),
            b"Pss_File" => rollup.file = amount,
            b"Pss_Shmem" => rollup.shmem = amount,
            b"Private_Clean" => rollup.private += amount,
            b"Private_Dirty" => {
                rollup.private += amount;
                rollup.private_dirty = amount;
            }
            b"SwapPss" => rollup.swap = amount,
            b"LazyFree" => rollup.lazy_free = amount,
            b"Private_Hugetlb" | b"Shared_Hugetlb" => rollup.hugetlb += amount,
            b"Anonymous" => anonymous = amount,
            _ => {}
        }
    });
    rollup.shared = most_shared(anonymous, rollup.anon);
    if !has_split {
        rollup.anon = rollup.pss;
        rollup.shared = anonymous;
    }
    has_pss.then_some(rollup)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROLLUP: &[u8] = b"55d2c5ca7000-7ffe557f1000 ---p 00000000 00:00 0    [rollup]\nRss: 1688 kB\nPss: 831 kB\nPss_Dirty: 116 kB\nPss_Anon: 116 kB\nPss_File: 700 kB\nPss_Shmem: 15 kB\nPrivate_Clean: 220 kB\nPrivate_Dirty: 116 kB\nAnonymous: 120 kB\nLazyFree: 8 kB\nShared_Hugetlb: 2048 kB\nPrivate_Hugetlb: 4096 kB\nSwap: 12 kB\nSwapPss: 6 kB\n";

    #[test]
    fn the_parts_are_read() {
        let rollup = parse(ROLLUP).unwrap();
        assert_eq!(rollup.pss, Bytes(831 << 10));
        assert_eq!(rollup.anon + rollup.file + rollup.shmem, rollup.pss);
        assert_eq!(rollup.private, Bytes(336 << 10));
        assert_eq!(rollup.private_anon(), Bytes(101 << 10));
        assert_eq!(
            (rollup.swap, rollup.lazy_free),
            (Bytes(6 << 10), Bytes(8 << 10))
        );
        assert_eq!(rollup.shared, Bytes(8 << 10));
        assert_eq!(rollup.hugetlb, Bytes(6 << 20));
    }

    #[test]
    fn what_may_be_shared_is_bounded_by_what_pss_lacks() {
        let mib = |amount: u64| Bytes(amount << 20);
        // 100 MiB with one other, 100 MiB its own: 200 in full, 150 of PSS.
        assert_eq!(most_shared(mib(200), mib(150)), mib(100));
        // All of it with very many.
        assert_eq!(most_shared(mib(200), mib(1)), mib(200));
        assert_eq!(most_shared(mib(200), mib(200)), Bytes::ZERO);
    }

    #[test]
    fn an_old_kernel_without_the_split_loses_nothing() {
        let text = b"0-1 ---p 0 0:0 0 [rollup]\nRss: 20 kB\nPss: 10 kB\nAnonymous: 9 kB\n";
        let rollup = parse(text).unwrap();
        assert_eq!(rollup.anon, Bytes(10 << 10));
        assert_eq!(rollup.shared, Bytes(9 << 10), "any of it may be shared");
    }

    #[test]
    fn an_empty_rollup_is_not_a_zero() {
        assert_eq!(parse(b""), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse(&text);
        }
    }
}
