//! The terminal while it is ours: taken over, and given back clean whatever happens.
//!
//! There is one terminal, so what is known of it is known to the whole process: a panic in any
//! thread has to find out whether a screen is shown, and by which thread.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::ThreadId;

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

/// Another screen, without a cursor. Of the mouse only buttons and the wheel are reported: every
/// move would be a message over a slow link.
const TAKE: &[u8] = b"\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?1000h\x1b[?1006h";

/// All of that back, also from the middle of a frame.
const GIVE_BACK: &[u8] = b"\x1b[?2026l\x1b[?1006l\x1b[?1000l\x1b[0m\x1b[?25h\x1b[?1049l";

/// What comes between these is shown at once by terminals that know them, and by the others as ever.
const BEGIN_FRAME: &[u8] = b"\x1b[?2026h";
const END_FRAME: &[u8] = b"\x1b[?2026l";

/// A frame of a large screen fits.
const BUFFER: usize = 64 << 10;

/// What a terminal has that does not know its size, such as a serial line.
const USUAL_SIZE: (u16, u16) = (80, 24);

type Output = CrosstermBackend<BufWriter<File>>;

/// The screen of a terminal. Dropping it gives the terminal back.
pub struct Screen {
    terminal: Terminal<Output>,
}

/// The thread that shows a screen, and messages that wait until it is left.
struct Shown {
    by: ThreadId,
    held_messages: Vec<String>,
}

static SHOWN: Mutex<Option<Shown>> = Mutex::new(None);

impl Screen {
    /// Takes the terminal over for this thread.
    pub fn enter() -> io::Result<Screen> {
        give_back_on_panic();
        take_over()?;
        let terminal = blank().inspect_err(|_| give_back())?;
        Ok(Screen { terminal })
    }

    /// Draws a frame; only cells that changed are sent.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> io::Result<()> {
        self.terminal.backend_mut().write_all(BEGIN_FRAME)?;
        self.terminal.draw(draw)?;
        let backend = self.terminal.backend_mut();
        backend.write_all(END_FRAME)?;
        io::Write::flush(backend)
    }

    /// Rings the bell.
    pub fn ring(&mut self) -> io::Result<()> {
        let backend = self.terminal.backend_mut();
        backend.write_all(b"\x07")?;
        io::Write::flush(backend)
    }

    /// Takes the terminal over again, after another program used it.
    pub fn come_back(&mut self) -> io::Result<()> {
        give_back_modes();
        take_over()?;
        // The screen is blank again: everything must be drawn again.
        self.terminal = blank()?;
        Ok(())
    }

    /// Gives the terminal back until [`Screen::come_back`].
    pub fn step_aside(&mut self) {
        give_back();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Columns and rows of the terminal, as far as it knows.
pub fn size() -> (u16, u16) {
    match crossterm::terminal::size() {
        Ok((columns, rows)) if columns > 0 && rows > 0 => (columns, rows),
        _ => USUAL_SIZE,
    }
}

/// Gives the terminal back, then prints the messages that waited. Does nothing when it was not taken.
pub fn give_back() {
    let Some(shown) = shown().take() else { return };
    // A terminal that is gone needs nothing.
    let _ = write_through(GIVE_BACK);
    give_back_modes();
    for text in shown.held_messages {
        let _ = writeln!(io::stderr(), "{text}");
    }
}

/// Restores the terminal's modes only: writing may block.
pub fn give_back_modes() {
    let _ = disable_raw_mode();
}

fn take_over() -> io::Result<()> {
    enable_raw_mode()?;
    let by = std::thread::current().id();
    shown().get_or_insert(Shown {
        by,
        held_messages: Vec::new(),
    });
    write_through(TAKE).inspect_err(|_| give_back())
}

/// A screen on which nothing was drawn. Ratatui's own way to clear one queries the terminal for its
/// cursor is and waits for the answer among the keys, which are read elsewhere.
fn blank() -> io::Result<Terminal<Output>> {
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let backend = CrosstermBackend::new(BufWriter::with_capacity(BUFFER, output));
    let viewport = match crossterm::terminal::size() {
        Ok((columns, rows)) if columns > 0 && rows > 0 => Viewport::Fullscreen,
        _ => Viewport::Fixed(Rect::new(0, 0, USUAL_SIZE.0, USUAL_SIZE.1)),
    };
    Terminal::with_options(backend, TerminalOptions { viewport })
}

fn write_through(bytes: &[u8]) -> io::Result<()> {
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    output.write_all(bytes)
}

/// A panic of the thread that draws is printed on the restored terminal. One of another thread
/// may be survived, and waits until the screen is left.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !is_kept(about) {
                give_back();
                usual(about);
            }
        }));
    });
}

fn is_kept(about: &PanicHookInfo<'_>) -> bool {
    let mut shown = shown();
    match shown.as_mut() {
        Some(shown) if shown.by != std::thread::current().id() => {
            shown.held_messages.push(about.to_string());
            true
        }
        _ => false,
    }
}

/// What is known is set in one go, so a panic meanwhile leaves nothing half done.
fn shown() -> MutexGuard<'static, Option<Shown>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
