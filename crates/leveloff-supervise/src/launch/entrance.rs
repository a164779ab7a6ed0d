//! What the command passes on its way from fork to exec, so that a limit holds for it from its first
//! instruction, and for nobody else.
//!
//! It is done in the child itself and not by a program in between: a command that is not found is then
//! told as without it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use leveloff_model::units::Bytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// A limit on memory that the command enters. `D` is how its descriptor is held: owned, lent, or by
/// its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entrance<D = OwnedFd> {
    /// A control group: its `cgroup.procs`, open for writing.
    Group(D),
    /// This much data (RLIMIT_DATA) for each process.
    DataLimit(Bytes),
}

impl<D> Entrance<D> {
    /// The descriptor that has to be handed on.
    pub fn descriptor(&self) -> Option<&D> {
        match self {
            Entrance::Group(procs) => Some(procs),
            Entrance::DataLimit(_) => None,
        }
    }

    /// The same with its descriptor held in another way.
    pub fn held_by<T>(&self, hold: impl FnOnce(&D) -> io::Result<T>) -> io::Result<Entrance<T>> {
        Ok(match self {
            Entrance::Group(procs) => Entrance::Group(hold(procs)?),
            Entrance::DataLimit(limit) => Entrance::DataLimit(*limit),
        })
    }
}

impl Entrance {
    /// By its number, for the plan.
    pub fn numbered(&self) -> Entrance<RawFd> {
        match self {
            Entrance::Group(procs) => Entrance::Group(procs.as_raw_fd()),
            Entrance::DataLimit(limit) => Entrance::DataLimit(*limit),
        }
    }

    /// Lent, for a child that is about to pass.
    pub fn lent(&self) -> Entrance<BorrowedFd<'_>> {
        match self {
            Entrance::Group(procs) => Entrance::Group(procs.as_fd()),
            Entrance::DataLimit(limit) => Entrance::DataLimit(*limit),
        }
    }
}

/// In a control group's `cgroup.procs`, whoever writes it means itself.
const MYSELF: &[u8] = b"0";

impl Entrance<BorrowedFd<'_>> {
    /// Puts the calling process inside. Makes system calls only, and allocates nothing.
    pub fn pass(&self) -> io::Result<()> {
        match self {
            Entrance::Group(procs) => rustix::io::write(procs, MYSELF)?,
            Entrance::DataLimit(limit) => {
                setrlimit(
                    Resource::Data,
                    tightened(getrlimit(Resource::Data), limit.0),
                )?;
                0
            }
        };
        Ok(())
    }
}

/// A limit that is there already is never loosened.
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
