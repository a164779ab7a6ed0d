//! `leveloff replay`: the dashboard on a recording, as it would have been seen then.

mod player;

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use anyhow::Result;
use leveloff_dashboard::event::{Event, Mode, ReplayRequest, SourceNews, Subject};

use crate::cli::ReplayArgs;
use crate::notice::notice;
use crate::session::where_recorded;
use crate::show::{self, Answers, Programme, Show};
use crate::watch::{how_it_ended, title};
use player::Player;

/// Plays until the user leaves.
pub fn run(args: &ReplayArgs) -> Result<ExitCode> {
    let look = show::look(&args.look, "leveloff judge --looks 20 FILE")?;
    let mut player = Player::open(&args.file, args.speed)?;
    if let Some(step) = args.from_step {
        player.obey(ReplayRequest::JumpToStep(step))?;
    }
    let (requests, asked) = channel();
    let show = Show::open(Programme {
        subject: Subject {
            title: title(player.header(), &args.file),
            recording: Some(args.file.clone()),
            mode: Mode::Replay,
        },
        stated: args.facts.over(&player.header().stated),
        look,
        answers: Answers::about(Some(&args.file))
            .with_facts(&args.facts)
            .with_player(requests),
    })?;
    play(&mut player, &show, &asked)?;
    if let Some(verdict) = show.wait() {
        let at = player.position().at;
        notice(&format!("{verdict} (as of {at})"));
    }
    notice(&where_recorded(&args.file));
    Ok(ExitCode::SUCCESS)
}

fn play(player: &mut Player, show: &Show, asked: &Receiver<ReplayRequest>) -> Result<()> {
    let mut now = Instant::now();
    let mut end_is_told = false;
    loop {
        while let Some(tick) = player.due()? {
            if !show.send(Event::Tick(Box::new(tick))) {
                return Ok(());
            }
        }
        if player.is_over() && !end_is_told {
            end_is_told = true;
            show.tell(SourceNews::Ended(how_it_ended(player.end())));
        }
        show.tell(SourceNews::Replaying(player.position()));
        let request = asked.recv_timeout(player.wait());
        player.pass(now.elapsed());
        now = Instant::now();
        match request {
            Ok(request) => {
                if player.obey(request)? {
                    end_is_told = false;
                    show.tell(SourceNews::Restarted);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            // Whoever asks goes with the screen.
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}
