//! `leveloff watch`: the dashboard on a run that goes on, sampled by us or recorded by another.

mod choice;
mod ending;
mod follow;
mod live;

pub(crate) use ending::{how_it_ended, short_command, title};
pub(crate) use follow::open;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cli::{Watched, WatchingArgs};
use crate::show;

/// Whoever follows a recording sees a run late, and may be on another machine.
fn refuse_to_answer_for(args: &WatchingArgs) -> Result<()> {
    let asked = &args.guard;
    if asked.stop_before.is_some() || asked.gpu_limit.is_some() || asked.bundle.is_some() {
        bail!("a recording cannot be guarded, only a run: leveloff guard --pid PID --limit SIZE");
    }
    if args.watch.metrics.is_asked_for() {
        bail!("whoever records a run publishes its metrics: leveloff record --metrics");
    }
    Ok(())
}

/// Watches until the user leaves.
pub fn run(args: &WatchingArgs) -> Result<ExitCode> {
    let look = show::look(&args.look, "leveloff record")?;
    match &args.watched {
        Some(Watched::File(path)) => {
            refuse_to_answer_for(args)?;
            follow::run(args, path, look)
        }
        Some(Watched::Pid(pid)) => live::run(args, Some(*pid), look),
        None => live::run(args, args.target.pid, look),
    }
}
