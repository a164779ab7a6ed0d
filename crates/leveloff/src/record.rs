//! `leveloff record`: watch a run that is there already, without a screen.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use leveloff_model::recording::{EndReason, StatedFacts};
use leveloff_model::sample::Tick;
use leveloff_sampler::progress::LogFollower;
use leveloff_sampler::sampler::SamplerOptions;
use leveloff_supervise::guard::Guard;
use leveloff_supervise::stop_requests::StopRequests;

use crate::cli::RecordArgs;
use crate::guard::options as guard_options;
use crate::metrics;
use crate::notice::{notice, say};
use crate::recorder::Recorder;
use crate::run_target::{Asked, RunTarget, several};
use crate::session::{Plan, Session};

/// How many growers are named after a watch over the whole machine.
pub const TOP_GROWERS: usize = 10;

/// Records until the run ends, the time is over, or a signal asks to stop.
pub fn run(args: &RecordArgs) -> Result<ExitCode> {
    let asked = Asked {
        pid: args.target.pid,
        pattern: args.target.pattern.as_deref(),
        system: args.target.system,
    };
    let subject = RunTarget::choose(&asked, |runs| bail!("{}", several(runs)))?;
    let plan = Plan {
        target: subject.target.clone(),
        command: &subject.command,
        output: args.output.clone(),
        watch: &args.watch,
    };
    if let Some(log) = &args.watch.log {
        LogFollower::open(log)?;
    }
    let options = guard_options(args.watch.facts.limit, &args.guard)?;
    let guard = options
        .filter(|_| !args.target.system)
        .map(|options| Guard::new(options, args.watch.interval, say))
        .transpose()?;
    let metrics = metrics::open(&plan)?;
    let recorder = plan.create_recording()?;
    notice(&format!(
        "{} · recording {}",
        subject.picked,
        recorder.path().display()
    ));
    let options = subject.options(&args.watch);
    let stop = StopRequests::listen()?;
    let stated = (!args.target.system).then(|| args.watch.facts.stated());
    let published = |plain: Session| plain.publish_to(metrics);
    let (mut session, _) = begin(Some(recorder), options, stated.as_ref(), guard, published)?;
    // A time beyond all clocks is no limit.
    let until = args
        .duration
        .and_then(|duration| Instant::now().checked_add(duration));
    let (reason, ended) = watch(&mut session, &stop, until)?;
    let code = session.exit_code();
    session.finish(
        reason,
        ended,
        if args.target.system { TOP_GROWERS } else { 0 },
    );
    Ok(code)
}

/// Takes the first sample, and has the guard take its post. If that is not possible, there is no recording.
/// `prepare` comes before it.
pub fn begin(
    recorder: Option<Recorder>,
    options: SamplerOptions,
    stated: Option<&StatedFacts>,
    guard: Option<Guard>,
    prepare: impl FnOnce(Session) -> Session,
) -> Result<(Session, Tick)> {
    let path = recorder.as_ref().map(|recorder| recorder.path().to_owned());
    let first_tick = |mut session: Session| {
        let first = session.tick()?;
        if let Some(guard) = guard {
            session.guard_by(guard)?;
        }
        Ok((session, first))
    };
    let judged = |session: Session| match stated {
        Some(stated) => session.judged_by(stated),
        None => session,
    };
    Session::start(recorder, options)
        .map(judged)
        .map(prepare)
        .and_then(first_tick)
        .inspect_err(|_| path.iter().for_each(|path| Recorder::discard(path)))
}

/// Until the run ended, the time is over or a signal asks to stop.
pub fn watch(
    session: &mut Session,
    stop: &StopRequests,
    until: Option<Instant>,
) -> Result<(EndReason, &'static str)> {
    loop {
        if session.is_over() {
            return Ok((EndReason::TargetGone, "the run ended"));
        }
        let next = session.next_turn_at();
        // A stop that was begun is carried through.
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
