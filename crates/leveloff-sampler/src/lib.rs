//! Reads the machine: the only crate of leveloff that knows Linux.
//!
//! [`kernel`] turns the kernel's files into values; [`proc_root`] says where they are. [`facts`]
//! gathers what is seen of one process, [`roles`] decides who is who in a tree, [`find`] looks for
//! training runs on the whole machine.

pub mod facts;
pub mod find;
pub mod kernel;
pub mod proc_root;
pub mod roles;
