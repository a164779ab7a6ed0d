//! The front's side of terminals: takes the outer one over while our job is in front of it, gives
//! it back in between, and keeps the inner one like it.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use leveloff_model::process::Pid;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::Signal;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::message::{Link, ToRelay};
use super::terminal::{self, TerminalModes};

/// Keys that were typed and not yet taken by the command. One canonical line fits.
const KEYS: usize = 4096;

/// Both terminals, seen from the front.
#[derive(Debug)]
pub struct Terminals {
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

/// Who sets the outer terminal's modes.
#[derive(Debug)]
enum Holder {
    /// Not looked yet, or just given back.
    Unknown,
    /// We do; these were its modes before.
    Us(Box<Termios>),
    /// The shell does: our job is in the background.
    Shell,
}

impl Terminals {
    /// A new inner terminal beside the given outer one. `takes_over`: keys are passed on; if not,
    /// the inner one only shows.
    pub fn new(outer: BorrowedFd<'_>, takes_over: bool) -> io::Result<Terminals> {
        let master = terminal::new_terminal()?;
        terminal::copy_size(outer, &master)?;
        if !takes_over {
            terminal::only_show(&master)?;
        }
        Ok(Terminals {
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

    /// Whether keys go to the command at all.
    pub fn takes_over(&self) -> bool {
        self.takes_over
    }

    /// Whether our job is in front and the outer terminal is ours now.
    pub fn is_taken_over(&self) -> bool {
        matches!(self.holder, Holder::Us(_))
    }

    /// Takes the outer terminal over or lets it go, as our job has come to the front of it or has
    /// left it. A shell moves a running job without telling it, so this is asked again and again.
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

    /// Gives the outer terminal its own modes back, for a stop or the end.
    pub fn give_back(&mut self, link: &mut Link) {
        if self.is_taken_over() {
            self.undo_raw();
            let _ = link.send(ToRelay::Cooked);
        }
    }

    /// Gives the inner terminal the outer one's size.
    pub fn copy_size(&self) {
        let _ = terminal::copy_size(&self.outer, &self.master);
    }

    /// What to wait for: keys, and room for them.
    pub fn interests(&self) -> [Option<PollFd<'_>>; 2] {
        let listens = self.is_taken_over() && !self.input_has_ended && self.typed.is_empty();
        let has_keys = !self.typed.is_empty();
        [
            listens.then(|| PollFd::new(&self.outer, PollFlags::IN)),
            has_keys.then(|| PollFd::new(&self.master, PollFlags::OUT)),
        ]
    }

    /// Passes typed keys on. Only called when waiting has found something. Says which signal the
    /// inner terminal makes of them for `command`, because the rest of our job would have got that
    /// from the outer one: a script stops on Ctrl-C only if its shell sees it as well.
    pub fn pass_keys_on(&mut self, keys_wait: bool, command: Pid) -> Option<Signal> {
        let mut signal = None;
        // Asked again right here: reading from the background would stop us.
        if keys_wait && self.typed.is_empty() && terminal::in_foreground(&self.outer) {
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

    /// None for a command that takes keys as they are, or that has put a job of its own in front.
    fn signal_for(&self, command: Pid) -> Option<Signal> {
        let in_front = tcgetpgrp(&self.master).ok()?;
        if in_front.as_raw_nonzero().get() != command.0 {
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
            // Not before the first time in front: in the background, the outer terminal has the
            // modes of a shell's line editor.
            tcsetattr(&self.master, OptionalActions::Now, &before)?;
            self.inner_is_like_outer = true;
            self.translation_turned_off = false;
        }
        if std::mem::take(&mut self.translation_turned_off) {
            terminal::translate_output(&self.master, true)?;
        }
        self.copy_size();
        // Said before it is done: if we are killed in between, the relay finds nothing to undo.
        let _ = link.send(ToRelay::Raw(TerminalModes::of(&before)));
        tcsetattr(&self.outer, OptionalActions::Now, &terminal::raw(&before))?;
        let _ = link.send(ToRelay::Foreground(true));
        self.holder = Holder::Us(Box::new(before));
        Ok(())
    }

    /// The outer terminal translates line ends itself while it is not ours.
    fn yield_to_shell(&mut self, link: &mut Link) -> io::Result<()> {
        self.holder = Holder::Shell;
        let _ = link.send(ToRelay::Cooked);
        let _ = link.send(ToRelay::Foreground(false));
        // A command that has switched it off itself will not want it back from us.
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

impl Drop for Terminals {
    fn drop(&mut self) {
        self.undo_raw();
    }
}
