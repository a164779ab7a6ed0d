//! Reads the machine: the only crate of leveloff that knows Linux.
//!
//! [`sampler`] is the whole of one look, in order. It stands on these, from the bottom up:
//!
//! - [`kernel`] turns the kernel's files into values; [`proc_root`] says where they are and
//!   [`clock`] what time it is; [`handle`] holds a process by descriptors.
//! - [`births`] tells who is new, [`tree`] who belongs to a run; [`watched`] reads one process's
//!   cheap counters.
//! - [`facts`] gathers what is seen of one process, [`roles`] decides who is who in a tree, [`cast`]
//!   keeps that up to date; [`roster`] is all of it for one run. [`find`] looks for training runs on
//!   the whole machine.
//! - [`doubt`], [`budget`] and [`pss_plan`] decide whose PSS is worth reading now; [`detail`] reads
//!   it on a thread of its own; [`shared_memory`] is all of it for one run.
//! - Around the processes: [`machine`] is the host's memory, [`cgroup`] the target's control group,
//!   [`ceiling`] which limit is nearest, [`gpu`] the memory on the cards, [`surroundings`] all of
//!   them at their pace.
//! - [`signalling`] is the only place that touches a process; [`container`] says whether it is in one.
//! - [`progress`] learns the training's steps, [`software`] with which software it runs.

pub mod births;
pub mod budget;
pub mod cast;
pub mod ceiling;
pub mod cgroup;
pub mod clock;
pub mod container;
pub mod detail;
pub mod doubt;
pub mod facts;
pub mod find;
pub mod gpu;
pub mod handle;
pub mod kernel;
pub mod machine;
pub mod proc_root;
pub mod progress;
pub mod pss_plan;
pub mod roles;
pub mod roster;
pub mod sampler;
pub mod shared_memory;
pub mod signalling;
pub mod software;
pub mod surroundings;
pub mod tree;
pub mod watched;
