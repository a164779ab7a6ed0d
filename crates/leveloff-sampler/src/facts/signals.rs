//! Signals that a process ignores or handles, which show what it set up for itself. A dataloader worker of
//! any torch since 0.4 handles SIGBUS, SIGFPE, SIGSEGV and SIGTERM in C; a compile worker ignores SIGINT, so
//! that only the trainer handles Ctrl-C.

use crate::kernel::status;

/// The signal dispositions in a `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signals {
    /// `SigIgn`, as a mask.
    pub ignored: u64,
    /// `SigCgt`, as a mask.
    pub caught: u64,
}

/// SIGINT alone.
const INTERRUPT: u64 = mask(2);
/// What torch's dataloader workers catch, by torch/csrc/DataLoader.cpp.
const LOADER: u64 = mask(7) | mask(8) | mask(11) | mask(15);

/// Reads both masks of a `status`; `None` when one is not there.
pub fn parse(text: &[u8]) -> Option<Signals> {
    Some(Signals {
        ignored: status::ignored_signals(text)?,
        caught: status::caught_signals(text)?,
    })
}

impl Signals {
    /// Whether it ignores Ctrl-C.
    pub fn ignores_interrupt(self) -> bool {
        self.ignored & INTERRUPT != 0
    }

    /// Whether it handles the signals that a dataloader worker handles.
    pub fn catches_as_loader(self) -> bool {
        self.caught & LOADER == LOADER
    }
}

const fn mask(signal: u32) -> u64 {
    1 << (signal - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_loader_and_a_compile_worker_show_themselves() {
        let loader = parse(b"SigIgn:\t0000000001001000\nSigCgt:\t00000001000044c2\n").unwrap();
        assert!(loader.catches_as_loader() && !loader.ignores_interrupt());
        let compile = parse(b"SigIgn:\t0000000001001002\nSigCgt:\t0000000100000000\n").unwrap();
        assert!(!compile.catches_as_loader() && compile.ignores_interrupt());
    }

    #[test]
    fn a_missing_mask_is_not_an_empty_one() {
        assert_eq!(parse(b"SigIgn:\t0000000001001000\n"), None);
        assert_eq!(parse(b"SigIgn:\tx\nSigCgt:\t0\n"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&text);
            let _ = parse(&[b"SigIgn:", &text[..]].concat());
        }
    }
}
