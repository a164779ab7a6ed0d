//! The line that shows on a terminal that leveloff samples.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use leveloff_model::sample::Tick;
use leveloff_text::steps;

use crate::notice::{is_dumb_terminal, is_writable};

/// Redrawn with every sample.
pub(crate) struct StatusLine {
    pub shown: bool,
    drawn: bool,
    due: Instant,
}

impl StatusLine {
    pub(crate) fn new() -> StatusLine {
        StatusLine {
            shown: std::io::stderr().is_terminal() && !is_dumb_terminal(),
            drawn: false,
            due: Instant::now(),
        }
    }

    /// At most once a second, so that fast sampling does not make a slow link busy.
    pub(crate) fn show(&mut self, tick: &Tick) {
        let now = Instant::now();
        if !self.shown || now < self.due {
            return;
        }
        self.due = now + Duration::from_millis(900);
        let tree = tick.sample.tree();
        let step = steps::position(&tick.sample.progress)
            .map_or_else(String::new, |step| format!(" · {step}"));
        say(&format!(
            "\r\x1b[Kleveloff: {}{step} · memory {} (RSS {}) · {} processes",
            tick.sample.t, tree.total, tree.rss, tree.processes
        ));
        self.drawn = true;
    }

    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            say("\r\x1b[K");
        }
    }
}

/// `eprint!` panics when the terminal is gone, and a closed window must not cost the recording its end. A terminal
/// that takes nothing (Ctrl-S, a dead line) must not delay the next sample: the line is drawn again a second later.
fn say(text: &str) {
    if !is_writable() {
        return;
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
}
