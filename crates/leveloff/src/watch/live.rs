//! A run that we sample ourselves.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use leveloff_dashboard::event::{Mode, SourceNews, Subject};
use leveloff_dashboard::theme::Look;
use leveloff_model::recording::EndReason;
use leveloff_sampler::progress::LogFollower;
use leveloff_supervise::guard::Guard;

use super::{choice, short_command};
use crate::cli::WatchingArgs;
use crate::guard::options as guard_options;
use crate::metrics;
use crate::notice::say;
use crate::record::{TOP_GROWERS, begin};
use crate::recorder::Recorder;
use crate::run_target::{Asked, RunTarget};
use crate::session::{Plan, Session};
use crate::show::{Answers, Programme, Show};

/// Watches until the user leaves; when the run ends before, its end stays on the screen.
pub fn run(args: &WatchingArgs, pid: Option<i32>, look: Look) -> Result<ExitCode> {
    let asked = Asked {
        pid,
        pattern: args.target.pattern.as_deref(),
        system: args.target.system,
    };
    let target = RunTarget::choose(&asked, choice::ask)?;
    if let Some(log) = &args.watch.log {
        LogFollower::open(log)?;
    }
    let plan = Plan {
        target: target.target.clone(),
        command: &target.command,
        output: args.output.clone(),
        watch: &args.watch,
    };
    let options = guard_options(args.watch.facts.limit, &args.guard)?;
    let guard = options
        .filter(|_| !args.target.system)
        .map(|options| Guard::new(options, args.watch.interval, say))
        .transpose()?;
    let metrics = metrics::open(&plan)?;
    let (recorder, _held) = match &args.output {
        Some(_) => (Some(plan.create_recording()?), None),
        // Nobody asked for a recording, and somebody may still want a table of what was seen.
        None => plan.create_scratch().unzip(),
    };
    let recording = recorder.as_ref().map(|recorder| recorder.path().to_owned());
    let stem = match &args.output {
        Some(output) => output.with_extension(""),
        None => PathBuf::from(Recorder::stem_named_after(&target.command)),
    };
    let stated = args.watch.facts.stated();
    let judged_by = (!args.target.system).then_some(&stated);
    let options = target.options(&args.watch);
    let published = |session: Session| session.without_status_line().publish_to(metrics);
    let (mut session, first) = begin(recorder, options, judged_by, guard, published)?;
    let mut show = Show::open(Programme {
        subject: Subject {
            title: short_command(&target.command),
            recording: args.output.clone(),
            mode: if args.target.system {
                Mode::System
            } else {
                Mode::Live
            },
        },
        stated: stated.clone(),
        look,
        answers: Answers::about(recording.as_deref()).exporting_to(stem),
    })?;
    show.offer(&first);
    let (reason, ended) = attend(&mut session, &mut show)?;
    show.wait();
    let code = session.exit_code();
    session.finish(
        reason,
        ended,
        if args.target.system { TOP_GROWERS } else { 0 },
    );
    Ok(code)
}

/// Until the screen was left, or the run ended.
fn attend(session: &mut Session, show: &mut Show) -> Result<(EndReason, &'static str)> {
    loop {
        if session.is_over() {
            session.end_recording(EndReason::TargetGone);
            let ended = match session.was_stopped_by_guard() {
                true => "the guard stopped the run",
                false => "the run ended",
            };
            show.tell(SourceNews::Ended(ended.to_owned()));
            return Ok((EndReason::TargetGone, "the run ended"));
        }
        if show.is_left_by(session.next_turn_at())? {
            return Ok((EndReason::Stopped, "left; the run goes on"));
        }
        if let Some(tick) = session.turn()? {
            show.offer(&tick);
        }
    }
}
