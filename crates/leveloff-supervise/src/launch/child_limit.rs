//! A memory limit that the command applies to itself between fork and exec, so that it holds from the first instruction and
//! for no other process.
//!
//! The child does it itself, without a program in between, so that a command that is not found gives the same error as without
//! a limit.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use leveloff_model::units::Bytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// The limit. `D` is how its descriptor is held: owned, borrowed, or as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChildLimit<D = OwnedFd> {
    /// A control group: its `cgroup.procs`, open for writing.
    Cgroup(D),
    /// RLIMIT_DATA for each process.
    DataLimit(Bytes),
}

impl<D> ChildLimit<D> {
    /// The descriptor that the relay has to inherit.
    pub fn descriptor(&self) -> Option<&D> {
        match self {
            ChildLimit::Cgroup(procs) => Some(procs),
            ChildLimit::DataLimit(_) => None,
        }
    }

    /// The same limit with its descriptor held in another way.
    pub fn map<'a, T>(&'a self, hold: impl FnOnce(&'a D) -> T) -> ChildLimit<T> {
        match self {
            ChildLimit::Cgroup(procs) => ChildLimit::Cgroup(hold(procs)),
            ChildLimit::DataLimit(limit) => ChildLimit::DataLimit(*limit),
        }
    }
}

impl<D> ChildLimit<io::Result<D>> {
    /// The limit, or the error of its descriptor.
    pub fn transpose(self) -> io::Result<ChildLimit<D>> {
        Ok(match self {
            ChildLimit::Cgroup(procs) => ChildLimit::Cgroup(procs?),
            ChildLimit::DataLimit(limit) => ChildLimit::DataLimit(limit),
        })
    }
}

/// In `cgroup.procs`, 0 stands for the writing process.
const MYSELF: &[u8] = b"0";

impl ChildLimit<BorrowedFd<'_>> {
    /// Applies the limit to the calling process. Makes system calls only, and allocates nothing.
    pub fn apply(&self) -> io::Result<()> {
        match self {
            ChildLimit::Cgroup(procs) => {
                rustix::io::write(procs, MYSELF)?;
            }
            ChildLimit::DataLimit(limit) => {
                let tightened = tightened(getrlimit(Resource::Data), limit.0);
                setrlimit(Resource::Data, tightened)?;
            }
        }
        Ok(())
    }
}

/// Never raises an existing limit.
fn tightened(before: Rlimit, limit: u64) -> Rlimit {
    let lower = |now: Option<u64>| Some(now.map_or(limit, |now| now.min(limit)));
    Rlimit {
        current: lower(before.current),
        maximum: lower(before.maximum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tighter_limit_stays() {
        let before = Rlimit {
            current: Some(10),
            maximum: None,
        };
        let after = tightened(before, 20);
        assert_eq!((after.current, after.maximum), (Some(10), Some(20)));
    }
}
