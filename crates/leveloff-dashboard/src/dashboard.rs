//! The whole state of the screen: [`crate::input`] changes it, drawing reads it.

use std::ops::Range;

use leveloff_model::recording::StatedFacts;

use crate::event::{ReplayPosition, Subject};
use crate::history::Axis;
use crate::run::RunState;
use crate::table::{self, Row};
use crate::view::View;

/// Everything on the screen.
#[derive(Debug, Clone)]
pub struct Dashboard {
    /// What is being watched.
    pub subject: Subject,
    stated: StatedFacts,
    pub(crate) run: RunState,
    /// The run as it was when the user froze it.
    pub(crate) frozen: Option<Box<RunState>>,
    /// What the user has chosen to see.
    pub view: View,
    /// The position of a replay.
    pub replay: Option<ReplayPosition>,
    pub(crate) ended: Option<String>,
    pub(crate) message: Option<String>,
    /// Columns and rows.
    pub size: (u16, u16),
}

impl Dashboard {
    /// A screen of `size` columns and rows on which nothing has happened.
    pub fn new(subject: Subject, stated: &StatedFacts, size: (u16, u16)) -> Dashboard {
        Dashboard {
            run: Dashboard::empty_run(&subject, stated),
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

    /// The run as it is shown: as it is, or as it was when it was frozen.
    pub fn run(&self) -> &RunState {
        self.frozen.as_deref().unwrap_or(&self.run)
    }

    /// The run as it is, even while the view is frozen.
    pub fn live_run(&self) -> &RunState {
        &self.run
    }

    /// Whether the view stands still while sampling goes on.
    pub fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// How the run ended, if it did.
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// The newest message, until the next key.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// What the chart is drawn over: what the user chose, or steps where there are some.
    pub fn axis(&self) -> Axis {
        let known = self.run().history.extent(Axis::Steps).is_some();
        match self.view.axis {
            Some(axis) => axis,
            None if known => Axis::Steps,
            None => Axis::Time,
        }
    }

    /// From the first to the newest position on the chart's axis.
    pub fn extent(&self) -> Option<Range<f64>> {
        self.run().history.extent(self.axis())
    }

    /// The rows of the processes.
    pub fn rows(&self) -> Vec<Row> {
        table::rows(self.run(), &self.view.table)
    }

    /// Forgets the run: its ticks come from the beginning again.
    pub(crate) fn restart(&mut self) {
        self.run = Dashboard::empty_run(&self.subject, &self.stated);
        self.frozen = None;
        self.ended = None;
    }

    fn empty_run(subject: &Subject, stated: &StatedFacts) -> RunState {
        match subject.is_machine {
            true => RunState::of_machine(stated),
            false => RunState::new(stated),
        }
    }
}
