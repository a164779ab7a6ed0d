//! `/proc/PID/smaps`: proportional memory by mapping, folded into kinds.
//!
//! One walk gives the kinds and the numbers of `smaps_rollup`, so it also serves kernels without a rollup.
//! It is folded line by line, because a process may have 65,000 mappings.

use leveloff_model::sample::{Kinds, SharedNames};
use leveloff_model::units::Bytes;

use super::keyed::{first_number, leading_number};
use super::large_mappings::LargeMappings;
use super::rollup::{Rollup, most_shared};

/// Adds a `smaps` up, line by line.
#[derive(Debug, Default)]
pub struct SmapsFold {
    kinds: Kinds,
    shared: SharedNames,
    rollup: Rollup,
    mapping: Option<Mapping>,
    large: LargeMappings,
}

/// The mapping whose lines are being read.
#[derive(Debug)]
struct Mapping {
    kind: Kind,
    name: SharedName,
    pss: Bytes,
    anonymous: Bytes,
}

impl SmapsFold {
    /// Takes the next line.
    pub fn line(&mut self, line: &[u8]) {
        if let Some(path) = mapping_path(line) {
            self.close_mapping();
            self.large.begin(line, path);
            self.mapping = Some(Mapping {
                kind: Kind::of(path),
                name: SharedName::of(path),
                pss: Bytes::ZERO,
                anonymous: Bytes::ZERO,
            });
            return;
        }
        let Some(mapping) = &mut self.mapping else {
            return;
        };
        let Some(colon) = line.iter().position(|&b| b == b':') else {
            return;
        };
        let Some(amount) = first_number(&line[colon + 1..]).map(Bytes::from_kib) else {
            return;
        };
        match &line[..colon] {
            b"Rss" | b"Swap" => self.large.add_used(amount),
            b"Pss" => mapping.pss = amount,
            b"Anonymous" => mapping.anonymous = amount,
            b"Private_Clean" => self.rollup.private += amount,
            b"Private_Dirty" => {
                self.rollup.private += amount;
                self.rollup.private_dirty += amount;
            }
            b"SwapPss" => {
                self.kinds.swap += amount;
                self.rollup.swap += amount;
            }
            b"LazyFree" => self.rollup.lazy_free += amount,
            b"Private_Hugetlb" | b"Shared_Hugetlb" => self.rollup.hugetlb += amount,
            _ => {}
        }
    }

    /// The large anonymous mappings so far.
    pub fn large_mappings(&self) -> &LargeMappings {
        &self.large
    }

    /// The sums; `None` when there was no mapping at all, as for a process that is gone.
    pub fn finish(mut self) -> Option<(Kinds, Rollup)> {
        let any = self.mapping.is_some();
        self.close_mapping();
        self.kinds.shared = Some(self.shared);
        any.then_some((self.kinds, self.rollup))
    }

    fn close_mapping(&mut self) {
        let Some(Mapping {
            kind,
            name,
            pss,
            anonymous,
        }) = self.mapping.take()
        else {
            return;
        };
        *kind.amount_in(&mut self.kinds) += pss;
        if let Some(amount) = name.amount_in(&mut self.shared) {
            *amount += pss;
        }
        self.rollup.pss += pss;
        match kind {
            Kind::Heap | Kind::Anonymous | Kind::Stacks => {
                self.rollup.anon += pss;
                self.rollup.shared += most_shared(anonymous, pss);
            }
            Kind::DevShm | Kind::Memfd => self.rollup.shmem += pss,
            // A file's private pages that were written to are anonymous. Their share is unknown here,
            // so they count in full, up to the mapping's PSS.
            Kind::File | Kind::Device => {
                let written = anonymous.min(pss);
                self.rollup.anon += written;
                self.rollup.shared += anonymous;
                self.rollup.file += pss.saturating_sub(written);
            }
        }
    }
}

/// What the name of a shared mapping shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SharedName {
    Torch,
    Plasma,
    Memfd,
    Other,
}

impl SharedName {
    fn of(path: &[u8]) -> SharedName {
        match path {
            _ if path.starts_with(b"/dev/shm/torch_") => SharedName::Torch,
            _ if path.starts_with(b"/dev/shm/plasma") => SharedName::Plasma,
            _ if path.starts_with(b"/memfd:") => SharedName::Memfd,
            _ => SharedName::Other,
        }
    }

    fn amount_in(self, shared: &mut SharedNames) -> Option<&mut Bytes> {
        match self {
            SharedName::Torch => Some(&mut shared.torch),
            SharedName::Plasma => Some(&mut shared.plasma),
            SharedName::Memfd => Some(&mut shared.memfd),
            SharedName::Other => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Heap,
    Anonymous,
    Stacks,
    File,
    DevShm,
    Memfd,
    Device,
}

impl Kind {
    fn of(path: &[u8]) -> Kind {
        match path {
            b"" | b"[vdso]" | b"[vvar]" | b"[uprobes]" => Kind::Anonymous,
            b"[heap]" => Kind::Heap,
            // Pinned host memory is mapped from the driver's device nodes.
            _ if path.starts_with(b"/dev/nvidia")
                || path.starts_with(b"/dev/dri/")
                || path.starts_with(b"/dev/kfd") =>
            {
                Kind::Device
            }
            _ if path.starts_with(b"/dev/shm/") => Kind::DevShm,
            _ if path.starts_with(b"/memfd:")
                || path.starts_with(b"/SYSV")
                || path.starts_with(b"/dev/zero")
                || path.starts_with(b"[anon_shmem") =>
            {
                Kind::Memfd
            }
            _ if path.starts_with(b"[stack") => Kind::Stacks,
            _ if path.starts_with(b"[") => Kind::Anonymous,
            _ => Kind::File,
        }
    }

    fn amount_in(self, kinds: &mut Kinds) -> &mut Bytes {
        match self {
            Kind::Heap => &mut kinds.heap,
            Kind::Anonymous => &mut kinds.anonymous,
            Kind::Stacks => &mut kinds.stacks,
            Kind::File => &mut kinds.file,
            Kind::DevShm => &mut kinds.devshm,
            Kind::Memfd => &mut kinds.memfd,
            Kind::Device => &mut kinds.device,
        }
    }
}

/// The path of a mapping's first line (`7f..-7f.. rw-p 00000000 00:00 0   /path`), empty for an
/// anonymous one; `None` when the line is not a mapping's first.
pub fn mapping_path(line: &[u8]) -> Option<&[u8]> {
    let dash = line.iter().position(|&b| b == b'-')?;
    if dash == 0 || !line[..dash].iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut rest = line;
    for _ in 0..4 {
        let blank = rest.iter().position(|&b| b == b' ')?;
        rest = &rest[blank + 1..];
    }
    let (_inode, path) = leading_number(rest)?;
    let start = path.iter().position(|&b| b != b' ').unwrap_or(path.len());
    Some(&path[start..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rollup;
    use super::*;

    const SMAPS: &[u8] = b"55d2c5ca7000-55d2c5cb0000 r-xp 00000000 fe:00 1234                       /usr/bin/python3.11
Rss:                 100 kB
Pss:                  50 kB
Pss_Dirty:             0 kB
Anonymous:             8 kB
SwapPss:               0 kB
55d2c6000000-55d2c7000000 rw-p 00000000 00:00 0                          [heap]
Pss:                 400 kB
SwapPss:               7 kB
7f0000000000-7f0000100000 rw-p 00000000 00:00 0
Pss:                1000 kB
7f0000200000-7f0000300000 rw-s 00000000 00:18 99                         /dev/shm/torch_12_3 (deleted)
Pss:                  30 kB
7f0000400000-7f0000500000 rw-s 00000000 00:01 98                         /memfd:x (deleted)
Pss:                  20 kB
7f0000600000-7f0000700000 rw-s 00000000 00:06 97                         /dev/nvidia-uvm
Pss:                  10 kB
7ffe557f1000-7ffe55812000 rw-p 00000000 00:00 0                          [stack]
Pss:                  12 kB
";

    fn fold(text: &[u8]) -> Option<(Kinds, Rollup)> {
        let mut fold = SmapsFold::default();
        text.split(|&b| b == b'\n').for_each(|line| fold.line(line));
        fold.finish()
    }

    #[test]
    fn kinds_add_up_to_pss_and_swap() {
        let (kinds, rollup) = fold(SMAPS).unwrap();
        let kib = |n: u64| Bytes(n << 10);
        assert_eq!(kinds.heap, kib(400));
        assert_eq!(kinds.anonymous, kib(1000));
        assert_eq!(kinds.file, kib(50));
        assert_eq!(
            (kinds.devshm, kinds.memfd, kinds.device),
            (kib(30), kib(20), kib(10))
        );
        assert_eq!((kinds.stacks, kinds.swap), (kib(12), kib(7)));
        let shared = SharedNames {
            torch: kib(30),
            plasma: kib(0),
            memfd: kib(20),
        };
        assert_eq!(kinds.shared, Some(shared));
        assert_eq!(kinds.total(), kib(1529));
        assert_eq!(kinds.total(), rollup.pss + rollup.swap);
        assert_eq!(rollup.anon + rollup.file + rollup.shmem, rollup.pss);
        assert_eq!(rollup.anon, kib(400 + 1000 + 12 + 8));
    }

    #[test]
    fn our_own_mappings_roll_up_to_what_the_kernel_says() {
        let smaps = std::fs::read("/proc/self/smaps").unwrap();
        let kernel = rollup::parse(&std::fs::read("/proc/self/smaps_rollup").unwrap()).unwrap();
        let (kinds, ours) = fold(&smaps).unwrap();
        // Reading the first file allocates, so the two moments differ by some pages; each mapping
        // is also rounded to a kB.
        for (ours, kernel) in [
            (kinds.total(), kernel.pss + kernel.swap),
            (ours.pss, kernel.pss),
            (ours.anon, kernel.anon),
            (ours.private, kernel.private),
            (ours.private_dirty, kernel.private_dirty),
        ] {
            assert!(
                ours.0.abs_diff(kernel.0) < 2 << 20,
                "{ours} against {kernel}"
            );
        }
    }

    #[test]
    fn a_process_without_mappings_is_not_a_zero() {
        assert_eq!(fold(b""), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = (fold(&text), mapping_path(&text));
        }

        #[test]
        fn no_damage_makes_it_panic(at in 0usize..900, byte in any::<u8>()) {
            let mut text = SMAPS.to_vec();
            let at = at.min(text.len() - 1);
            text[at] = byte;
            let _ = fold(&text);
        }
    }
}
