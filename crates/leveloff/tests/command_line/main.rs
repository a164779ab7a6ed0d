//! The command line through the built binary, on real processes and real files: what users type,
//! what they get, and what the recording holds afterwards. How `run` passes terminals, pipes
//! and signals on is tested in `launch_*.rs`.

#![allow(clippy::unwrap_used)] // Helpers of tests count as tests.

mod blame;
mod blame_attach;
mod blame_holders;
mod blame_safety;
mod check;
mod compare;
mod config;
mod demo;
mod discretion;
mod export;
mod fleet;
mod golden;
mod guard;
mod hardship;
mod history;
mod isolate;
mod judge;
mod marks;
mod metrics;
mod newer_writer;
mod oom;
mod record;
mod recording;
mod report;
mod run;
mod sheet;
mod shim;
mod software;
mod stage;
mod steps;
mod stories;
mod traces;
mod trial;
mod usage;
mod voice;
mod watched_process;

#[path = "../launch_support/terminal.rs"]
mod terminal;
