//! What the kernel counts as this process's memory.

use std::fs;
use std::io;

use crate::pattern::PatternError;

/// A line of `smaps_rollup`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// All that is resident.
    Resident,
    /// What belongs to no file.
    Anonymous,
}

/// Asks about this process. The counters in `statm` may be off by some hundred KiB on a machine of
/// many cores; this walks the pages and is exact.
pub fn memory(counted: Counted) -> Result<u64, PatternError> {
    let read = fs::read("/proc/self/smaps_rollup").and_then(|rollup| {
        parse(&rollup, counted).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    });
    read.map_err(|error| {
        let what = "cannot read this process's memory in /proc/self/smaps_rollup";
        PatternError::new(
            what,
            error,
            "it takes Linux 4.14 or later and a mounted /proc",
        )
    })
}

/// Finds a line such as `Rss:    1234 kB`, in bytes.
fn parse(rollup: &[u8], counted: Counted) -> Option<u64> {
    let name: &[u8] = match counted {
        Counted::Resident => b"Rss:",
        Counted::Anonymous => b"Anonymous:",
    };
    let mut lines = rollup.split(|&byte| byte == b'\n');
    let value = lines.find_map(|line| line.strip_prefix(name))?;
    let value = std::str::from_utf8(value).ok()?.trim();
    let kib: u64 = value.strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROLLUP: &[u8] = b"55ddd4c1e000-7ffd8d2a4000 ---p 00000000 00:00 0  [rollup]\n\
        Rss:                1848 kB\nPss:                 301 kB\nAnonymous:           132 kB\n";

    #[test]
    fn lines_are_found_by_name() {
        assert_eq!(parse(ROLLUP, Counted::Resident), Some(1848 * 1024));
        assert_eq!(parse(ROLLUP, Counted::Anonymous), Some(132 * 1024));
        assert_eq!(parse(&ROLLUP[..100], Counted::Anonymous), None);
    }

    #[test]
    fn this_process_has_memory() {
        let resident = memory(Counted::Resident).unwrap();
        assert!(memory(Counted::Anonymous).unwrap() < resident);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..200), digits in "[0-9]{0,24}") {
            let _ = parse(&bytes, Counted::Resident);
            let _ = parse(format!("Rss: {digits} kB").as_bytes(), Counted::Resident);
        }
    }
}
