//! Lines that allocate as rows, each written as short as what came before allows, and back.
//!
//! A file has a number from its first use on. A line is defined by the frame that stands for it; more of its stack may follow.
//! Of a reading, mostly the number of blocks is written: bytes and error follow from the last ones that were written.

mod decoder;
mod encoder;

use std::collections::BTreeMap;

use crate::allocation::{AllocationSite, SiteId, SiteReading};
use crate::process::Pid;
use crate::units::Bytes;

pub use decoder::AllocationDecoder;
pub use encoder::AllocationEncoder;

/// What the rows so far said.
#[derive(Debug, Clone, Default)]
struct Known {
    sites: BTreeMap<SiteId, AllocationSite>,
    /// The last reading of each site that had bytes and error, and the last one.
    held: BTreeMap<SiteId, (SiteReading, SiteReading)>,
    /// KiB in no site.
    rest: i64,
    /// The process of the last definition.
    pid: Option<Pid>,
}

impl Known {
    /// The source line of another site with the same frame.
    fn source_like(&self, site: &AllocationSite) -> Option<&String> {
        let own = site.own_frame()?;
        let mut others = self.sites.values();
        let same = others.find(|other| other.id != site.id && other.own_frame() == Some(own))?;
        same.source.as_ref()
    }

    /// KiB in all sites.
    fn in_sites(&self) -> i64 {
        let held = self.held.values();
        held.map(|(_, last)| kib(last.live)).sum()
    }
}

/// Bytes as KiB; amounts beyond any memory are cut.
fn kib(amount: Bytes) -> i64 {
    i64::try_from(amount.0.div_ceil(1024)).unwrap_or(i64::MAX >> 12)
}

#[cfg(test)]
mod tests;
