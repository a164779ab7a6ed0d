//! `leveloff completions`: a completion script for a shell.

use anyhow::Result;
use clap::CommandFactory;

use crate::args::Cli;
use crate::exit_code::Exit;
use crate::stdout;

pub(crate) fn run(shell: clap_complete::Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "leveloff", &mut script);
    stdout::print(&script)?;
    Ok(Exit::Success)
}
