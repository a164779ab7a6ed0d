//! `leveloff guard`: guards a run that is already going.

use anyhow::{Result, bail};
use leveloff_supervise::termination_signals::TerminationSignals;

use super::guard_options::guard_options;
use crate::args::GuardCommandArgs;
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::run_target::RunTarget;

/// Guards until the run ends or is stopped, or a signal ends the guard and leaves the run alone.
pub(crate) fn run(args: &GuardCommandArgs) -> Result<Exit> {
    if args.target.system {
        bail!(
            "a guard is for one run, not for every process of the machine; name it with --pid or --match"
        );
    }
    let mut options = args.sampling.options();
    options.voice = args.voice.options();
    let Some(guard) = guard_options(options.stated.limit, &args.guard)? else {
        bail!("nothing to guard against; pass --limit 28GiB, --limit 90% or --stop-before 5m");
    };
    let target = RunTarget::choose_only(&args.target.choice())?;
    let memory = target.recall(&mut options)?;
    let builder = target
        .session(&options, memory, Some(guard))?
        .with_voice()?
        .recording_or_scratch(args.output.as_deref())?;
    notice(&target.picked);
    let stop = TerminationSignals::listen()?;
    let (mut session, _) = builder.start_sampled(target.sampler(&options))?;
    let (reason, ended) = session.watch(&stop, None)?;
    let exit = session.exit();
    session.finish(reason, ended, 0);
    Ok(exit)
}
