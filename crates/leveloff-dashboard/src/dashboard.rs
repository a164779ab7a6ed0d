//! The whole state of the screen: events change it, drawing reads it.

mod keys;
mod mouse;

use std::ops::Range;

use leveloff_model::recording::StatedFacts;

use crate::event::{Event, Mode, ReplayPosition, Request, SourceNews, Subject};
use crate::history::Axis;
use crate::run::RunState;
use crate::table::{self, Row};
use crate::view::View;

/// Everything on the screen.
#[derive(Debug, Clone)]
pub struct Dashboard {
    subject: Subject,
    stated: StatedFacts,
    run: RunState,
    /// The run as it was when the user froze it.
    frozen: Option<Box<RunState>>,
    view: View,
    replay: Option<ReplayPosition>,
    ended: Option<String>,
    message: Option<String>,
    size: (u16, u16),
}

impl Dashboard {
    /// A screen of `size` columns and rows on which nothing has happened.
    pub fn new(subject: Subject, stated: &StatedFacts, size: (u16, u16)) -> Dashboard {
        Dashboard {
            run: fresh(&subject, stated),
            view: View::default(),
            subject,
            stated: stated.clone(),
            frozen: None,
            replay: None,
            ended: None,
            message: None,
            size,
        }
    }

    /// Takes an event. What it asks of the outside is handed back.
    pub fn on(&mut self, event: Event) -> Option<Request> {
        match event {
            Event::Tick(tick) => self.run.take(*tick),
            Event::Source(news) => self.hear(news),
            Event::Key(key) => return self.on_key(key),
            Event::Mouse(mouse) => self.on_mouse(mouse),
            Event::Resized(columns, rows) => self.size = (columns, rows),
            Event::Answer(text) | Event::Alarm(text) => self.message = Some(text),
            Event::Leave => return Some(Request::Leave),
            // The terminal has to be taken over again; nothing has changed.
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

    fn hear(&mut self, news: SourceNews) {
        match news {
            SourceNews::Restarted => {
                self.run = fresh(&self.subject, &self.stated);
                self.frozen = None;
                self.ended = None;
            }
            SourceNews::Ended(how) => {
                self.run.end();
                self.ended = Some(how);
            }
            SourceNews::Replaying(position) => self.replay = Some(position),
        }
    }

    /// What is being watched.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The run as it is shown: as it is, or as it was when it was frozen.
    pub fn run(&self) -> &RunState {
        self.frozen.as_deref().unwrap_or(&self.run)
    }

    /// The run as it is, for the last word on leaving.
    pub fn live_run(&self) -> &RunState {
        &self.run
    }

    /// Whether the view stands still while sampling goes on.
    pub fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// What the user looks at.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Where a replay is.
    pub fn replay(&self) -> Option<ReplayPosition> {
        self.replay
    }

    /// How the run ended, if it did.
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// The answer to what was asked last, until the next key.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        self.size
    }

    /// What the chart is drawn over: what the user chose, or steps where there are some.
    pub fn axis(&self) -> Axis {
        let known = self.run().history().extent(Axis::Steps).is_some();
        match self.view.axis {
            Some(axis) => axis,
            None if known => Axis::Steps,
            None => Axis::Time,
        }
    }

    /// From the first to the newest place on the chart's axis.
    pub fn extent(&self) -> Option<Range<f64>> {
        self.run().history().extent(self.axis())
    }

    /// The rows of the processes.
    pub fn rows(&self) -> Vec<Row> {
        table::rows(self.run(), &self.view.table)
    }
}

fn fresh(subject: &Subject, stated: &StatedFacts) -> RunState {
    match subject.mode {
        Mode::System => RunState::of_machine(stated),
        Mode::Live | Mode::Command | Mode::Follow | Mode::Replay => RunState::new(stated),
    }
}
