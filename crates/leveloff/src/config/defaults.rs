//! The values of the file as default values: clap uses the command line first, then the environment, and then the
//! default.

use std::ffi::OsString;

use super::Config;

/// The command line with the values of the file as defaults. A default never conflicts with an option.
pub(crate) fn with_defaults(command: clap::Command, config: &Config) -> clap::Command {
    config.settings().iter().fold(command, |command, setting| {
        let subcommands = setting.key.subcommands.iter();
        subcommands.fold(command, |command, subcommand| {
            with_default(command, subcommand, &setting.key.name, &setting.value)
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

    use super::*;
    use crate::config::Flavour;

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
        let command = with_defaults(command, &config.unwrap().unwrap());
        let matches = command.try_get_matches_from(["leveloff", "check", "file"]);
        let matches = matches.unwrap();
        let (_, check) = matches.subcommand().unwrap();
        let value = |name| check.get_one::<String>(name).map(String::as_str);
        assert_eq!(value("file"), Some("file"));
        assert_eq!(value("baseline"), Some("b"));
        // The table for `check` takes precedence.
        assert_eq!(value("level_by"), Some("3"));
    }
}
