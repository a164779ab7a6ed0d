//! The subcommands.

mod blame;
mod check;
mod compare;
mod completions;
mod demo;
mod doctor;
mod export;
mod find;
mod fleet;
mod guard;
mod guard_options;
mod history;
mod judge;
mod man;
mod record;
mod replay;
mod report;
mod run;
mod run_title;
pub(crate) mod settings;
mod trial;
mod watch;

use anyhow::Result;

use crate::args::Command;
use crate::exit_code::Exit;
use settings::Invocation;

pub(crate) fn dispatch(invocation: &Invocation) -> Result<Exit> {
    match &invocation.command {
        Command::Demo(args) => demo::run(args),
        Command::Find(args) => find::run(args),
        Command::Run(args) => run::run_and_end_alike(args),
        Command::Watch(args) => watch::run(args),
        Command::Record(args) => record::run(args),
        Command::Guard(args) => guard::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Judge(args) => judge::run(args),
        Command::Report(args) => report::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Try(args) => trial::run(args),
        Command::Check(args) => check::run(args),
        Command::Fleet(args) => fleet::run(args),
        Command::Blame(args) => blame::run(args),
        Command::History(args) => history::run(args),
        Command::Export(args) => export::run(args),
        Command::Doctor(args) => doctor::run(args, &invocation.config),
        Command::Completions { shell } => completions::run(*shell),
        Command::Man { subcommand } => man::run(subcommand.as_deref()),
    }
}
