//! Messages on stderr.

use std::io::Write;

/// Prints `text` on stderr. A closed stderr must not end a training.
pub fn notice(text: &str) {
    let _ = writeln!(std::io::stderr(), "leveloff-trainer: {text}");
}
