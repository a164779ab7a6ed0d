//! The fleet on a screen, looked at again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result};
use leveloff_dashboard::draw::fleet::{draw, rows_of};
use leveloff_dashboard::event::Event;
use leveloff_dashboard::fleet_view::{FleetAction, FleetView};
use leveloff_dashboard::terminal::{self, Screen};
use leveloff_dashboard::theme::Styles;
use leveloff_text::fleet::Fleet;

use super::fleet_reader::FleetReader;
use crate::args::FleetArgs;
use crate::screen_thread::Inputs;
use crate::screen_thread::appearance;

/// How long a result that has come may wait to be drawn.
const PACE: Duration = Duration::from_millis(250);

const WAITING: usize = 64;

/// What the thread that queries the server reports.
enum QueryEvent {
    Started,
    Finished(Box<Result<Fleet, String>>),
}

/// Shows the fleet until the user leaves; returns the newest one.
pub(crate) fn watch(reader: FleetReader, args: &FleetArgs) -> Result<Option<Fleet>> {
    let styles = appearance(&args.appearance.choice(), "leveloff fleet")?;
    let (events, reported) = sync_channel(2);
    let (refresh, refresh_requests) = sync_channel(1);
    let every = args.every;
    // Not joined: a query that is still running must not delay the end of the screen.
    std::thread::Builder::new()
        .name("fleet-reader".to_owned())
        .spawn(move || query_repeatedly(&reader, every, &events, &refresh_requests))
        .context("cannot start a thread for queries")?;
    show(styles, &reported, &refresh).context("the terminal is gone")
}

fn query_repeatedly(
    reader: &FleetReader,
    every: Duration,
    events: &SyncSender<QueryEvent>,
    refresh_requests: &Receiver<()>,
) {
    loop {
        let sent = events.send(QueryEvent::Started).and_then(|()| {
            let result = reader.look().map_err(|error| format!("{error:#}"));
            events.send(QueryEvent::Finished(Box::new(result)))
        });
        let waited = refresh_requests.recv_timeout(every);
        if sent.is_err() || waited == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

fn show(
    styles: Styles,
    reported: &Receiver<QueryEvent>,
    refresh: &SyncSender<()>,
) -> std::io::Result<Option<Fleet>> {
    let mut view = FleetView::default();
    let is_leaving = Arc::new(AtomicBool::new(false));
    let (events, waiting) = sync_channel(WAITING);
    let mut screen = Screen::enter()?;
    let inputs = Inputs::start(events, Arc::clone(&is_leaving))?;
    loop {
        for event in reported.try_iter() {
            match event {
                QueryEvent::Started => view.begin_query(),
                QueryEvent::Finished(result) => view.show(*result),
            }
        }
        screen.draw(|frame| draw(&view, &styles, frame))?;
        let action = match waiting.recv_timeout(PACE) {
            Ok(Event::Key(key)) => view.on_key(key, rows_of(terminal::size().1)),
            Ok(Event::Leave) | Err(RecvTimeoutError::Disconnected) => FleetAction::Quit,
            Ok(Event::Continued) => {
                screen.come_back()?;
                FleetAction::None
            }
            _ => FleetAction::None,
        };
        match action {
            // One waiting request is enough.
            FleetAction::Refresh => drop(refresh.try_send(())),
            FleetAction::Quit => break,
            FleetAction::None if is_leaving.load(Ordering::Relaxed) => break,
            FleetAction::None => {}
        }
    }
    drop(waiting);
    drop(inputs);
    drop(screen);
    Ok(view.fleet().cloned())
}
