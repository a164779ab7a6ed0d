//! `leveloff guard`: watch over a run that is there already, and nothing else.

use std::process::ExitCode;

use anyhow::{Result, bail};
use leveloff_sampler::progress::LogFollower;

use super::{Guard, Terms};
use crate::cli::GuardCommandArgs;
use crate::metrics;
use crate::notice::notice;
use crate::record::{begin, watch};
use crate::run_target::{Asked, RunTarget, several};
use crate::session::{Plan, Session};
use crate::stop_requests::StopRequests;

/// Guards until the run ends or was stopped, or a signal asks us to leave it alone.
pub fn run(args: &GuardCommandArgs) -> Result<ExitCode> {
    if args.target.system {
        bail!(
            "a guard is for one run, not for every process of the machine; name it with --pid or --match"
        );
    }
    let Some(terms) = Terms::of(args.watch.facts.limit, &args.guard)? else {
        bail!("nothing to guard against; pass --limit 28GiB, --limit 90% or --stop-before 5m");
    };
    let asked = Asked {
        pid: args.target.pid,
        pattern: args.target.pattern.as_deref(),
        system: false,
    };
    let subject = RunTarget::choose(&asked, |runs| bail!("{}", several(runs)))?;
    if let Some(log) = &args.watch.log {
        LogFollower::open(log)?;
    }
    let guard = Guard::new(terms, args.watch.interval)?;
    let plan = Plan {
        target: subject.target.clone(),
        command: &subject.command,
        output: args.output.clone(),
        watch: &args.watch,
    };
    let metrics = metrics::open(&plan)?;
    let (recorder, _held) = match &args.output {
        Some(_) => (Some(plan.create_recording()?), None),
        // A bundle holds the recording, also if nobody asked for one.
        None => plan.create_scratch().unzip(),
    };
    notice(&subject.picked);
    let stop = StopRequests::listen()?;
    let stated = args.watch.facts.stated();
    let options = subject.options(&args.watch);
    let published = |plain: Session| plain.publish_to(metrics);
    let (mut session, _) = begin(recorder, options, Some(&stated), Some(guard), published)?;
    let (reason, ended) = watch(&mut session, &stop, None)?;
    let code = session.exit_code();
    session.finish(reason, ended, 0);
    Ok(code)
}
