//! The fleet on a screen that is refreshed.

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

/// How long a new result may wait to be drawn.
const PACE: Duration = Duration::from_millis(250);

/// Keys that wait.
const WAITING: usize = 64;

/// Messages of the thread that fetches.
enum News {
    Fetching,
    Fetched(Box<Result<Fleet, String>>),
}

/// Shows the fleet until the user leaves; returns the last one.
pub(crate) fn watch(survey: Survey, args: &FleetArgs) -> Result<Option<Fleet>> {
    let look = appearance(&args.appearance.choice(), "leveloff fleet")?;
    let (news, received) = sync_channel(2);
    let (now, requested) = sync_channel(1);
    let every = args.every;
    // The thread is not joined: a pending request must not delay the end.
    std::thread::Builder::new()
        .name("survey".to_owned())
        .spawn(move || fetch_repeatedly(&survey, every, &news, &requested))
        .context("cannot start a thread")?;
    show(look, &received, &now).context("the terminal is gone")
}

fn fetch_repeatedly(
    survey: &Survey,
    every: Duration,
    news: &SyncSender<News>,
    requested: &Receiver<()>,
) {
    loop {
        let sent = news.send(News::Fetching).and_then(|()| {
            let looked = survey.look().map_err(|error| format!("{error:#}"));
            news.send(News::Fetched(Box::new(looked)))
        });
        let waited = requested.recv_timeout(every);
        if sent.is_err() || waited == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

fn show(
    look: Look,
    received: &Receiver<News>,
    now: &SyncSender<()>,
) -> std::io::Result<Option<Fleet>> {
    let mut view = FleetView::default();
    let is_leaving = Arc::new(AtomicBool::new(false));
    let (events, waiting) = sync_channel(WAITING);
    let mut screen = Screen::enter()?;
    let inputs = Inputs::start(events, Arc::clone(&is_leaving))?;
    loop {
        for news in received.try_iter() {
            match news {
                News::Fetching => view.looking(),
                News::Fetched(looked) => view.show(*looked),
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
            // One pending request is enough.
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
