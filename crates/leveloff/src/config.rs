//! Settings that a project keeps: `leveloff.toml`, or `[tool.leveloff]` in `pyproject.toml`.
//!
//! [`ConfigChoice`] says which file to use, [`ConfigSearch`] finds it and checks that it can be trusted, [`Config`] is its
//! checked content, and [`with_defaults`] makes default values of the command line from it: options and `LEVELOFF_*`
//! variables take precedence, and no subcommand knows about the file.

use std::path::PathBuf;

pub(crate) use content::Config;
pub(crate) use defaults::with_defaults;
pub(crate) use error::ConfigError;
#[cfg(test)]
pub(crate) use keys::KEYS;
pub(crate) use keys::applies_to;
pub(crate) use search::ConfigSearch;
pub(crate) use tables::CHECK;
#[cfg(test)]
pub(crate) use tables::Flavour;

mod content;
mod defaults;
mod error;
mod keys;
mod kind;
mod search;
mod tables;

/// Which file to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum ConfigChoice {
    /// The nearest one, if any.
    #[default]
    Nearest,
    /// This one, regardless of its owner; it must exist.
    Named(PathBuf),
    Nothing,
}
