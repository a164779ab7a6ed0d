//! The machine around the processes: memory of the host, control groups, limits.
//!
//! [`machine`] reads the host's memory, [`cgroup`] the control group of the run, [`ceiling`] finds the limit
//! with the least headroom, `shared_files` finds whose the files in /dev/shm are, `memory_files` adds up the memfds of the run, and
//! `SystemReaders` reads all of them, each at its own interval.
//! [`container`] detects containers.

pub mod ceiling;
pub mod cgroup;
pub mod container;
pub mod machine;
mod memory_files;
mod shared_files;
mod system_readers;

pub use system_readers::Ceilings;
pub(crate) use system_readers::SystemReaders;
