//! One loop: takes what happened, lets the state change, draws.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::dashboard::Dashboard;
use crate::draw;
use crate::event::{Event, Request};
use crate::terminal::Screen;
use crate::theme::Styles;

/// Between two frames while no key is pressed: frames cost bandwidth on a slow link.
const CALM: Duration = Duration::from_millis(500);

/// Between two frames while keys are pressed: 30 frames a second.
const QUICK: Duration = Duration::from_millis(33);

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing to say.
    Done,
    /// This, on the screen.
    Say(String),
    /// The screen is to be left.
    Leave,
}

/// Runs until the user leaves or the events end. Requests of the dashboard go to
/// `answer`; while it answers [`Request::Suspend`], the terminal is as it was.
pub fn run(
    dashboard: &mut Dashboard,
    styles: &Styles,
    screen: &mut Screen,
    events: &Receiver<Event>,
    answer: &mut dyn FnMut(Request) -> Reply,
) -> std::io::Result<()> {
    let mut pace = Pace::default();
    pace.want(CALM);
    loop {
        let first = match pace.wait(events) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        // All that waits is taken before anything is drawn, but a flood must not hold the screen up.
        let waiting = std::iter::from_fn(|| events.try_recv().ok());
        for event in first.into_iter().chain(waiting) {
            pace.want(urgency(&event));
            if !take(event, dashboard, screen, answer)? {
                return Ok(());
            }
            if pace.is_due() {
                break;
            }
        }
        if pace.is_due() {
            dashboard.settle();
            screen.draw(|frame| draw::draw(dashboard, styles, frame))?;
            pace.drawn();
        }
    }
}

/// Whether to go on.
fn take(
    event: Event,
    dashboard: &mut Dashboard,
    screen: &mut Screen,
    answer: &mut dyn FnMut(Request) -> Reply,
) -> std::io::Result<bool> {
    if matches!(event, Event::Continued) {
        screen.come_back()?;
    }
    if matches!(event, Event::Alarm(_)) {
        screen.ring()?;
    }
    let Some(request) = dashboard.on(event) else {
        return Ok(true);
    };
    let leaves = matches!(request, Request::Leave | Request::StopRun);
    let suspends = request == Request::Suspend;
    if suspends {
        screen.step_aside();
    }
    match answer(request) {
        Reply::Leave => return Ok(false),
        Reply::Say(text) => {
            dashboard.on(Event::Answer(text));
        }
        Reply::Done if leaves => return Ok(false),
        Reply::Done => {}
    }
    if suspends {
        screen.come_back()?;
    }
    Ok(true)
}

fn urgency(event: &Event) -> Duration {
    match event {
        Event::Tick(_) | Event::Source(_) => CALM,
        _ => QUICK,
    }
}

/// When to draw next.
#[derive(Debug, Default)]
struct Pace {
    drawn: Option<Instant>,
    /// How long after the last frame the next is wanted, if one is.
    after: Option<Duration>,
}

impl Pace {
    fn want(&mut self, after: Duration) {
        self.after = Some(self.after.map_or(after, |sooner| sooner.min(after)));
    }

    fn drawn(&mut self) {
        *self = Pace {
            drawn: Some(Instant::now()),
            after: None,
        };
    }

    /// `None`: there is nothing to draw. The first frame is due at once.
    fn due(&self) -> Option<Instant> {
        let after = self.after?;
        Some(self.drawn.map_or_else(Instant::now, |drawn| drawn + after))
    }

    fn is_due(&self) -> bool {
        self.due().is_some_and(|due| due <= Instant::now())
    }

    fn wait(&self, events: &Receiver<Event>) -> Result<Event, RecvTimeoutError> {
        match self.due() {
            Some(due) => events.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => events.recv().map_err(RecvTimeoutError::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_is_due_at_once_and_none_without_news() {
        let mut pace = Pace::default();
        assert!(!pace.is_due());
        pace.want(CALM);
        assert!(pace.is_due());
        pace.drawn();
        assert_eq!(pace.due(), None);
    }

    #[test]
    fn a_key_is_seen_before_the_calm_is_over_and_ticks_do_not_delay_it() {
        let mut pace = Pace::default();
        pace.drawn();
        let drawn = pace.drawn.unwrap();
        pace.want(CALM);
        assert_eq!(pace.due(), Some(drawn + CALM));
        pace.want(QUICK);
        pace.want(CALM);
        assert_eq!(pace.due(), Some(drawn + QUICK));
    }

    #[test]
    fn the_wait_ends_when_all_senders_are_dropped() {
        let (sender, events) = std::sync::mpsc::channel();
        drop(sender);
        let pace = Pace::default();
        assert!(matches!(
            pace.wait(&events),
            Err(RecvTimeoutError::Disconnected)
        ));
    }
}
