//! `leveloff watch`: the dashboard on a run that goes on, sampled by this leveloff or recorded by another.

mod choice;
mod follow;
mod live;

pub(crate) use follow::open;

use anyhow::{Result, bail};

use crate::args::{WatchArgs, WatchSource};
use crate::exit_code::Exit;
use crate::run_target::TargetChoice;
use crate::screen_thread;

/// Watches until the user leaves.
pub(crate) fn run(args: &WatchArgs) -> Result<Exit> {
    let styles = screen_thread::appearance(&args.appearance.choice(), "leveloff record")?;
    match &args.source {
        Some(WatchSource::Recording(path)) => {
            refuse_options_of_a_run(args)?;
            follow::run(args, path, styles)
        }
        Some(WatchSource::Pid(pid)) => live::run(args, &TargetChoice::Pid(*pid), styles),
        None => live::run(args, &args.target.choice(), styles),
    }
}

/// A recording shows a run late, and the run may be on another machine.
fn refuse_options_of_a_run(args: &WatchArgs) -> Result<()> {
    let guard = &args.guard;
    if guard.stop_before.is_some() || guard.gpu_limit.is_some() || guard.bundle.is_some() {
        bail!("a recording cannot be guarded, only a run: leveloff guard --pid PID --limit SIZE");
    }
    if args.sampling.metrics.choice().is_any() {
        bail!(
            "metrics are published by the leveloff that records the run: leveloff record --metrics"
        );
    }
    Ok(())
}
