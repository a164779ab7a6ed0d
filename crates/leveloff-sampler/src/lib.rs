//! Reads the machine: the only crate of leveloff that knows Linux.
//!
//! [`kernel`] turns the kernel's files into values; [`proc_root`] says where they are.

pub mod budget;
pub mod clock;
pub mod detail;
pub mod doubt;
pub mod handle;
pub mod kernel;
pub mod proc_root;
pub mod tree;
pub mod watched;
