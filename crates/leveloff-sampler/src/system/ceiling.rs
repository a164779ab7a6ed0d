//! Finds the limit that growth reaches first.

use std::io;

use leveloff_model::process::Pid;
use leveloff_model::sample::{Ceiling, CeilingKind, MachineReading};
use leveloff_model::units::{Bytes, Limit};

use crate::kept_file::read_once;
use crate::kernel::keyed::{each_number, leading_number};
use crate::proc_root::ProcRoot;

/// Everything that may limit a run.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// What the user stated.
    pub stated: Option<Limit>,
    /// The nearest limit of the target's control group and its ancestors; see
    /// [`super::cgroup::CgroupReader::ceiling`].
    pub cgroup: Option<Ceiling>,
    /// The nearest of the trainer's own limits; see [`rlimit`].
    pub rlimit: Option<Ceiling>,
    /// The host.
    pub machine: &'a MachineReading,
    /// The memory of the tree, which a stated size is compared with.
    pub tree: Bytes,
}

/// The limit with the least headroom; `None` when no limit is known.
///
/// A stated share is a share of the nearest other limit, and is then nearer than that one.
pub fn nearest(limits: &Limits<'_>) -> Option<Ceiling> {
    let found = [limits.cgroup, limits.rlimit, host(limits.machine)]
        .into_iter()
        .flatten()
        .min_by_key(Ceiling::headroom);
    let stated = limits
        .stated
        .and_then(|stated| stated_ceiling(stated, found, limits.tree));
    // On equal headroom the first wins: the stated limit before the one of the machine.
    [stated, found]
        .into_iter()
        .flatten()
        .min_by_key(Ceiling::headroom)
}

/// The nearer of RLIMIT_AS and RLIMIT_DATA of a process, if it has one of them.
///
/// These limit addresses, not pages. The kernel compares them with VmSize and VmData at an allocation.
pub fn rlimit(proc: &ProcRoot, pid: Pid) -> io::Result<Option<Ceiling>> {
    let directory = proc.process(pid);
    let limits = read_once(&directory.join("limits"))?;
    if soft_limits(&limits) == (None, None) {
        // The usual case, without a read of `status`.
        return Ok(None);
    }
    let status = read_once(&directory.join("status"))?;
    Ok(rlimit_ceiling(&limits, &status))
}

/// The host's memory and swap together.
///
/// The headroom is the kernel's estimate of what is available without swapping, and the free swap. MemTotal −
/// MemFree would count the page cache as used; RAM alone would show a machine with 64 GiB of empty swap as
/// full.
pub fn host(machine: &MachineReading) -> Option<Ceiling> {
    let (total, available) = (machine.total?, machine.available?);
    // Where swap is unknown it cannot be relied upon.
    let (swap, swap_free) = match (machine.swap_total, machine.swap_used) {
        (Some(swap), Some(used)) => (swap, swap.saturating_sub(used)),
        _ => (Bytes::ZERO, Bytes::ZERO),
    };
    let limit = total + swap;
    Some(Ceiling {
        kind: CeilingKind::Host,
        limit,
        used: limit.saturating_sub(available + swap_free),
    })
}

fn stated_ceiling(stated: Limit, nearest: Option<Ceiling>, tree: Bytes) -> Option<Ceiling> {
    match stated {
        Limit::Size(limit) => Some(Ceiling {
            kind: CeilingKind::Stated,
            limit,
            used: tree,
        }),
        Limit::Share(share) => nearest.map(|other| Ceiling {
            kind: CeilingKind::Stated,
            limit: Bytes((other.limit.0 as f64 * share) as u64),
            used: other.used,
        }),
    }
}

fn rlimit_ceiling(limits: &[u8], status: &[u8]) -> Option<Ceiling> {
    let (address_space, data) = soft_limits(limits);
    let (mut vm_size, mut vm_data) = (None, None);
    each_number(status, |key, kib| match key {
        b"VmSize" => vm_size = Some(Bytes::from_kib(kib)),
        b"VmData" => vm_data = Some(Bytes::from_kib(kib)),
        _ => {}
    });
    [address_space.zip(vm_size), data.zip(vm_data)]
        .into_iter()
        .flatten()
        .map(|(limit, used)| Ceiling {
            kind: CeilingKind::Rlimit,
            limit,
            used,
        })
        .min_by_key(Ceiling::headroom)
}

/// The soft limits on the address space and on data, from `/proc/PID/limits`.
fn soft_limits(text: &[u8]) -> (Option<Bytes>, Option<Bytes>) {
    let soft = |name: &[u8]| {
        let rest = text
            .split(|&b| b == b'\n')
            .find_map(|line| line.strip_prefix(name))?;
        // The soft limit comes first; `unlimited` is no number.
        let (bytes, _) = leading_number(rest.trim_ascii_start())?;
        Some(Bytes(bytes))
    };
    (soft(b"Max address space "), soft(b"Max data size "))
}

#[cfg(test)]
mod tests;
