//! `leveloff find`: the training runs on this machine, who is who in them, and why they were picked.

mod json;
mod screen;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Context;
use leveloff_model::process::Pid;
use leveloff_sampler::find::{FindOptions, Found, find};
use leveloff_sampler::proc_root::ProcRoot;
use regex::bytes::Regex;

use crate::cli::{FindArgs, Format};
use crate::notice::notice;

/// Nothing was found, or nothing could be looked for; design: "usage or tool error".
const NOTHING_FOUND: u8 = 2;

/// Looks and prints. 0 when there is a run, 2 when there is none.
pub fn run(args: &FindArgs) -> anyhow::Result<ExitCode> {
    run_on(&ProcRoot::live(), args)
}

fn run_on(proc_root: &ProcRoot, args: &FindArgs) -> anyhow::Result<ExitCode> {
    let found = match find(proc_root, &options(args)?) {
        Ok(found) => found,
        Err(error) if args.pid.is_some() => {
            // The message already names the process and the next step.
            print(&empty(args.format))?;
            notice(&error.to_string());
            return Ok(ExitCode::from(NOTHING_FOUND));
        }
        Err(error) => {
            let path = proc_root.path().display().to_string();
            return Err(error)
                .with_context(|| format!("cannot list processes in {path}; is it mounted?"));
        }
    };
    print(&match args.format {
        Format::Json => json::runs(&found)?,
        Format::Text => screen::runs(&found, terminal_width()),
    })?;
    if found.runs.is_empty() {
        // A stderr that is gone must not end us with a panic.
        let _ = io::stderr().write_all(nothing_found(&found).as_bytes());
        return Ok(ExitCode::from(NOTHING_FOUND));
    }
    Ok(ExitCode::SUCCESS)
}

/// What was looked for in vain, and what to do next.
pub fn nothing_found(found: &Found) -> String {
    screen::nothing_found(found, rustix::process::geteuid().is_root())
}

/// The expression of `--match`.
pub fn pattern(text: Option<&str>) -> anyhow::Result<Option<Regex>> {
    let compile = |text| {
        Regex::new(text).with_context(|| {
            format!("--match '{text}' is not a regular expression; escape ( ) [ ] . * + ? with \\")
        })
    };
    text.map(compile).transpose()
}

fn options(args: &FindArgs) -> anyhow::Result<FindOptions> {
    Ok(FindOptions {
        pattern: pattern(args.pattern.as_deref())?,
        pid: args.pid.map(Pid),
        exact: args.exact,
    })
}

fn empty(format: Format) -> String {
    match format {
        Format::Json => "[]\n".to_owned(),
        Format::Text => String::new(),
    }
}

/// Lines are cut to a terminal's width; what goes into a pipe is for another program, and whole.
fn terminal_width() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

/// A reader that has seen enough, such as `head`, is no error.
fn print(text: &str) -> io::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
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
        let code =
            |case, args: &FindArgs| format!("{:?}", run_on(&saved_root(case), args).unwrap());
        let none = FindArgs {
            pattern: Some("no such run".to_owned()),
            ..FindArgs::default()
        };
        let nobody = FindArgs {
            pid: Some(999_999_999),
            format: Format::Json,
            ..FindArgs::default()
        };
        assert_eq!(
            code("plain", &FindArgs::default()),
            format!("{:?}", ExitCode::SUCCESS)
        );
        for args in [none, nobody] {
            assert_eq!(code("plain", &args), format!("{:?}", ExitCode::from(2)));
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
