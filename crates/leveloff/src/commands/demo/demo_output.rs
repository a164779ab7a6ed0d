//! The output of a demo: the dashboard, or a table line by line.

use std::os::fd::BorrowedFd;
use std::path::Path;

use anyhow::Result;
use leveloff_dashboard::event::{Mode, SourceEvent, Subject};
use leveloff_dashboard::theme::Styles;
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::Tick;

use super::live_table::LiveTable;
use super::pattern_list::Pattern;
use crate::screen_thread::{self, AppearanceChoice, RequestHandler, ScreenOptions, ScreenThread};
use crate::session::Session;
use crate::stdout::put;

pub(crate) enum DemoOutput {
    Screen(ScreenThread),
    Lines(LiveTable),
    /// The dashboard was left.
    None,
}

/// The styles of the dashboard; `None` without a terminal, or if the user wants lines.
pub(crate) fn dashboard_styles(plain: bool, choice: &AppearanceChoice) -> Result<Option<Styles>> {
    if plain || screen_thread::refusal().is_some() {
        return Ok(None);
    }
    screen_thread::appearance(choice, "leveloff demo --plain").map(Some)
}

/// Opens the dashboard. Leaving it needs no confirmation.
pub(crate) fn open_dashboard(
    styles: Styles,
    pattern: &Pattern,
    recording: &Path,
    stated: StatedFacts,
) -> Result<ScreenThread> {
    ScreenThread::open(ScreenOptions {
        subject: Subject {
            title: format!("demo {}", pattern.name),
            recording: Some(recording.to_owned()),
            mode: Mode::Live,
            is_machine: false,
        },
        stated,
        styles,
        requests: RequestHandler::about(Some(recording)),
    })
}

impl DemoOutput {
    /// Shows a tick; false if stdout is closed.
    pub(crate) fn show(&mut self, tick: &Tick, session: &Session) -> bool {
        match self {
            DemoOutput::Screen(screen) => screen.offer(tick),
            DemoOutput::Lines(table) if table.is_due(tick.sample.t) => {
                let lines = table.lines(&tick.sample, session.verdict().as_ref());
                return put(&lines).is_ok();
            }
            DemoOutput::Lines(_) | DemoOutput::None => {}
        }
        true
    }

    /// Readable when the user left the dashboard.
    pub(crate) fn left(&self) -> Option<BorrowedFd<'_>> {
        match self {
            DemoOutput::Screen(screen) => Some(screen.left()),
            DemoOutput::Lines(_) | DemoOutput::None => None,
        }
    }

    /// The training has ended; the dashboard stays until the user leaves.
    pub(crate) fn show_end(self) {
        if let DemoOutput::Screen(screen) = self {
            let how = "press q for the verdict".to_owned();
            screen.show_source(SourceEvent::Ended(how));
            screen.wait();
        }
    }
}
