//! `/proc/PID/status`: what `statm` does not split, and a process's pid in its own namespace.

use leveloff_model::process::Pid;
use leveloff_model::units::Bytes;

use super::keyed::{each_number, leading_number};

/// The memory fields of `status`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatusMemory {
    /// RssAnon.
    pub anon: Bytes,
    /// RssFile.
    pub file: Bytes,
    /// RssShmem.
    pub shmem: Bytes,
    /// VmSwap.
    pub swap: Bytes,
}

/// Reads the memory fields; `None` for a zombie or a kernel thread, which have none.
pub fn memory(text: &[u8]) -> Option<StatusMemory> {
    let mut memory = StatusMemory::default();
    let mut seen = false;
    each_number(text, |key, kib| {
        let amount = Bytes::from_kib(kib);
        match key {
            b"RssAnon" => (memory.anon, seen) = (amount, true),
            b"RssFile" => memory.file = amount,
            b"RssShmem" => memory.shmem = amount,
            b"VmSwap" => memory.swap = amount,
            _ => {}
        }
    });
    seen.then_some(memory)
}

/// The owner's user number (the effective one).
pub fn effective_uid(text: &[u8]) -> Option<u32> {
    let mut fields = line_of(text, b"Uid:")?;
    fields.nth(1)
}

/// The pid that the process itself sees: the innermost of `NSpid`.
pub fn own_pid(text: &[u8]) -> Option<Pid> {
    let innermost = line_of(text, b"NSpid:")?.last()?;
    i32::try_from(innermost).ok().map(Pid)
}

/// The signals that it has a handler for, as a mask: bit 0 is signal 1.
pub fn caught_signals(text: &[u8]) -> Option<u64> {
    mask_of(text, b"SigCgt:")
}

/// The signals that it ignores.
pub fn ignored_signals(text: &[u8]) -> Option<u64> {
    mask_of(text, b"SigIgn:")
}

fn mask_of(text: &[u8], key: &[u8]) -> Option<u64> {
    let mut lines = text.split(|&b| b == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(key))?;
    u64::from_str_radix(std::str::from_utf8(line).ok()?.trim(), 16).ok()
}

fn line_of<'a>(text: &'a [u8], key: &'a [u8]) -> Option<impl Iterator<Item = u32> + 'a> {
    let line = text
        .split(|&b| b == b'\n')
        .find_map(|line| line.strip_prefix(key))?;
    Some(
        line.split(u8::is_ascii_whitespace)
            .filter_map(|field| leading_number(field).and_then(|(n, _)| u32::try_from(n).ok())),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STATUS: &[u8] = b"Name:\tRssAnon: 7\nUmask:\t0022\nUid:\t1000\t1001\t1000\t1000\nNSpid:\t4312\t17\nVmRSS:\t  600 kB\nRssAnon:\t  100 kB\nRssFile:\t  300 kB\nRssShmem:\t  200 kB\nVmSwap:\t   50 kB\n";

    #[test]
    fn memory_is_split_and_swap_counted() {
        let memory = memory(STATUS).unwrap();
        assert_eq!(memory.anon, Bytes(100 << 10));
        assert_eq!(memory.shmem, Bytes(200 << 10));
        assert_eq!(memory.swap, Bytes(50 << 10));
    }

    #[test]
    fn masks_of_signals_are_hexadecimal() {
        let text = b"SigIgn:\t0000000000001000\nSigCgt:\t0000000180014202\n";
        assert_eq!(ignored_signals(text), Some(0x1000));
        assert_eq!(caught_signals(text), Some(0x1_8001_4202));
        assert_eq!(caught_signals(b"SigCgt:\tnone\n"), None);
    }

    #[test]
    fn a_zombie_has_no_memory_fields() {
        assert_eq!(memory(b"Name:\tx\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn owner_and_inner_pid_are_read() {
        assert_eq!(effective_uid(STATUS), Some(1001));
        assert_eq!(own_pid(STATUS), Some(Pid(17)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = (memory(&text), effective_uid(&text), own_pid(&text));
        }
    }
}
