//! The progress bar of a fleet.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::notice::is_dumb_terminal;

/// How often it moves.
const EVERY: Duration = Duration::from_millis(120);

/// A progress bar on stderr, if that is a terminal.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    pub(crate) fn none() -> Progress {
        Progress(None)
    }

    /// A bar for this many runs: each is fetched, then judged.
    pub(crate) fn of(runs: u64) -> Progress {
        if !std::io::stderr().is_terminal() || is_dumb_terminal() {
            return Progress(None);
        }
        let bar =
            ProgressBar::with_draw_target(Some(2 * runs), ProgressDrawTarget::stderr_with_hz(8));
        let style = ProgressStyle::with_template(
            "leveloff: fetching and judging {bar:30} {percent} % ({elapsed})",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(EVERY);
        Progress(Some(bar))
    }

    /// One piece is done.
    pub(crate) fn done(&self) {
        if let Some(bar) = &self.0 {
            // There may be more than were counted: runs come while we look.
            if bar.length().is_some_and(|all| bar.position() >= all) {
                bar.inc_length(1);
            }
            bar.inc(1);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
