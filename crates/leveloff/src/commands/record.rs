//! `leveloff record`: records a run that is already going, without a dashboard.

use std::time::Instant;

use anyhow::Result;
use leveloff_supervise::termination_signals::TerminationSignals;

use super::guard_options::guard_options;
use crate::args::RecordArgs;
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::run_target::RunTarget;
use crate::summary::TOP_GROWERS;

/// Records until the run ends, the time is over, or a signal asks to stop.
pub(crate) fn run(args: &RecordArgs) -> Result<Exit> {
    let mut options = args.sampling.options();
    options.voice = args.voice.options();
    let target = RunTarget::choose_only(&args.target.choice())?;
    let guard = guard_options(options.stated.limit, &args.guard)?;
    let memory = target.recall(&mut options)?;
    let builder = target
        .session(&options, memory, guard)?
        .with_voice()?
        .recording_to(args.output.as_deref())?;
    if let Some(recording) = builder.recording() {
        notice(&format!(
            "{} · recording {}",
            target.picked,
            recording.display()
        ));
    }
    let stop = TerminationSignals::listen()?;
    let (mut session, _) = builder.start_sampled(target.sampler(&options))?;
    // A time beyond the range of the clock is no limit.
    let until = args
        .duration
        .and_then(|duration| Instant::now().checked_add(duration));
    let (reason, ended) = session.watch(&stop, until)?;
    let exit = session.exit();
    let growers = if target.is_system() { TOP_GROWERS } else { 0 };
    session.finish(reason, ended, growers);
    Ok(exit)
}
