//! Who sees a demo: the dashboard, or a table line by line where there is none.

use std::os::fd::BorrowedFd;
use std::path::Path;

use anyhow::Result;
use leveloff_dashboard::event::{Mode, SourceNews, Subject};
use leveloff_dashboard::theme::Look;
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::Tick;

use super::catalogue::Entry;
use super::live_table::LiveTable;
use crate::cli::DemoArgs;
use crate::screen::put;
use crate::session::Session;
use crate::show::{self, Answers, Programme, Show};

/// Who sees a demo.
pub enum Audience {
    /// Somebody in front of the dashboard.
    Screen(Show),
    /// Whoever reads the lines.
    Lines(LiveTable),
    /// The dashboard was left.
    Nobody,
}

/// How the dashboard is to look, if there is one: on a terminal, and unless lines are asked for.
pub fn shows(args: &DemoArgs) -> Result<Option<Look>> {
    if args.plain || show::refusal().is_some() {
        return Ok(None);
    }
    show::look(&args.look, "leveloff demo --plain").map(Some)
}

/// Opens the dashboard. Leaving it asks nothing: a demo is there to be looked at.
pub fn open(look: Look, entry: &Entry, recording: &Path, stated: StatedFacts) -> Result<Show> {
    Show::open(Programme {
        subject: Subject {
            title: format!("demo {}", entry.name),
            recording: Some(recording.to_owned()),
            mode: Mode::Live,
        },
        stated,
        look,
        answers: Answers::about(Some(recording)),
    })
}

impl Audience {
    /// Shows a tick; whether anybody can still see that.
    pub fn see(&mut self, tick: &Tick, session: &Session) -> bool {
        match self {
            Audience::Screen(show) => show.offer(tick),
            Audience::Lines(table) if table.is_due(tick.sample.t) => {
                let lines = table.lines(&tick.sample, session.verdict().as_ref());
                return put(&lines).is_ok();
            }
            Audience::Lines(_) | Audience::Nobody => {}
        }
        true
    }

    /// Readable when somebody left.
    pub fn left(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Audience::Screen(show) => Some(show.left()),
            Audience::Lines(_) | Audience::Nobody => None,
        }
    }

    /// The training has ended; whoever looks may go on looking.
    pub fn see_end(self) {
        if let Audience::Screen(show) = self {
            let how = "q tells what was true".to_owned();
            show.tell(SourceNews::Ended(how));
            show.wait();
        }
    }
}
