//! What goes to stdout, and what it can show.

use std::io::{self, IsTerminal, Write};

use leveloff_text::paint::Paint;

use crate::notice::is_dumb_terminal;

/// Colour for those who can see it and did not ask for none (no-color.org).
pub fn paint() -> Paint {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if io::stdout().is_terminal() && !is_dumb_terminal() && !unwanted {
        Paint::Coloured
    } else {
        Paint::Plain
    }
}

/// Shows `text` at once. `println!` would panic when nobody reads any more.
pub fn put(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
