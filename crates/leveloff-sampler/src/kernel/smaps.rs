//! `/proc/PID/smaps`: proportional memory by mapping, folded into kinds.
//!
//! Also the fallback for kernels without `smaps_rollup`: the kinds' sum is its PSS.

use leveloff_model::sample::Kinds;
use leveloff_model::units::Bytes;

use super::keyed::{first_number, leading_number};
use super::rollup::{self, Rollup};

/// Folds a whole `smaps` into kinds. Mappings whose lines are damaged are passed over.
pub fn kinds(text: &[u8]) -> Kinds {
    let mut kinds = Kinds::default();
    let mut kind = Kind::Anonymous;
    for line in text.split(|&b| b == b'\n') {
        if let Some(number) = line.strip_prefix(b"Pss:").and_then(first_number) {
            *kind.amount_in(&mut kinds) += Bytes::from_kib(number);
        } else if let Some(number) = line.strip_prefix(b"SwapPss:").and_then(first_number) {
            kinds.swap += Bytes::from_kib(number);
        } else if let Some(path) = mapping_path(line) {
            kind = Kind::of(path);
        }
    }
    kinds
}

/// Adds a whole `smaps` up to what `smaps_rollup` would have said.
pub fn rolled_up(text: &[u8]) -> Option<Rollup> {
    let mut sum = Rollup::default();
    let mut any = false;
    let mut start = 0;
    let mut add = |mapping: &[u8]| {
        if let Some(one) = rollup::parse(mapping) {
            any = true;
            sum.pss += one.pss;
            sum.anon += one.anon;
            sum.file += one.file;
            sum.shmem += one.shmem;
            sum.private += one.private;
            sum.swap += one.swap;
            sum.lazy_free += one.lazy_free;
        }
    };
    for (offset, line) in lines_with_offsets(text) {
        if offset > start && mapping_path(line).is_some() {
            add(&text[start..offset]);
            start = offset;
        }
    }
    add(&text[start..]);
    any.then_some(sum)
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
            _ if path.starts_with(b"[anon") => Kind::Anonymous,
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

fn lines_with_offsets(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut offset = 0;
    text.split(|&b| b == b'\n').map(move |line| {
        let here = offset;
        offset += line.len() + 1;
        (here, line)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMAPS: &[u8] = b"55d2c5ca7000-55d2c5cb0000 r-xp 00000000 fe:00 1234                       /usr/bin/python3.11
Rss:                 100 kB
Pss:                  50 kB
Pss_Dirty:             0 kB
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

    #[test]
    fn kinds_add_up_to_pss_and_swap() {
        let kinds = kinds(SMAPS);
        let kib = |n: u64| Bytes(n << 10);
        assert_eq!(kinds.heap, kib(400));
        assert_eq!(kinds.anonymous, kib(1000));
        assert_eq!(kinds.file, kib(50));
        assert_eq!(
            (kinds.devshm, kinds.memfd, kinds.device),
            (kib(30), kib(20), kib(10))
        );
        assert_eq!((kinds.stacks, kinds.swap), (kib(12), kib(7)));
        assert_eq!(kinds.total(), kib(1529));
    }

    #[test]
    fn our_own_mappings_roll_up_to_what_the_kernel_says() {
        let smaps = std::fs::read("/proc/self/smaps").unwrap();
        let rollup = rollup::parse(&std::fs::read("/proc/self/smaps_rollup").unwrap()).unwrap();
        let sum = kinds(&smaps).total();
        let kernel = rollup.pss + rollup.swap;
        // Reading the first file allocates, so the two moments differ by some pages; each mapping
        // is also rounded to a kB.
        let off = sum.0.abs_diff(kernel.0);
        assert!(off < 2 << 20, "{sum} against {kernel}");
        assert!(rolled_up(&smaps).unwrap().pss.0.abs_diff(rollup.pss.0) < 2 << 20);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = (kinds(&text), rolled_up(&text), mapping_path(&text));
        }

        #[test]
        fn no_damage_makes_it_panic(at in 0usize..900, byte in any::<u8>()) {
            let mut text = SMAPS.to_vec();
            let at = at.min(text.len() - 1);
            text[at] = byte;
            let _ = (kinds(&text), rolled_up(&text[at..]));
        }
    }
}
