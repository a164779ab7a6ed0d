//! The file's values as default values: clap asks the command line first, then the environment, and
//! only then for a default.

use std::ffi::OsString;

use super::Config;

/// The command line, with the file's values as defaults. A default is no wish: it conflicts with nothing.
pub fn given(command: clap::Command, config: &Config) -> clap::Command {
    config.settings().iter().fold(command, |command, setting| {
        let subcommands = setting.key.subcommands.iter();
        subcommands.fold(command, |command, subcommand| {
            with_default(command, subcommand, setting.key.name, &setting.value)
        })
    })
}

fn with_default(
    command: clap::Command,
    subcommand: &str,
    argument: &'static str,
    value: &OsString,
) -> clap::Command {
    let is_there = command.find_subcommand(subcommand).is_some_and(|found| {
        let mut arguments = found.get_arguments();
        arguments.any(|known| known.get_id() == argument)
    });
    if !is_there {
        return command;
    }
    command.mut_subcommand(subcommand, |found| {
        found.mut_arg(argument, |known| known.default_value(value))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use clap::{CommandFactory, FromArgMatches};
    use leveloff_model::units::{Bytes, Limit};

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::Flavour;

    fn configured(text: &str) -> clap::Command {
        let config = Config::parse(Path::new("x"), text.as_bytes(), Flavour::Own);
        given(Cli::command(), &config.unwrap().unwrap())
    }

    fn asked(text: &str, arguments: &[&str]) -> Command {
        let arguments = [&["leveloff"], arguments].concat();
        let matches = configured(text).try_get_matches_from(arguments).unwrap();
        Cli::from_arg_matches(&matches).unwrap().command.unwrap()
    }

    const TEXT: &str = "level_by = 90\nlimit = '28GiB'\ninterval = '2s'\npss_budget = 1\n";

    #[test]
    fn the_command_line_stays_consistent() {
        configured(TEXT).debug_assert();
    }

    #[test]
    fn values_reach_whoever_takes_them() {
        let Command::Record(args) = asked(TEXT, &["record"]) else {
            panic!("not record");
        };
        assert_eq!(args.watch.interval, Duration::from_secs(2));
        assert_eq!(args.watch.pss_budget, 1.0);
        assert_eq!(args.watch.facts.level_by, Some(90));
        assert_eq!(args.watch.facts.limit, Some(Limit::Size(Bytes(28 << 30))));
        assert_eq!(args.watch.facts.planned_steps, None);
    }

    #[test]
    fn flags_win() {
        let Command::Judge(args) = asked(TEXT, &["judge", "x", "--level-by", "50"]) else {
            panic!("not judge");
        };
        assert_eq!(args.facts.level_by, Some(50));
        assert_eq!(args.facts.limit, Some(Limit::Size(Bytes(28 << 30))));
    }

    #[test]
    fn the_demo_is_another_run() {
        let Command::Demo(args) = asked(TEXT, &["demo"]) else {
            panic!("not demo");
        };
        assert_eq!((args.facts.level_by, args.interval), (None, None));
    }

    #[test]
    fn a_default_conflicts_with_nothing() {
        let command = clap::Command::new("leveloff").subcommand(
            clap::Command::new("check")
                .arg(clap::Arg::new("baseline").long("baseline"))
                .arg(clap::Arg::new("file").conflicts_with("baseline"))
                .arg(
                    clap::Arg::new("level_by")
                        .long("level-by")
                        .default_value("1"),
                ),
        );
        let text = b"level_by = 2\ncheck = { level_by = 3, baseline = 'b', max_peak = '1GB' }";
        let config = Config::parse(Path::new("x"), text, Flavour::Own);
        let command = given(command, &config.unwrap().unwrap());
        let matches = command.try_get_matches_from(["leveloff", "check", "file"]);
        let matches = matches.unwrap();
        let (_, check) = matches.subcommand().unwrap();
        let value = |name| check.get_one::<String>(name).map(String::as_str);
        assert_eq!(value("file"), Some("file"));
        assert_eq!(value("baseline"), Some("b"));
        // What is said for `check` alone goes before what is said for all.
        assert_eq!(value("level_by"), Some("3"));
    }
}
