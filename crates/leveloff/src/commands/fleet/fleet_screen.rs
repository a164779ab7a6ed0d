//! The fleet on a screen, looked at again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result};
use leveloff_dashboard::draw::fleet::{draw, rows_of};
use leveloff_dashboard::event::Event;
use leveloff_dashboard::fleet_view::{FleetView, FleetWish};
use leveloff_dashboard::terminal::{self, Screen};
use leveloff_dashboard::theme::Look;
use leveloff_text::fleet::Fleet;

use super::survey::Survey;
use crate::args::FleetArgs;
use crate::screen_thread::Inputs;
use crate::screen_thread::appearance;

/// How long a look that has come may wait to be drawn.
const PACE: Duration = Duration::from_millis(250);

/// Keys that wait.
const WAITING: usize = 64;

/// What comes from whoever looks.
enum News {
    Looking,
    Looked(Box<Result<Fleet, String>>),
}

/// Shows the fleet until the user leaves; what was seen last.
pub(crate) fn watch(survey: Survey, args: &FleetArgs) -> Result<Option<Fleet>> {
    let look = appearance(&args.appearance.choice(), "leveloff fleet")?;
    let (news, heard) = sync_channel(2);
    let (now, asked) = sync_channel(1);
    let every = args.every;
    // It is left alone in the end: a request that nobody waits for any more must not keep the screen.
    std::thread::Builder::new()
        .name("survey".to_owned())
        .spawn(move || look_again_and_again(&survey, every, &news, &asked))
        .context("cannot start a thread that looks")?;
    perform(look, &heard, &now).context("the terminal is gone")
}

fn look_again_and_again(
    survey: &Survey,
    every: Duration,
    news: &SyncSender<News>,
    asked: &Receiver<()>,
) {
    loop {
        let told = news.send(News::Looking).and_then(|()| {
            let looked = survey.look().map_err(|error| format!("{error:#}"));
            news.send(News::Looked(Box::new(looked)))
        });
        let waited = asked.recv_timeout(every);
        if told.is_err() || waited == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

fn perform(
    look: Look,
    heard: &Receiver<News>,
    now: &SyncSender<()>,
) -> std::io::Result<Option<Fleet>> {
    let mut view = FleetView::default();
    let is_leaving = Arc::new(AtomicBool::new(false));
    let (events, waiting) = sync_channel(WAITING);
    let mut screen = Screen::enter()?;
    let inputs = Inputs::start(events, Arc::clone(&is_leaving))?;
    loop {
        for news in heard.try_iter() {
            match news {
                News::Looking => view.looking(),
                News::Looked(looked) => view.show(*looked),
            }
        }
        screen.draw(|frame| draw(&view, &look, frame))?;
        let wish = match waiting.recv_timeout(PACE) {
            Ok(Event::Key(key)) => view.on_key(key, rows_of(terminal::size().1)),
            Ok(Event::Leave) | Err(RecvTimeoutError::Disconnected) => FleetWish::Leave,
            Ok(Event::Continued) => {
                screen.come_back()?;
                FleetWish::Stay
            }
            _ => FleetWish::Stay,
        };
        match wish {
            // One that is asked for already is enough.
            FleetWish::Look => drop(now.try_send(())),
            FleetWish::Leave => break,
            FleetWish::Stay if is_leaving.load(Ordering::Relaxed) => break,
            FleetWish::Stay => {}
        }
    }
    drop(waiting);
    drop(inputs);
    drop(screen);
    Ok(view.fleet().cloned())
}
