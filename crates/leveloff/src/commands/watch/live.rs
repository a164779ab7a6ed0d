//! A run that this leveloff samples.

use std::path::PathBuf;

use anyhow::Result;
use leveloff_dashboard::event::{Mode, SourceEvent, Subject};
use leveloff_dashboard::theme::Styles;
use leveloff_model::recording::EndReason;

use super::choice;
use crate::args::WatchArgs;
use crate::commands::guard_options::guard_options;
use crate::commands::run_title::short_command;
use crate::exit_code::Exit;
use crate::recorder::Recorder;
use crate::run_target::{RunTarget, TargetChoice};
use crate::screen_thread::{RequestHandler, ScreenOptions, ScreenThread};
use crate::session::Session;
use crate::summary::TOP_GROWERS;

/// Watches until the user leaves. When the run ends before, its end stays on the screen.
pub(crate) fn run(args: &WatchArgs, choice: &TargetChoice, styles: Styles) -> Result<Exit> {
    let mut options = args.sampling.options();
    let target = RunTarget::choose(choice, choice::ask)?;
    let guard = guard_options(options.stated.limit, &args.guard)?;
    let memory = target.recall(&mut options)?;
    let builder = target
        .session(&options, memory, guard)?
        // Without a recording, the dashboard can still export what it has shown.
        .recording_or_scratch(args.output.as_deref())?
        .without_status_line();
    let stem = match &args.output {
        Some(output) => output.with_extension(""),
        None => PathBuf::from(Recorder::stem_named_after(&target.command)),
    };
    let requests = RequestHandler::about(builder.recording()).exporting_to(stem);
    let (mut session, first) = builder.start_sampled(target.sampler(&options))?;
    let mut screen = ScreenThread::open(ScreenOptions {
        subject: Subject {
            title: short_command(&target.command),
            recording: args.output.clone(),
            is_machine: target.is_system(),
            mode: match target.is_system() {
                true => Mode::System,
                false => Mode::Live,
            },
        },
        stated: options.stated.clone(),
        styles,
        requests,
    })?;
    screen.offer(&first);
    let (reason, ended) = watch(&mut session, &mut screen)?;
    screen.wait();
    let exit = session.exit();
    let growers = if target.is_system() { TOP_GROWERS } else { 0 };
    session.finish(reason, ended, growers);
    Ok(exit)
}

/// Samples until the user leaves the screen or the run ends.
fn watch(session: &mut Session, screen: &mut ScreenThread) -> Result<(EndReason, &'static str)> {
    loop {
        if session.is_over() {
            session.end_recording(EndReason::TargetGone);
            let ended = match session.was_stopped_by_guard() {
                true => "the guard stopped the run",
                false => "the run ended",
            };
            screen.show_source(SourceEvent::Ended(ended.to_owned()));
            return Ok((EndReason::TargetGone, "the run ended"));
        }
        if screen.is_left_by(session.next_turn_at())? {
            return Ok((EndReason::Stopped, "left; the run goes on"));
        }
        if let Some(tick) = session.turn()? {
            screen.offer(&tick);
        }
    }
}
