//! Which configuration file to read.

use std::ffi::OsString;

use clap::{Args, ValueHint};

use crate::config::ConfigChoice;

/// Which configuration file to read; taken before and after the subcommand. The two do not conflict: to
/// clap a variable that names a file is as good as a flag, and whoever wants none means that as well.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigArgs {
    /// Take settings from this file [default: leveloff.toml or pyproject.toml, here or above]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, env = "LEVELOFF_CONFIG")]
    config: Option<OsString>,
    /// Take settings from no file, whatever else names one
    #[arg(long, global = true)]
    no_config: bool,
}

impl ConfigArgs {
    /// What was chosen. A variable that is empty is as good as none.
    pub fn choice(&self) -> ConfigChoice {
        match &self.config {
            _ if self.no_config => ConfigChoice::Nothing,
            Some(file) if !file.is_empty() => ConfigChoice::Named(file.into()),
            _ => ConfigChoice::Nearest,
        }
    }
}
