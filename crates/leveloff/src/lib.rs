//! The leveloff command: arguments in [`cli`], then one module for each thing it does.
//!
//! [`demo`], [`find`], [`run`], [`record`], [`judge`], [`export`] and [`doctor`] are the subcommands.
//! [`run`] starts its command through [`launch`]; it, [`record`] and [`demo`] drive a [`session`]:
//! sampler in, [`recorder`] and [`summary`] out. [`judge`] reads through [`intake`].

pub mod cli;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod find;
pub mod intake;
pub mod judge;
pub mod launch;
pub mod notice;
pub mod record;
pub mod recorder;
pub mod run;
pub mod screen;
pub mod session;
pub mod stop_requests;
pub mod summary;
