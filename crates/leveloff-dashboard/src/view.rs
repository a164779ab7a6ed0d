//! What the user has chosen to see: pages, sort order, zoom. No data of the run.

use std::collections::BTreeSet;
use std::ops::Range;

use leveloff_model::process::{ProcessIndex, Rank, Role};

use crate::history::Axis;

/// What the user has chosen to see.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// What the chart is drawn over, if the user chose.
    pub axis: Option<Axis>,
    /// Which part of the run the chart shows.
    pub window: Window,
    /// How the processes are listed.
    pub table: TableView,
    /// The page that is shown.
    pub page: Page,
    /// Rows that a long page is scrolled by: from its first row; for the log, from its
    /// newest.
    pub scrolled: usize,
    /// The prompt, while the user types.
    pub prompt: Option<Prompt>,
    /// A question that waits for an answer.
    pub question: Option<Question>,
}

/// Which part of the run the chart shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Window {
    /// All of it.
    #[default]
    Whole,
    /// The newest part, this long; moves on with the run.
    Newest(f64),
    /// This part, whatever comes.
    Fixed(Range<f64>),
}

/// How the processes are listed.
#[derive(Debug, Clone, Default)]
pub struct TableView {
    /// The sort order.
    pub sort: Sort,
    /// Only those that have this in their role, command line or number.
    pub filter: String,
    /// Groups that show their members.
    pub expanded: BTreeSet<GroupKey>,
    /// The row that is chosen, by what it stands for: rows move.
    pub selected: Option<RowKey>,
}

/// What rows are sorted by; the largest first, but for names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// By growth since the onset or the marker.
    #[default]
    Growth,
    /// By memory.
    Memory,
    /// By RSS.
    Rss,
    /// By CPU.
    Cpu,
    /// By role: launcher, trainer, workers.
    Role,
}

/// Processes that are shown as one row: a role, and of which rank if there are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey {
    /// The rank, where there are several.
    pub rank: Option<Rank>,
    /// The role.
    pub role: Role,
}

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKey {
    /// Several processes.
    Group(GroupKey),
    /// One process.
    Process(ProcessIndex),
}

/// A page of the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Page {
    /// The overview.
    #[default]
    Overview,
    /// The keys.
    Help,
    /// One process.
    Process(ProcessIndex),
    /// All findings, with what to do.
    Findings,
    /// The whole log.
    Log,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its purpose.
    pub purpose: Purpose,
    /// The text so far.
    pub text: String,
}

/// The purpose of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Processes to show.
    Filter,
    /// The step to which a replay jumps.
    Step,
}

/// A question that waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// The command of `run --watch` is still running: leave it alone, stop it, or stay?
    LeaveRun,
}

impl Sort {
    /// The next sort order.
    pub fn next(self) -> Sort {
        match self {
            Sort::Growth => Sort::Memory,
            Sort::Memory => Sort::Rss,
            Sort::Rss => Sort::Cpu,
            Sort::Cpu => Sort::Role,
            Sort::Role => Sort::Growth,
        }
    }
}

/// A window shorter than this many steps or seconds shows nothing.
const SHORTEST: f64 = 2.0;

impl Window {
    /// The part that is shown of a run that spans `whole`. `beyond` is how far the forecast should be
    /// seen when the newest part is shown.
    pub fn range(&self, whole: &Range<f64>, beyond: f64) -> Range<f64> {
        match self {
            Window::Whole => whole.start..(whole.end + beyond).max(whole.start + SHORTEST),
            Window::Newest(length) => {
                let start = (whole.end - length).max(whole.start);
                start..(whole.end + beyond.min(*length)).max(start + SHORTEST)
            }
            Window::Fixed(range) => range.clone(),
        }
    }

    /// Half or twice as much (`factor`) of what is shown now, around the newest position if that is in
    /// sight, else around the middle. Out beyond the whole run is the whole run.
    pub fn zoomed(&self, whole: &Range<f64>, factor: f64) -> Window {
        let shown = self.range(whole, 0.0);
        let length = ((shown.end - shown.start) * factor).max(SHORTEST);
        if length >= whole.end - whole.start {
            return Window::Whole;
        }
        if shown.end >= whole.end {
            return Window::Newest(length);
        }
        let middle = (shown.start + shown.end) / 2.0;
        let start = (middle - length / 2.0).clamp(whole.start, whole.end - length);
        Window::Fixed(start..start + length)
    }

    /// Moved by a share of what is shown; at the end of the run it follows again.
    pub fn panned(&self, whole: &Range<f64>, share: f64) -> Window {
        let shown = self.range(whole, 0.0);
        let length = shown.end - shown.start;
        if matches!(self, Window::Whole) {
            return Window::Whole;
        }
        let start = (shown.start + share * length).max(whole.start);
        if start + length >= whole.end {
            return Window::Newest(length);
        }
        Window::Fixed(start..start + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Range<f64> = 0.0..100.0;

    #[test]
    fn zooming_in_follows_the_newest() {
        let near = Window::Whole.zoomed(&RUN, 0.5);
        assert_eq!(near, Window::Newest(50.0));
        assert_eq!(near.range(&(0.0..120.0), 0.0), 70.0..120.0);
        assert_eq!(near.zoomed(&RUN, 2.0), Window::Whole);
    }

    #[test]
    fn panning_stays_where_it_was_put_and_follows_at_the_end() {
        let past = Window::Newest(20.0).panned(&RUN, -0.5);
        assert_eq!(past, Window::Fixed(70.0..90.0));
        assert_eq!(past.range(&(0.0..500.0), 9.0), 70.0..90.0);
        assert_eq!(past.panned(&RUN, 1.0), Window::Newest(20.0));
        assert_eq!(past.panned(&RUN, -10.0), Window::Fixed(0.0..20.0));
        assert_eq!(Window::Whole.panned(&RUN, -0.5), Window::Whole);
    }

    #[test]
    fn zooming_in_the_past_stays_there() {
        let past = Window::Fixed(40.0..60.0);
        assert_eq!(past.zoomed(&RUN, 0.5), Window::Fixed(45.0..55.0));
        assert_eq!(past.zoomed(&RUN, 3.0), Window::Fixed(20.0..80.0));
    }

    #[test]
    fn a_run_of_one_moment_has_a_window() {
        assert_eq!(Window::Whole.range(&(5.0..5.0), 0.0), 5.0..7.0);
        assert_eq!(Window::Whole.zoomed(&(5.0..5.0), 0.5), Window::Whole);
    }
}
