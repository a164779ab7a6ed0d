//! The patient: a small training whose memory behaves as it is told to.
//!
//! A vision-language model learns from synthetic data, evaluates, saves checkpoints and writes
//! marks, like a training that leveloff would watch. Beside it runs a *pattern*: something that
//! memory does on purpose, with a known truth. The crate depends on no other of the workspace; what
//! it shares with leveloff is the marks protocol and what `/proc` shows.
//!
//! The story in reading order: a [`pattern`] is what memory can do beside a training, and what is
//! true of it; [`patterns`] has all of them by name; they are made of [`memory`] that is really there
//! and of [`workers`] that end with the training.

pub mod memory;
pub mod pattern;
pub mod patterns;
pub mod sizes;
pub mod workers;
