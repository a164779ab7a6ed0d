//! `leveloff man`: the manual pages.

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::args::Cli;
use crate::exit_code::Exit;
use crate::stdout;

pub(crate) fn run(subcommand: Option<&str>) -> Result<Exit> {
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
    stdout::print(&text)?;
    Ok(Exit::Success)
}
