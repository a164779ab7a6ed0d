//! A word to the user on stderr, whatever state the terminal is in.

use std::io::{IsTerminal, Write};

/// Whether the terminal cannot move its cursor or show colours, by its own word.
pub fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Says `text`. While a command has the terminal, a bare line feed would not return to the margin;
/// and a stderr that is gone must not end us.
pub fn notice(text: &str) {
    let mut stderr = std::io::stderr();
    let end = if stderr.is_terminal() { "\r\n" } else { "\n" };
    let _ = write!(stderr, "leveloff: {text}{end}");
}
