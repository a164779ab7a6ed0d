//! A member's memory for the listing: one reading, taken now.

use leveloff_model::units::Bytes;

use crate::facts::ProcessFacts;
use crate::kernel::rollup::Rollup;
use crate::proc_root::ProcRoot;
use crate::processes::handle::{ProcessHandle, SCRATCH_SIZE, Scratch};
use crate::pss::reader;

/// What a process holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemberMemory {
    /// Every page it maps, shared ones in full; `None` for a zombie.
    pub rss: Option<Bytes>,
    /// Shared pages divided among those who map them; `None` when it was not read.
    pub pss: Option<Bytes>,
    /// Its share of anonymous, shared and swapped memory. An upper bound when `is_estimate`.
    pub memory: Option<Bytes>,
    /// Shared pages could not be told apart, so they are counted in full.
    pub is_estimate: bool,
}

/// Reading shared memory walks the page tables while the process waits for its lock: 33 ms at
/// 2 GiB, 240 ms at 8 GiB. Bigger processes are estimated unless exactness is asked for.
const READ_WITHOUT_ASKING: Bytes = Bytes(4 << 30);

/// Reads one process's memory.
pub(super) fn read(proc_root: &ProcRoot, facts: &ProcessFacts, exact: bool) -> MemberMemory {
    let Some(resident) = facts.memory else {
        return MemberMemory::default();
    };
    let rss = facts.rss();
    let rollup = (exact || rss <= Some(READ_WITHOUT_ASKING)).then(|| read_rollup(proc_root, facts));
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
