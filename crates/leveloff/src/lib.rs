//! The leveloff command: arguments in [`cli`], what the project's file says of them in [`config`], then
//! one module for each thing it does.
//!
//! [`demo`], [`find`], [`run`], [`watch`], [`record`], [`replay`], [`judge`], [`export`] and [`doctor`]
//! are the subcommands. [`run`] starts its command through [`launch`](leveloff_supervise::launch), with [`isolate`](leveloff_supervise::isolate) around it if asked to, [`watch`] and [`record`] find
//! theirs as a [`run_target`]; they and [`demo`] drive a [`session`]: sampler in, [`recorder`] and
//! [`summary`] out, [`oom`](leveloff_supervise::oom) when the kernel ended it, ticks to a [`show`] where there is a screen, and to a [`guard`]
//! where there is a limit, which may [`restart`](leveloff_supervise::restart) the run, and to [`metrics`] where others collect them. [`judge`] reads through `leveloff-readers`,
//! [`report`] as well, as a [`run_reader`]; what they write goes through [`outputs`]. [`fleet`] reads
//! from a Prometheus instead.

pub mod check;
pub mod cli;
pub mod compare;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod find;
pub mod fleet;
pub mod guard;
pub mod judge;
pub mod metrics;
pub mod notice;
pub mod outputs;
pub mod record;
pub mod recorder;
pub mod replay;
pub mod report;
pub mod run;
pub mod run_reader;
pub mod run_target;
pub mod screen;
pub mod session;
pub mod show;
pub mod summary;
pub mod watch;
