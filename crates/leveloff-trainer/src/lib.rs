//! The reference trainer: a small training with known memory behaviour.
//!
//! A vision-language model learns from synthetic data, evaluates, saves checkpoints and writes
//! marks. A *pattern* makes memory grow, level off, jump or fall on purpose, with a known truth. The
//! crate depends on no other crate of leveloff; they share the marks protocol and `/proc`.
//!
//! In reading order: the command line ([`cli`]) names a [`pattern`]; [`patterns`] has all of them,
//! made of touched [`memory`] and of [`workers`] that end with the training, and [`listing`] prints
//! them. A [`model`] learns [`data`] with an [`optimiser`]. The [`training`] goes step by step, saves a
//! [`checkpoint`], writes [`marks`], shows its [`progress`] and ends early on a request to [`stop`];
//! several [`ranks`] do so in step.

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
