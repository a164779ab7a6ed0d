//! Output on stdout.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use leveloff_text::paint::Paint;

use crate::notice::is_dumb_terminal;

/// Colour on a terminal that has it, unless NO_COLOR is set (no-color.org).
pub(crate) fn paint() -> Paint {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if io::stdout().is_terminal() && !is_dumb_terminal() && !unwanted {
        Paint::Coloured
    } else {
        Paint::Plain
    }
}

/// Writes `text` at once. `println!` would panic if the pipe is closed.
pub(crate) fn put(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes all of `bytes`. It is no error if the reader, such as `head`, closes the pipe early.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    match io::stdout().write_all(bytes) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to stdout"),
    }
}
