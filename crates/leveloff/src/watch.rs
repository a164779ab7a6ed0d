//! `leveloff watch`: the dashboard on a run that goes on, sampled by us or recorded by another.

mod choice;
mod ending;
mod follow;
mod live;

pub(crate) use ending::{how_it_ended, short_command, title};
pub(crate) use follow::open;

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::{Watched, WatchingArgs};
use crate::show;

/// Watches until the user leaves.
pub fn run(args: &WatchingArgs) -> Result<ExitCode> {
    let look = show::look(&args.look, "leveloff record")?;
    match &args.watched {
        Some(Watched::File(path)) => follow::run(args, path, look),
        Some(Watched::Pid(pid)) => live::run(args, Some(*pid), look),
        None => live::run(args, args.target.pid, look),
    }
}
