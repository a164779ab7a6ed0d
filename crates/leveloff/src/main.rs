//! Does the memory of this training run level off, or does it leak?

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;
use leveloff::cli::{Cli, Command};
use leveloff::config::{Asked, asked};
use leveloff::notice::{flush, notice};
use leveloff::{
    check, compare, demo, doctor, export, find, fleet, guard, judge, record, replay, report, run,
    watch,
};
use leveloff_supervise::{guard::hook_entry, launch, restart};

/// A usage or tool error.
const TROUBLE: u8 = 2;

fn main() -> ExitCode {
    // The relay is this same program, started by `run`.
    if let Some(code) = launch::relay_entry() {
        return code;
    }
    // So are what starts a command again after a stop, and what stands between us and a hook.
    if let Some(code) = restart::starter_entry().or_else(hook_entry) {
        return code;
    }
    let code = match asked().map_err(Into::into).and_then(|asked| obey(&asked)) {
        Ok(code) => code,
        Err(error) => {
            notice(&format!("{error:#}"));
            ExitCode::from(TROUBLE)
        }
    };
    flush();
    code
}

fn obey(asked: &Asked) -> Result<ExitCode> {
    match &asked.command {
        Command::Demo(args) => demo::run(args),
        Command::Find(args) => find::run(args),
        Command::Run(args) => run::pass_on(run::run(args)?),
        Command::Watch(args) => watch::run(args),
        Command::Record(args) => record::run(args),
        Command::Guard(args) => guard::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Judge(args) => judge::run(args),
        Command::Report(args) => report::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Check(args) => check::run(args),
        Command::Fleet(args) => fleet::run(args),
        Command::Export(args) => export::run(args),
        Command::Doctor(args) => doctor::run(args.format, &asked.config),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "leveloff", &mut script);
            print(&script)
        }
        Command::Man { subcommand } => manual(subcommand.as_deref()),
    }
}

fn manual(subcommand: Option<&str>) -> Result<ExitCode> {
    let mut command = Cli::command();
    command.build();
    let page = match subcommand {
        None => command,
        Some(name) => command
            .find_subcommand(name)
            .with_context(|| {
                format!("there is no subcommand '{name}'; `leveloff --help` lists them")
            })?
            .clone(),
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .context("cannot make the manual page")?;
    print(&text)
}

/// A reader that has seen enough, such as `head`, is no error.
fn print(text: &[u8]) -> Result<ExitCode> {
    match io::stdout().write_all(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        result => result.context("cannot print")?,
    }
    Ok(ExitCode::SUCCESS)
}
