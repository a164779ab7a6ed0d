//! `leveloff find`: the training runs on this machine, the roles of their processes, and why they were picked.

mod json;
mod screen;

use std::io::{self, IsTerminal};

use anyhow::Context;
use leveloff_model::process::Pid;
use leveloff_sampler::find::{FindOptions, find};
use leveloff_sampler::proc_root::ProcRoot;

use crate::args::{FindArgs, Format};
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::run_target::{is_root, no_run_found, pattern};
use crate::stdout;

pub(crate) fn run(args: &FindArgs) -> anyhow::Result<Exit> {
    run_on(&ProcRoot::live(), args)
}

fn run_on(proc_root: &ProcRoot, args: &FindArgs) -> anyhow::Result<Exit> {
    let found = match find(proc_root, &options(args)?) {
        Ok(found) => found,
        Err(error) if args.pid.is_some() => {
            // The message already names the process and the next step.
            stdout::print(empty(args.format).as_bytes())?;
            notice(&error.to_string());
            return Ok(Exit::Error);
        }
        Err(error) => {
            let path = proc_root.path().display().to_string();
            return Err(error)
                .with_context(|| format!("cannot list processes in {path}; is it mounted?"));
        }
    };
    let text = match args.format {
        Format::Json => json::runs(&found)?,
        Format::Text => screen::runs(&found, terminal_width()),
    };
    stdout::print(text.as_bytes())?;
    if found.runs.is_empty() {
        notice(&no_run_found(&found, is_root()));
        return Ok(Exit::Error);
    }
    Ok(Exit::Success)
}

fn options(args: &FindArgs) -> anyhow::Result<FindOptions> {
    Ok(FindOptions {
        pattern: pattern(args.pattern.as_deref())?,
        pid: args.pid.map(Pid),
        exact: args.exact,
    })
}

fn empty(format: Format) -> &'static str {
    match format {
        Format::Json => "[]\n",
        Format::Text => "",
    }
}

/// Lines are cut to the width of a terminal, and not in a pipe.
fn terminal_width() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use leveloff_sampler::find::Found;

    use super::*;

    pub(super) fn saved(case: &str) -> Found {
        find(&saved_root(case), &FindOptions::default()).unwrap()
    }

    fn saved_root(case: &str) -> ProcRoot {
        ProcRoot::at(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../fixtures/proc")
                .join(case),
        )
    }

    #[test]
    fn exit_codes_say_whether_there_is_a_run() {
        let exit = |args: &FindArgs| run_on(&saved_root("plain"), args).unwrap();
        let none = FindArgs {
            pattern: Some("no such run".to_owned()),
            ..FindArgs::default()
        };
        let unknown_pid = FindArgs {
            pid: Some(999_999_999),
            format: Format::Json,
            ..FindArgs::default()
        };
        assert_eq!(exit(&FindArgs::default()), Exit::Success);
        for args in [none, unknown_pid] {
            assert_eq!(exit(&args), Exit::Error);
        }
    }

    #[test]
    fn a_pattern_that_is_none_is_refused_with_a_hint() {
        let args = FindArgs {
            pattern: Some("train(".to_owned()),
            ..FindArgs::default()
        };
        let error = run_on(&saved_root("plain"), &args).unwrap_err().to_string();
        assert!(
            error.contains("train(") && error.contains("escape"),
            "{error}"
        );
    }
}
