//! `/proc/PID/statm`: the cheapest memory counters of a process, in pages.

use leveloff_model::units::Bytes;

use super::keyed::leading_number;

/// Resident memory, split as far as `statm` splits it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statm {
    /// Anonymous pages.
    pub anon: Bytes,
    /// File and shared-memory pages together.
    pub shared: Bytes,
    /// Address space.
    pub virtual_size: Bytes,
}

impl Statm {
    /// What no process has.
    pub(crate) const UNREAD: Statm = Statm {
        anon: Bytes(u64::MAX),
        shared: Bytes(u64::MAX),
        virtual_size: Bytes(u64::MAX),
    };
}

/// Reads `statm`; `None` when the bytes are not one.
pub fn parse(text: &[u8], page_size: u64) -> Option<Statm> {
    let (virtual_size, rest) = leading_number(text)?;
    let (resident, rest) = leading_number(rest.strip_prefix(b" ")?)?;
    let (shared, _) = leading_number(rest.strip_prefix(b" ")?)?;
    Some(Statm {
        // The counters are read one after the other, so shared may briefly exceed resident.
        anon: Bytes(resident.saturating_sub(shared).checked_mul(page_size)?),
        shared: Bytes(shared.checked_mul(page_size)?),
        virtual_size: Bytes(virtual_size.checked_mul(page_size)?),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pages_become_bytes_and_anonymous_is_what_is_not_shared() {
        let statm = parse(b"2000 500 200 3 0 900 0\n", 4096).unwrap();
        assert_eq!(
            statm,
            Statm {
                anon: Bytes(300 * 4096),
                shared: Bytes(200 * 4096),
                virtual_size: Bytes(2000 * 4096),
            }
        );
    }

    #[test]
    fn a_zombie_has_zeros() {
        assert_eq!(parse(b"0 0 0 0 0 0 0\n", 4096), Some(Statm::default()));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse(&text, 4096);
        }
    }
}
