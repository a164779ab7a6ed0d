//! Reads the machine, tick by tick.
//!
//! [`sampler`] is one tick, in order. It uses, from the bottom up:
//!
//! - [`kernel`] parses the kernel's files; [`proc_root`] says where they are, [`clock`] reads time.
//! - [`facts`] reads what is visible of one process from outside; [`roles`] decides from that which process
//!   trains, loads data or compiles; [`find`] lists the training runs of the machine.
//! - [`processes`] finds the processes of a run and reads their counters; `pss` reads what they share, within
//!   a CPU budget.
//! - [`system`] reads the host's memory, control groups and limits; [`gpu`] the memory on the cards.
//! - [`progress`] follows the training's steps; `software` reads which software it runs.
//! - [`signalling`] sends signals. It is the only module that affects a process.

pub mod clock;
pub mod facts;
pub mod find;
mod gap_log;
pub mod gpu;
mod kept_file;
pub mod kernel;
pub mod proc_root;
pub mod processes;
pub mod progress;
mod pss;
mod regular_file;
pub mod roles;
pub mod sampler;
pub mod signalling;
mod software;
pub mod system;
mod worker_thread;
