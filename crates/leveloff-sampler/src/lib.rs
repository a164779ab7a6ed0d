//! Reads the machine: the only crate of leveloff that knows Linux.
//!
//! [`kernel`] turns the kernel's files into values; [`proc_root`] says where they are. Around the
//! processes: [`machine`] is the host's memory, [`cgroup`] the target's control group, [`ceiling`]
//! which limit is nearest, [`gpu`] the memory on the cards.

pub mod ceiling;
pub mod cgroup;
pub mod gpu;
pub mod kernel;
pub mod machine;
pub mod proc_root;
