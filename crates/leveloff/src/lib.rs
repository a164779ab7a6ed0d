//! The `leveloff` command, one module for each subcommand.

pub mod find;
