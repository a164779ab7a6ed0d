//! A word to the user on stderr.

use std::io::Write;

/// Says `text`. A stderr that is gone must not end a training.
pub fn notice(text: &str) {
    let _ = writeln!(std::io::stderr(), "leveloff-trainer: {text}");
}
