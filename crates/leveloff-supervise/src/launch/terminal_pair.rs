//! The front's control of both terminals: takes over the outer one while our job is in its foreground, and keeps the inner one's
//! size and modes like it.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use leveloff_model::process::Pid;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::Signal;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::message::{Link, ToRelay};
use super::terminal::{self, TerminalModes};

/// The size of the buffer for typed keys: one canonical line fits.
const KEYS: usize = 4096;

/// The outer terminal and the master of the inner one.
#[derive(Debug)]
pub struct TerminalPair {
    outer: OwnedFd,
    master: OwnedFd,
    takes_over: bool,
    holder: Holder,
    inner_is_like_outer: bool,
    translation_turned_off: bool,
    input_has_ended: bool,
    keys: Box<[u8]>,
    typed: std::ops::Range<usize>,
}

/// Which program sets the outer terminal's modes.
#[derive(Debug)]
enum Holder {
    /// Not known yet, or just given back.
    Unknown,
    /// leveloff; these were the modes before.
    Us(Box<Termios>),
    /// The shell: our job is in the background.
    Shell,
}

impl TerminalPair {
    /// Makes an inner terminal for this outer one. With `takes_over`, keys are passed on; without, the inner one is for output
    /// only.
    pub fn new(outer: BorrowedFd<'_>, takes_over: bool) -> io::Result<TerminalPair> {
        let master = terminal::new_terminal()?;
        terminal::copy_size(outer, &master)?;
        if !takes_over {
            terminal::make_raw(&master)?;
        }
        Ok(TerminalPair {
            outer: outer.try_clone_to_owned()?,
            master,
            takes_over,
            holder: Holder::Unknown,
            inner_is_like_outer: false,
            translation_turned_off: false,
            input_has_ended: false,
            keys: vec![0; KEYS].into_boxed_slice(),
            typed: 0..0,
        })
    }

    /// The inner terminal's master.
    pub fn master(&self) -> &OwnedFd {
        &self.master
    }

    /// Whether keys are passed on.
    pub fn takes_over(&self) -> bool {
        self.takes_over
    }

    /// Whether the outer terminal is taken over now.
    pub fn is_taken_over(&self) -> bool {
        matches!(self.holder, Holder::Us(_))
    }

    /// Takes over the outer terminal or releases it, if our job has moved to the foreground or background. A shell moves a running
    /// job without a signal, so this is called again and again.
    pub fn follow_job(&mut self, link: &mut Link) -> io::Result<()> {
        if !self.takes_over {
            return Ok(());
        }
        match (terminal::in_foreground(&self.outer), &self.holder) {
            (true, Holder::Us(_)) | (false, Holder::Shell) => Ok(()),
            (true, _) => self.take_over(link),
            (false, _) => self.yield_to_shell(link),
        }
    }

    /// Restores the outer terminal's modes, for a stop or the end.
    pub fn restore(&mut self, link: &mut Link) {
        if self.is_taken_over() {
            self.undo_raw();
            let _ = link.send(ToRelay::Cooked);
        }
    }

    /// Gives the inner terminal the outer one's size.
    pub fn copy_size(&self) {
        let _ = terminal::copy_size(&self.outer, &self.master);
    }

    /// What to poll for: keys, and room for them.
    pub fn interests(&self) -> [Option<PollFd<'_>>; 2] {
        let reads_keys = self.is_taken_over() && !self.input_has_ended && self.typed.is_empty();
        let has_keys = !self.typed.is_empty();
        [
            reads_keys.then(|| PollFd::new(&self.outer, PollFlags::IN)),
            has_keys.then(|| PollFd::new(&self.master, PollFlags::OUT)),
        ]
    }

    /// Passes typed keys on. Returns the signal that the inner terminal sends to `command` for them: the rest of our job would
    /// have got it from the outer terminal. A script stops on Ctrl-C only if its shell gets SIGINT as well.
    pub fn pass_keys_on(&mut self, has_keys: bool, command: Pid) -> Option<Signal> {
        let mut signal = None;
        // Checked again here: reading from the background would stop us.
        if has_keys && self.typed.is_empty() && terminal::in_foreground(&self.outer) {
            match rustix::io::read(&self.outer, &mut self.keys[..]) {
                Ok(0) => self.input_has_ended = true,
                Ok(count) => {
                    self.typed = 0..count;
                    signal = self.signal_for(command);
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => self.input_has_ended = true,
            }
        }
        if !self.typed.is_empty() {
            match rustix::io::write(&self.master, &self.keys[self.typed.clone()]) {
                Ok(count) => self.typed.start += count,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => self.typed = 0..0,
            }
        }
        signal
    }

    /// `None` for a command that reads raw keys, or that has put a job of its own into the foreground.
    fn signal_for(&self, command: Pid) -> Option<Signal> {
        let foreground = tcgetpgrp(&self.master).ok()?;
        if foreground.as_raw_nonzero().get() != command.0 {
            return None;
        }
        terminal::signal_of_keys(
            &tcgetattr(&self.master).ok()?,
            &self.keys[self.typed.clone()],
        )
    }

    fn take_over(&mut self, link: &mut Link) -> io::Result<()> {
        let before = tcgetattr(&self.outer)?;
        if !self.inner_is_like_outer {
            // Only in the foreground: in the background, the outer terminal has the modes of a shell's line editor.
            tcsetattr(&self.master, OptionalActions::Now, &before)?;
            self.inner_is_like_outer = true;
            self.translation_turned_off = false;
        }
        if std::mem::take(&mut self.translation_turned_off) {
            terminal::translate_output(&self.master, true)?;
        }
        self.copy_size();
        // Sent before the change: if we are killed in between, the relay finds nothing to undo.
        let _ = link.send(ToRelay::Raw(TerminalModes::of(&before)));
        tcsetattr(&self.outer, OptionalActions::Now, &terminal::raw(&before))?;
        let _ = link.send(ToRelay::Foreground(true));
        self.holder = Holder::Us(Box::new(before));
        Ok(())
    }

    /// Our job is in the background. The outer terminal translates line ends itself now, so the inner one must not.
    fn yield_to_shell(&mut self, link: &mut Link) -> io::Result<()> {
        self.holder = Holder::Shell;
        let _ = link.send(ToRelay::Cooked);
        let _ = link.send(ToRelay::Foreground(false));
        // If the command has switched it off itself, it stays off.
        self.translation_turned_off |= terminal::translate_output(&self.master, false)?;
        Ok(())
    }

    fn undo_raw(&mut self) {
        // From the background this would stop us, and a shell has set its own modes anyway.
        if let Holder::Us(before) = &self.holder
            && terminal::in_foreground(&self.outer)
        {
            let _ = terminal::undo_raw(&self.outer, TerminalModes::of(before));
        }
        self.holder = Holder::Unknown;
    }
}

impl Drop for TerminalPair {
    fn drop(&mut self) {
        self.undo_raw();
    }
}
