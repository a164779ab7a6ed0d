//! What events do to the dashboard: ticks, keys and the mouse.

mod keys;
mod mouse;

use crate::dashboard::Dashboard;
use crate::event::{Event, Request, SourceEvent};

impl Dashboard {
    /// Takes an event. Returns what the dashboard cannot do itself.
    pub fn on(&mut self, event: Event) -> Option<Request> {
        match event {
            Event::Tick(tick) => self.run.take(*tick),
            Event::Source(event) => self.on_source(event),
            Event::Key(key) => return self.on_key(key),
            Event::Mouse(mouse) => self.on_mouse(mouse),
            Event::Resized(columns, rows) => self.size = (columns, rows),
            Event::Answer(text) | Event::Alarm(text) => self.message = Some(text),
            Event::Leave => return Some(Request::Leave),
            // The terminal is taken over again; the state has not changed.
            Event::Continued => {}
        }
        None
    }

    /// Called when all waiting events were taken, before drawing.
    pub fn settle(&mut self) {
        self.run.settle();
        if let Some(frozen) = &mut self.frozen {
            frozen.settle();
        }
    }

    fn on_source(&mut self, event: SourceEvent) {
        match event {
            SourceEvent::Restarted => self.restart(),
            SourceEvent::Ended(how) => {
                self.run.end();
                self.ended = Some(how);
            }
            SourceEvent::RecordingEnded(how) => self.ended = Some(how),
            SourceEvent::Replaying(position) => self.replay = Some(position),
        }
    }
}
