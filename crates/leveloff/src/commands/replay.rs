//! `leveloff replay`: plays a recording on the dashboard.

mod player;

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use anyhow::Result;
use leveloff_dashboard::event::{Event, Mode, ReplayRequest, SourceEvent, Subject};
use leveloff_model::recording::Target;

use super::run_title::{end_event, title};
use crate::args::ReplayArgs;
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::screen_thread::{self, RequestHandler, ScreenOptions, ScreenThread};
use crate::session::where_recorded;
use player::Player;

/// Plays until the user leaves.
pub(crate) fn run(args: &ReplayArgs) -> Result<Exit> {
    let styles =
        screen_thread::appearance(&args.appearance.choice(), "leveloff judge --looks 20 FILE")?;
    let mut player = Player::open(&args.file, args.speed)?;
    if let Some(step) = args.from_step {
        player.handle(ReplayRequest::JumpToStep(step))?;
    }
    let (sender, receiver) = channel();
    let screen = ScreenThread::open(ScreenOptions {
        subject: Subject {
            title: title(player.header(), &args.file),
            recording: Some(args.file.clone()),
            mode: Mode::Replay,
            is_machine: player.header().target == Target::System,
        },
        stated: args.facts.stated().or(&player.header().stated),
        styles,
        requests: RequestHandler::about(Some(&args.file))
            .with_facts(args.facts.stated())
            .with_player(sender),
    })?;
    play(&mut player, &screen, &receiver)?;
    if let Some(verdict) = screen.wait() {
        let at = player.position().at;
        notice(&format!("{verdict} (as of {at})"));
    }
    notice(&where_recorded(&args.file));
    Ok(Exit::Success)
}

fn play(
    player: &mut Player,
    screen: &ScreenThread,
    requests: &Receiver<ReplayRequest>,
) -> Result<()> {
    let mut now = Instant::now();
    let mut is_end_shown = false;
    loop {
        while let Some(tick) = player.due()? {
            if !screen.send(Event::Tick(Box::new(tick))) {
                return Ok(());
            }
        }
        if player.is_over() && !is_end_shown {
            is_end_shown = true;
            screen.show_source(end_event(player.end()));
        }
        screen.show_source(SourceEvent::Replaying(player.position()));
        let request = requests.recv_timeout(player.wait());
        player.pass(now.elapsed());
        now = Instant::now();
        match request {
            Ok(request) => {
                if player.handle(request)? {
                    is_end_shown = false;
                    screen.show_source(SourceEvent::Restarted);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The sender belongs to the screen.
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}
