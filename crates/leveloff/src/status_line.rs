//! The line at the bottom of a terminal that shows what leveloff does.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::notice::{is_dumb_terminal, is_writable};

/// At most so often, so that fast sampling does not make a slow link busy.
const EVERY: Duration = Duration::from_millis(900);

/// Redrawn again and again, on stderr if that is a terminal.
#[derive(Debug)]
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

    /// Whether it would be drawn now.
    pub(crate) fn is_due(&self) -> bool {
        self.shown && Instant::now() >= self.due
    }

    /// Draws the text, if it is time to.
    pub(crate) fn show(&mut self, text: impl FnOnce() -> String) {
        if !self.is_due() {
            return;
        }
        self.due = Instant::now() + EVERY;
        let width = rustix::termios::tcgetwinsize(std::io::stderr());
        let width = width.map_or(80, |size| usize::from(size.ws_col).max(20));
        // A line that wraps could not be cleared. The terminal adds `^C` when the user ends leveloff.
        let text: String = text().chars().take(width - 1 - "^C".len()).collect();
        say(&format!("\r\x1b[K{text}"));
        self.drawn = true;
    }

    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            say("\r\x1b[K");
            self.due = Instant::now();
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
