//! The kernel's files as values: each parser takes bytes and touches nothing else.
//!
//! The files that are read for every process at every tick have parsers of our own. The `procfs`
//! crate opens a file for every call and reads names as UTF-8, while a process may call itself
//! anything; the rarer, well-formed files (mounts, cgroup membership, limits) go through
//! `procfs-core`.

pub mod keyed;
pub mod large_mappings;
pub mod rollup;
pub mod smaps;
pub mod stat;
pub mod statm;
pub mod status;
