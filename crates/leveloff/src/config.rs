//! Settings that a project keeps: `leveloff.toml`, or `[tool.leveloff]` in `pyproject.toml`.
//!
//! [`ConfigChoice`] says whether to look for a file, [`Seeker`] finds it and asks whether it can be
//! trusted, [`Config`] is its checked content, and [`asked`] hands that to clap as default values: so
//! flags and `LEVELOFF_*` win over it, and no subcommand knows that there is such a file.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use crate::cli::{Cli, Command};
use crate::notice::notice;

pub use content::{Config, Flavour};
pub use error::ConfigError;
pub use seeker::{Finding, PassedOver, Seeker};

mod content;
mod defaults;
mod error;
mod keys;
mod kind;
mod seeker;

/// Which file to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ConfigChoice {
    /// The nearest, if there is one.
    #[default]
    Nearest,
    /// This one, whoever owns it; it has to be there.
    Named(PathBuf),
    /// None.
    Nothing,
}

/// What the user asked for.
#[derive(Debug)]
pub struct Asked {
    /// What to do.
    pub command: Command,
    /// Which file settings come from.
    pub config: ConfigChoice,
}

/// What was asked for, with the file's values where neither flags nor environment have any. A command
/// line that is wrong, `--help` and `--version` end here, before any file is looked at.
pub fn asked() -> Result<Asked, ConfigError> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let matches = Cli::command().get_matches_from(&arguments);
    let cli = understood(&matches);
    let config = cli.config.choice();
    let (name, plain) = match (matches.subcommand_name(), cli.command) {
        (Some(name), Some(command)) => (name, Some(command)),
        // Nothing asked is to watch; all else that can be said then is the choice of a file.
        _ => {
            arguments = vec!["leveloff".into(), "watch".into()];
            ("watch", None)
        }
    };
    let command = match plain {
        Some(command) if !keys::concern(name) => command,
        _ => with_settings(name, &arguments, &config)?,
    };
    Ok(Asked { command, config })
}

/// Understands the arguments once more, now that the file has its say.
fn with_settings(
    subcommand: &str,
    arguments: &[OsString],
    choice: &ConfigChoice,
) -> Result<Command, ConfigError> {
    let finding = Seeker::live().find(choice)?;
    for passed_over in &finding.passed_over {
        if subcommand == keys::CHECK {
            return Err(ConfigError::PassedOver(passed_over.to_string()));
        }
        notice(&passed_over.to_string());
    }
    let command = match &finding.config {
        Some(config) => defaults::given(Cli::command(), config),
        None => Cli::command(),
    };
    let cli = understood(&command.get_matches_from(arguments));
    Ok(cli.command.expect("the arguments name a subcommand"))
}

fn understood(matches: &ArgMatches) -> Cli {
    Cli::from_arg_matches(matches).unwrap_or_else(|error| error.exit())
}
