//! Parses the command line, with the values of the configuration file as defaults.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use crate::args::{Cli, Command};
use crate::config::{CHECK, ConfigChoice, ConfigError, ConfigSearch, applies_to, with_defaults};
use crate::notice::notice;

/// What the user wants.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub command: Command,
    /// Which file settings come from.
    pub config: ConfigChoice,
}

/// Parses the arguments of this process. A wrong command line, `--help` and `--version` end the process here, before
/// any file is read.
pub(crate) fn parse() -> Result<Invocation, ConfigError> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let matches = Cli::command().get_matches_from(&arguments);
    let cli = parsed(&matches);
    let config = cli.config.choice();
    let (name, plain) = match (matches.subcommand_name(), cli.command) {
        (Some(name), Some(command)) => (name, Some(command)),
        // Without a subcommand, the only other arguments choose the configuration file.
        _ => {
            arguments = vec!["leveloff".into(), "watch".into()];
            ("watch", None)
        }
    };
    let command = match plain {
        Some(command) if !applies_to(name) => command,
        _ => parse_with_file(name, &arguments, &config)?,
    };
    Ok(Invocation { command, config })
}

/// Parses the arguments again, with the defaults of the file.
fn parse_with_file(
    subcommand: &str,
    arguments: &[OsString],
    choice: &ConfigChoice,
) -> Result<Command, ConfigError> {
    let finding = ConfigSearch::live().find(choice)?;
    for passed_over in &finding.passed_over {
        if subcommand == CHECK {
            return Err(ConfigError::PassedOver(passed_over.to_string()));
        }
        notice(&passed_over.to_string());
    }
    let command = match &finding.config {
        Some(config) => with_defaults(Cli::command(), config),
        None => Cli::command(),
    };
    let cli = parsed(&command.get_matches_from(arguments));
    Ok(cli.command.expect("the arguments name a subcommand"))
}

fn parsed(matches: &ArgMatches) -> Cli {
    let mut cli = Cli::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    if let (Some(command), Some((_, matches))) = (&mut cli.command, matches.subcommand()) {
        guard_by_command_line(command, matches);
    }
    cli
}

/// Only the command line makes a limit one that the run is stopped at. In a file or in the environment it is a fact.
fn guard_by_command_line(command: &mut Command, matches: &ArgMatches) {
    let (sampling, guard) = match command {
        Command::Run(args) => (&mut args.sampling, &mut args.guard),
        Command::Watch(args) => (&mut args.sampling, &mut args.guard),
        Command::Record(args) => (&mut args.sampling, &mut args.guard),
        Command::Guard(args) => {
            args.guard.guard |= args.sampling.facts.limit.is_some();
            (&mut args.sampling, &mut args.guard)
        }
        _ => return,
    };
    guard.guard |= matches.value_source("limit") == Some(ValueSource::CommandLine);
    if let Some(stop_at) = guard.stop_at {
        guard.guard = true;
        sampling.facts.limit = Some(stop_at);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use leveloff_model::units::{Bytes, Limit, Step};

    use super::*;
    use crate::config::{Config, Flavour, KEYS};

    fn configured(text: &str) -> clap::Command {
        let config = Config::parse(Path::new("x"), text.as_bytes(), Flavour::Own);
        with_defaults(Cli::command(), &config.unwrap().unwrap())
    }

    fn command(text: &str, arguments: &[&str]) -> Command {
        let arguments = [&["leveloff"], arguments].concat();
        let matches = configured(text).try_get_matches_from(arguments).unwrap();
        parsed(&matches).command.unwrap()
    }

    #[test]
    fn a_limit_in_the_file_is_a_fact_and_only_the_command_line_acts_on_it() {
        let guards = |arguments: &[&str]| match command(TEXT, arguments) {
            Command::Record(args) => (args.guard.guard, args.sampling.facts.limit),
            Command::Guard(args) => (args.guard.guard, args.sampling.facts.limit),
            _ => panic!("another command"),
        };
        let gib = |n: u64| Some(Limit::Size(Bytes(n << 30)));
        assert_eq!(guards(&["record"]), (false, gib(28)));
        assert_eq!(guards(&["record", "--guard"]), (true, gib(28)));
        assert_eq!(guards(&["record", "--limit", "20GiB"]), (true, gib(20)));
        assert_eq!(guards(&["record", "--stop-at", "20GiB"]), (true, gib(20)));
        assert_eq!(guards(&["guard"]), (true, gib(28)));
    }

    const TEXT: &str = "level_by = 90\nlimit = '28GiB'\ninterval = '2s'\npss_budget = 1\n";

    #[test]
    fn the_command_line_stays_consistent() {
        configured(TEXT).debug_assert();
    }

    #[test]
    fn values_reach_the_subcommands_that_use_them() {
        let Command::Record(args) = command(TEXT, &["record"]) else {
            panic!("not record");
        };
        let options = args.sampling.options();
        assert_eq!(options.interval, Duration::from_secs(2));
        assert_eq!(options.pss_budget_percent, 1.0);
        assert_eq!(options.stated.level_by, Some(Step(90)));
        assert_eq!(options.stated.limit, Some(Limit::Size(Bytes(28 << 30))));
        assert_eq!(options.stated.planned_steps, None);
    }

    #[test]
    fn flags_win() {
        let Command::Judge(args) = command(TEXT, &["judge", "x", "--level-by", "50"]) else {
            panic!("not judge");
        };
        assert_eq!(args.facts.stated().level_by, Some(Step(50)));
        assert_eq!(args.facts.limit, Some(Limit::Size(Bytes(28 << 30))));
    }

    #[test]
    fn the_demo_is_another_run() {
        let Command::Demo(args) = command(TEXT, &["demo"]) else {
            panic!("not demo");
        };
        assert!(args.facts.level_by.is_none() && args.interval.is_none());
    }

    #[test]
    fn every_key_is_an_argument_of_its_subcommands() {
        let cli = Cli::command();
        for key in KEYS.iter() {
            for name in key.subcommands {
                let subcommand = cli.find_subcommand(name).unwrap();
                let mut arguments = subcommand.get_arguments();
                let is_there = arguments.any(|argument| argument.get_id() == key.name.as_str());
                assert!(is_there, "{} of {name}", key.name);
            }
        }
    }
}
