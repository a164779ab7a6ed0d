//! Reads the machine: the only crate of leveloff that knows Linux.
//!
//! [`kernel`] turns the kernel's files into values; [`proc_root`] says where they are; [`progress`]
//! learns the training's steps.

pub mod kernel;
pub mod proc_root;
pub mod progress;
