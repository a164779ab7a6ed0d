//! The patient: a small training whose memory behaves as it is told to.
//!
//! A vision-language model learns from synthetic data, evaluates, saves checkpoints and writes
//! marks, like a training that leveloff would watch. Beside it runs a *pattern*: something that
//! memory does on purpose, with a known truth. The crate depends on no other of the workspace; what
//! it shares with leveloff is the marks protocol and what `/proc` shows.
//!
//! The story in reading order: a user asks on the command line ([`cli`]) for a [`pattern`], which is
//! what memory can do beside a training, and what is true of it; [`patterns`] has all of them by
//! name, made of [`memory`] that is really there and of [`workers`] that end with the training, and
//! the [`listing`] prints them. [`data`] is what a [`model`] learns with an [`optimiser`]; the
//! [`training`] goes step by step, saves a [`checkpoint`], writes [`marks`], shows its [`progress`],
//! and ends early if someone asks it to [`stop`]; several [`ranks`] do so in step.

pub mod cli;
pub mod environment;
pub mod notice;
pub mod sizes;

pub mod listing;
pub mod memory;
pub mod pattern;
pub mod patterns;
pub mod workers;

pub mod data;
pub mod device;
pub mod model;
pub mod optimiser;
pub mod random;

pub mod checkpoint;
pub mod marks;
pub mod progress;
pub mod ranks;
pub mod stop;
pub mod training;
