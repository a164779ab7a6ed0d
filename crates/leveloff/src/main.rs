//! Does the memory of this training run level off, or does it leak?

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use leveloff::find::{self, FindArgs, FindFormat};

#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Training processes on this machine, their roles, and why each was picked
    Find {
        /// Runs whose command line matches this regular expression
        #[arg(long = "match", value_name = "REGEX")]
        pattern: Option<String>,
        /// The run that this process belongs to
        #[arg(long)]
        pid: Option<i32>,
        /// Read the shared memory of processes above 4 GiB, too
        #[arg(long)]
        exact: bool,
        /// How to print
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("leveloff: {error:#}");
        ExitCode::from(2)
    })
}

fn run() -> anyhow::Result<ExitCode> {
    let Command::Find {
        pattern,
        pid,
        exact,
        format,
    } = Arguments::parse().command;
    find::run(FindArgs {
        pattern,
        pid,
        exact,
        format: match format {
            Format::Text => FindFormat::Text,
            Format::Json => FindFormat::Json,
        },
    })
}
