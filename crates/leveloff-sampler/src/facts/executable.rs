//! Searches an executable for a framework that is linked into it.
//!
//! candle leaves no library behind. Its panic messages name their source files, and those names
//! stay in a stripped executable, near its beginning where the read-only data is.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use leveloff_model::units::Bytes;
use memchr::memmem;

/// Programs with less memory are not searched: the smallest measured candle trainer, two layers of 64, had
/// 14 MB.
pub const SMALLEST_TRAINER: Bytes = Bytes(8 << 20);

/// How much of a file is searched. Read-only data precedes code, so more would find no more.
const SEARCHED: usize = 32 << 20;
const CHUNK: usize = 1 << 20;

/// Packaged programs are not candle trainers, and there are many of them.
const PACKAGED: [&[u8]; 6] = [
    b"/usr/", b"/bin/", b"/sbin/", b"/lib/", b"/lib64/", b"/snap/",
];

/// Whether the program that `exe` links to contains candle. `false` for a file that may not be read.
pub fn names_candle(exe: &Path) -> bool {
    match std::fs::read_link(exe) {
        Ok(target) if !is_packaged(target.as_os_str().as_bytes()) => {
            File::open(exe).is_ok_and(contains_candle)
        }
        _ => false,
    }
}

fn is_packaged(path: &[u8]) -> bool {
    // Users install their own programs in /usr/local.
    !path.starts_with(b"/usr/local/") && PACKAGED.iter().any(|prefix| path.starts_with(prefix))
}

fn contains_candle(mut file: impl Read) -> bool {
    let mut window = Vec::with_capacity(CHUNK + LONGEST_PATH);
    for _ in 0..SEARCHED / CHUNK {
        match file.by_ref().take(CHUNK as u64).read_to_end(&mut window) {
            Ok(0) | Err(_) => return false,
            Ok(_) if names_a_source(&window) => return true,
            // Keeps more than a path, so that none is lost between two chunks.
            Ok(_) => drop(window.drain(..window.len().saturating_sub(LONGEST_PATH))),
        }
    }
    false
}

/// `candle-core-0.9.1/src/` from a registry or `candle-core/src/` from a checkout; the bare name may be in
/// any program that mentions candle.
fn names_a_source(window: &[u8]) -> bool {
    // Joined at run time: as a constant beside the next one, it would match leveloff's own executable.
    let name = ["candle", "core"].join("-");
    memmem::find_iter(window, &name).any(|at| {
        let rest = &window[at + name.len()..];
        let is_version = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'+');
        let version = match rest {
            [b'-', b'0'..=b'9', ..] => rest.iter().take_while(|&b| is_version(b)).count(),
            _ => 0,
        };
        rest[version..].starts_with(b"/src/")
    })
}

/// Longer than the part of a path that is matched.
const LONGEST_PATH: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn file_with(prefix: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; prefix];
        // Put together here: otherwise this test's own executable would be a candle trainer.
        bytes.extend_from_slice(
            ["/registry/candle-core", "0.9.1/src/tensor.rs"]
                .join("-")
                .as_bytes(),
        );
        bytes
    }

    #[test]
    fn a_source_path_is_found_wherever_chunks_are_cut() {
        for prefix in [0, 10, CHUNK - 20, CHUNK - 12, CHUNK, 3 * CHUNK + 7] {
            assert!(contains_candle(&file_with(prefix)[..]), "{prefix}");
        }
        assert!(
            !contains_candle(&file_with(SEARCHED)[..]),
            "the search is bounded"
        );
        assert!(!contains_candle(&vec![b'c'; CHUNK * 2][..]));
    }

    #[test]
    fn talking_about_candle_is_not_having_it() {
        assert!(!contains_candle(&b"see candle-core for details /src/"[..]));
        let checkout = ["/home/user/candle/candle-core", "src/lib.rs"].join("/");
        assert!(contains_candle(checkout.as_bytes()));
    }

    #[test]
    fn packaged_programs_are_passed_over() {
        assert!(is_packaged(b"/usr/bin/python3.11"));
        assert!(!is_packaged(b"/usr/local/bin/trainer"));
        assert!(!is_packaged(b"/home/user/target/release/trainer"));
    }
}
