//! Reads the memory of a member for the listing.

use leveloff_model::units::Bytes;

use crate::facts::ProcessFacts;
use crate::kernel::rollup::Rollup;
use crate::proc_root::ProcRoot;
use crate::processes::handle::{ProcessHandle, SCRATCH_SIZE, Scratch};
use crate::pss::reader;

/// The memory of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemberMemory {
    /// Every page it maps, shared ones in full; `None` for a zombie.
    pub rss: Option<Bytes>,
    /// Shared pages divided among the processes that map them; `None` when it was not read.
    pub pss: Option<Bytes>,
    /// Its share of anonymous, shared and swapped memory. An upper bound when `is_estimate`.
    pub memory: Option<Bytes>,
    /// Shared pages are counted in full, because PSS was not read.
    pub is_estimate: bool,
}

/// Reading PSS walks the page tables while the process waits for its lock: 33 ms at 2 GiB, 240 ms at 8 GiB.
/// Larger processes are estimated unless the user wants exact values.
const LARGEST_READ: Bytes = Bytes(4 << 30);

/// Reads one process's memory.
pub(super) fn read(proc_root: &ProcRoot, facts: &ProcessFacts, exact: bool) -> MemberMemory {
    let Some(resident) = facts.memory else {
        return MemberMemory::default();
    };
    let rss = facts.rss();
    let rollup = (exact || rss <= Some(LARGEST_READ)).then(|| read_rollup(proc_root, facts));
    match rollup.flatten() {
        Some(rollup) => MemberMemory {
            rss,
            pss: Some(rollup.pss),
            memory: Some(
                (rollup.anon + rollup.shmem + rollup.swap).saturating_sub(rollup.lazy_free),
            ),
            is_estimate: false,
        },
        None => MemberMemory {
            rss,
            pss: None,
            memory: Some(resident.anon + resident.shmem + resident.swap),
            is_estimate: true,
        },
    }
}

fn read_rollup(proc_root: &ProcRoot, facts: &ProcessFacts) -> Option<Rollup> {
    let mut scratch: Box<Scratch> = Box::new([0; SCRATCH_SIZE]);
    let handle = ProcessHandle::open(proc_root, facts.pid(), &mut scratch).ok()?;
    if handle.key() != facts.key {
        return None;
    }
    reader::rollup(&handle.directory().ok()?, &mut scratch).ok()?
}
