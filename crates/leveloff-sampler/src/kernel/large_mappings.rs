//! Large private anonymous mappings of a process, by where they lie and how much of them is used.

use leveloff_model::units::Bytes;

/// The large anonymous mappings of a `smaps`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LargeMappings {
    mappings: Vec<LargeMapping>,
    has_own_allocator: bool,
    is_open: bool,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LargeMapping {
    /// Its first address.
    pub start: u64,
    /// The address behind its last.
    pub end: u64,
    /// Its pages that are in memory or swapped out.
    pub used: Bytes,
}

/// Smaller ones are not worth following: what is material is at least 8 MB.
const LEAST_SIZE: u64 = 16 << 20;

/// More are no buffers. The bound keeps a process with 65,000 mappings cheap.
const MOST: usize = 256;

/// glibc aligns the heaps of threads to 64 MiB, mimalloc its arenas to 32 MiB. They are reserved at once and filled by any
/// allocation, a leak too.
const ARENA_ALIGNMENT: u64 = 32 << 20;

/// Libraries that reserve large arenas, or have such an allocator built in.
const ALLOCATORS: [&[u8]; 5] = [
    b"jemalloc",
    b"mimalloc",
    b"tcmalloc",
    b"libarrow",
    b"polars",
];

impl LargeMappings {
    /// Takes the first line of a mapping, with its path.
    pub fn begin(&mut self, line: &[u8], path: &[u8]) {
        self.is_open = false;
        if path.is_empty() {
            self.begin_anonymous(line);
        } else if !self.has_own_allocator {
            self.has_own_allocator = is_allocator(path);
        }
    }

    /// Adds used memory of the mapping that was begun.
    pub fn add_used(&mut self, amount: Bytes) {
        if let Some(mapping) = self.mappings.last_mut().filter(|_| self.is_open) {
            mapping.used += amount;
        }
    }

    /// Those that may be buffers: none where an allocator is loaded that reserves its arenas.
    pub fn buffers(&self) -> &[LargeMapping] {
        match self.has_own_allocator {
            true => &[],
            false => &self.mappings,
        }
    }

    fn begin_anonymous(&mut self, line: &[u8]) {
        let Some((start, end)) = private_range(line) else {
            return;
        };
        let is_large = end.saturating_sub(start) >= LEAST_SIZE;
        if is_large && !start.is_multiple_of(ARENA_ALIGNMENT) && self.mappings.len() < MOST {
            let used = Bytes::ZERO;
            self.mappings.push(LargeMapping { start, end, used });
            self.is_open = true;
        }
    }
}

impl LargeMapping {
    /// Its size.
    pub fn size(&self) -> Bytes {
        Bytes(self.end - self.start)
    }

    /// Whether it has an address in common with another.
    pub fn overlaps(&self, other: &LargeMapping) -> bool {
        self.start < other.end && other.start < self.end
    }
}

fn is_allocator(path: &[u8]) -> bool {
    let contains = |name: &[u8]| path.windows(name.len()).any(|part| part == name);
    ALLOCATORS.iter().any(|name| contains(name))
}

/// The addresses of a private mapping that can be written to.
fn private_range(line: &[u8]) -> Option<(u64, u64)> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    let range = (address(start)?, address(end)?);
    let is_writable = words.next()?.starts_with("rw-p");
    (is_writable && range.0 < range.1).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[(&str, &str, u64)]) -> LargeMappings {
        let mut large = LargeMappings::default();
        for (line, path, used) in lines {
            large.begin(line.as_bytes(), path.as_bytes());
            large.add_used(Bytes(*used));
        }
        large
    }

    #[test]
    fn a_large_private_mapping_is_a_buffer() {
        let large = of(&[
            ("7f0000001000-7f0008001000 rw-p 00000000 00:00 0", "", 5),
            ("7f0010001000-7f0010002000 rw-p 00000000 00:00 0", "", 7),
            ("7f0020001000-7f0028001000 ---p 00000000 00:00 0", "", 9),
            ("7f0030001000-7f0038001000 rw-s 00000000 00:00 0", "", 9),
        ]);
        assert_eq!(large.buffers().len(), 1);
        let buffer = large.buffers()[0];
        assert_eq!((buffer.size(), buffer.used), (Bytes(128 << 20), Bytes(5)));
    }

    #[test]
    fn arenas_are_none() {
        let heap = ("7f0000000000-7f0004000000 rw-p 00000000 00:00 0", "", 5);
        assert!(of(&[heap]).buffers().is_empty());
        let buffer = ("7f0000001000-7f0008001000 rw-p 00000000 00:00 0", "", 5);
        let library = (
            "7f1000000000-7f1000001000 r--p 00000000 00:00 3",
            "/lib/libjemalloc.so.2",
            1,
        );
        assert!(of(&[buffer, library]).buffers().is_empty());
        let other = (
            "7f1000000000-7f1000001000 r--p 00000000 00:00 3",
            "/lib/libc.so.6",
            1,
        );
        assert_eq!(of(&[buffer, other]).buffers().len(), 1);
    }
}
