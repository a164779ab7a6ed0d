//! The leveloff command: arguments in [`cli`], then one module for each thing it does.

pub mod cli;
pub mod export;
pub mod recorder;
pub mod summary;
