//! A dashboard on the terminal, in a thread of its own, so that nothing that a slow link or a stopped
//! terminal does can hold a sampler up.
//!
//! Ticks wait in a queue. When it is full because the screen is that far behind, further samples are
//! left out of the chart, never their events, and the screen says how many: the recording has them all.

mod appearance;
mod inputs;
mod requests;

pub(crate) use appearance::{AppearanceChoice, appearance, refusal};
pub(crate) use inputs::Inputs;
pub(crate) use requests::{RequestHandler, StartedCommand};

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::{Context, Result};
use leveloff_dashboard::dashboard::Dashboard;
use leveloff_dashboard::event::{Event, SourceEvent, Subject};
use leveloff_dashboard::event_loop;
use leveloff_dashboard::terminal::{self, Screen};
use leveloff_dashboard::theme::Styles;
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::{self, Tick};
use leveloff_supervise::notify::Urgency;
use leveloff_text::verdict::line;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::notice::{self, notice};

/// Events that wait for the screen: ten minutes of samples, while the screen usually takes none longer
/// than half a second.
const WAITING: usize = 600;

/// What is shown, and how.
#[derive(Debug)]
pub(crate) struct ScreenOptions {
    /// What is being watched.
    pub subject: Subject,
    /// What the user stated about it.
    pub stated: StatedFacts,
    pub styles: Styles,
    /// Handles what the user asks the dashboard for.
    pub requests: RequestHandler,
}

/// A dashboard that is being shown. Dropping it leaves the screen.
#[derive(Debug)]
pub(crate) struct ScreenThread {
    events: SyncSender<Event>,
    behind: MissedTicks,
    /// Its other end is closed with the screen.
    left: UnixStream,
    thread: Option<JoinHandle<LastVerdict>>,
}

/// The verdict that the screen showed last, in one line.
pub(crate) type LastVerdict = Option<String>;

/// What of the latest ticks has not reached the screen.
#[derive(Debug, Default)]
struct MissedTicks {
    events: Vec<sample::Event>,
    samples: u64,
}

impl ScreenThread {
    /// Takes the terminal over and shows the dashboard until the user leaves it.
    pub(crate) fn open(options: ScreenOptions) -> Result<ScreenThread> {
        let (events, waiting) = sync_channel(WAITING);
        let (left, leaving) = UnixStream::pair().context("cannot make a pipe for the screen")?;
        let (entered, is_entered) = sync_channel(1);
        let to_screen = events.clone();
        let thread = std::thread::Builder::new()
            .name("screen".to_owned())
            .spawn(move || {
                let _leaving = leaving;
                show(options, &to_screen, waiting, &entered)
            })
            .context("cannot start a thread for the screen")?;
        match is_entered.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(error).context("cannot take the terminal over"),
            Err(_) => anyhow::bail!("the dashboard ended before it started"),
        }
        Ok(ScreenThread {
            events,
            behind: MissedTicks::default(),
            left,
            thread: Some(thread),
        })
    }

    /// Shows a tick, now or merged with a later one; never waits.
    pub(crate) fn offer(&mut self, tick: &Tick) {
        let mut tick = tick.clone();
        if self.behind.samples > 0 {
            let mut events = std::mem::take(&mut self.behind.events);
            events.append(&mut tick.events);
            tick.events = events;
        }
        match self.events.try_send(Event::Tick(Box::new(tick))) {
            Ok(()) => self.caught_up(),
            Err(TrySendError::Full(Event::Tick(tick))) => {
                self.behind.events = tick.events;
                self.behind.samples += 1;
            }
            Err(_) => {}
        }
    }

    fn caught_up(&mut self) {
        let samples = std::mem::take(&mut self.behind.samples);
        if samples > 0 {
            let text = format!("the screen was behind: {samples} samples are not in the chart");
            let _ = self.events.try_send(Event::Answer(text));
        }
    }

    /// Shows an event, and waits for room if the screen is behind. False if the screen was left.
    pub(crate) fn send(&self, event: Event) -> bool {
        self.events.send(event).is_ok()
    }

    /// Shows a message from the source of the ticks.
    pub(crate) fn show_source(&self, news: SourceEvent) {
        self.send(Event::Source(news));
    }

    /// Readable when the screen was left.
    pub(crate) fn left(&self) -> BorrowedFd<'_> {
        self.left.as_fd()
    }

    /// Waits until `deadline`; whether the screen was left before.
    pub(crate) fn is_left_by(&self, deadline: Instant) -> Result<bool> {
        loop {
            let wait = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(wait).ok();
            let mut fds = [PollFd::new(&self.left, PollFlags::IN)];
            match poll(&mut fds, timeout.as_ref()) {
                Ok(ready) => return Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno).context("cannot wait"),
            }
        }
    }

    /// Waits until the user leaves.
    pub(crate) fn wait(mut self) -> LastVerdict {
        self.join()
    }

    fn join(&mut self) -> LastVerdict {
        // The thread has reported its own failure.
        self.thread.take()?.join().unwrap_or_default()
    }
}

impl Drop for ScreenThread {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.send(Event::Leave);
            self.join();
        }
    }
}

fn show(
    mut options: ScreenOptions,
    events: &SyncSender<Event>,
    waiting: Receiver<Event>,
    entered: &SyncSender<io::Result<()>>,
) -> LastVerdict {
    let is_leaving = options.requests.is_leaving.clone();
    let begun =
        Screen::enter().and_then(|screen| Ok((screen, Inputs::start(events.clone(), is_leaving)?)));
    let (mut screen, inputs) = match begun {
        Ok(both) => both,
        Err(error) => {
            let _ = entered.send(Err(error));
            return None;
        }
    };
    let to_screen = events.clone();
    let held = notice::hold(move |text, urgency| {
        let text = text.to_owned();
        let _ = to_screen.try_send(match urgency {
            Urgency::Normal => Event::Answer(text),
            Urgency::Alarm => Event::Alarm(text),
        });
    });
    let _ = entered.send(Ok(()));
    let requests = &mut options.requests;
    let subject = options.subject;
    let mut dashboard = Dashboard::new(subject, &options.stated, terminal::size());
    // Dropped before the inputs are, which may be waiting for room in it.
    let waiting = waiting;
    let ended = event_loop::run(
        &mut dashboard,
        &options.styles,
        &mut screen,
        &waiting,
        &mut |request| requests.handle(request, events),
    );
    drop(waiting);
    drop(inputs);
    drop(screen);
    drop(held);
    if let Err(error) = ended {
        notice(&format!("the terminal is gone: {error}"));
    }
    for line in options.requests.farewell() {
        notice(line);
    }
    dashboard.settle();
    dashboard.live_run().verdict().map(line)
}
