use std::ffi::OsString;

use clap::{Args, ValueHint};

use crate::config::ConfigChoice;

/// Which configuration file to read; accepted before and after the subcommand. The two options do not conflict: clap
/// treats a variable like an option, and --no-config must also override a variable.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub(crate) struct ConfigArgs {
    /// Read settings from this file [default: leveloff.toml or pyproject.toml, here or in a parent directory]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, env = "LEVELOFF_CONFIG")]
    config: Option<OsString>,
    /// Read no settings file
    #[arg(long, global = true)]
    no_config: bool,
}

impl ConfigArgs {
    /// An empty variable counts as not set.
    pub(crate) fn choice(&self) -> ConfigChoice {
        match &self.config {
            _ if self.no_config => ConfigChoice::Nothing,
            Some(file) if !file.is_empty() => ConfigChoice::Named(file.into()),
            _ => ConfigChoice::Nearest,
        }
    }
}
