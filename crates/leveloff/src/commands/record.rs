//! `leveloff record`: records a run that is already going, without a dashboard.

use std::time::Instant;

use anyhow::Result;
use leveloff_model::recording::EndReason;
use leveloff_supervise::termination_signals::TerminationSignals;

use super::guard::guard_options;
use crate::args::RecordArgs;
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::run_target::RunTarget;
use crate::session::Session;

/// How many processes are listed that grew most, after watching the whole machine.
pub(crate) const TOP_GROWERS: usize = 10;

/// Records until the run ends, the time is over, or a signal asks to stop.
pub(crate) fn run(args: &RecordArgs) -> Result<Exit> {
    let mut options = args.sampling.options();
    let target = RunTarget::choose_only(&args.target.choice())?;
    let guard = guard_options(options.stated.limit, &args.guard)?;
    let memory = target.recall(&mut options)?;
    let builder = target
        .session(&options, memory, guard)?
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
    let (reason, ended) = watch(&mut session, &stop, until)?;
    let exit = session.exit();
    let growers = if target.is_system() { TOP_GROWERS } else { 0 };
    session.finish(reason, ended, growers);
    Ok(exit)
}

/// Watches until the run ends, the time is over or a signal asks to stop.
pub(crate) fn watch(
    session: &mut Session,
    stop: &TerminationSignals,
    until: Option<Instant>,
) -> Result<(EndReason, &'static str)> {
    loop {
        if session.is_over() {
            return Ok((EndReason::TargetGone, "the run ended"));
        }
        let next = session.next_turn_at();
        // A stop that has begun is completed.
        let is_due = |until: &Instant| *until <= next && !session.is_stopping();
        if let Some(until) = until.filter(is_due) {
            return Ok(if stop.wait_until(until)? {
                (EndReason::Stopped, "stopped; the run goes on")
            } else {
                (EndReason::Duration, "time is over; the run goes on")
            });
        }
        if stop.wait_until(next)? {
            return Ok((EndReason::Stopped, "stopped; the run goes on"));
        }
        session.turn()?;
    }
}
