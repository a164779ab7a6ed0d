//! Functions on terminals: the outer one, which is the user's, and the inner one, which the command gets.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Result;
use rustix::process::Signal;
use rustix::pty::OpenptFlags;
use rustix::termios::{
    ControlModes, InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Termios,
    Winsize, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr, tcsetwinsize,
};
use serde::{Deserialize, Serialize};

use super::sys;

/// The size of an inner terminal whose outer one has none: progress bars print nothing on 0×0.
const FALLBACK_SIZE: Winsize = Winsize {
    ws_row: 24,
    ws_col: 80,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// The settings that raw mode changes: enough to undo it, and to tell whether a terminal is still as we left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalModes {
    /// c_iflag
    pub input: u32,
    /// c_oflag
    pub output: u32,
    /// c_cflag
    pub control: u32,
    /// c_lflag
    pub local: u32,
    /// VMIN
    pub min: u8,
    /// VTIME
    pub time: u8,
}

impl TerminalModes {
    /// The modes in these settings.
    pub fn of(termios: &Termios) -> TerminalModes {
        TerminalModes {
            input: termios.input_modes.bits(),
            output: termios.output_modes.bits(),
            control: termios.control_modes.bits(),
            local: termios.local_modes.bits(),
            min: termios.special_codes[SpecialCodeIndex::VMIN],
            time: termios.special_codes[SpecialCodeIndex::VTIME],
        }
    }

    /// Sets these modes and leaves all other settings.
    pub fn apply_to(self, termios: &mut Termios) {
        termios.input_modes = InputModes::from_bits_retain(self.input);
        termios.output_modes = OutputModes::from_bits_retain(self.output);
        termios.control_modes = ControlModes::from_bits_retain(self.control);
        termios.local_modes = LocalModes::from_bits_retain(self.local);
        termios.special_codes[SpecialCodeIndex::VMIN] = self.min;
        termios.special_codes[SpecialCodeIndex::VTIME] = self.time;
    }
}

/// Opens a new terminal and returns its master side, non-blocking and close-on-exec.
pub fn new_terminal() -> Result<OwnedFd> {
    let master =
        rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let flags = rustix::fs::fcntl_getfl(&master)?;
    rustix::fs::fcntl_setfl(&master, flags | OFlags::NONBLOCK)?;
    Ok(master)
}

/// Opens the slave side, on which a program runs.
pub fn slave_of(master: impl AsFd) -> Result<OwnedFd> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    rustix::pty::ioctl_tiocgptpeer(&master, flags).or_else(|_| {
        // Before Linux 4.13 it has to be opened by name.
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::open(name, flags, rustix::fs::Mode::empty())
    })
}

/// Gives the inner terminal the outer one's size. The kernel sends SIGWINCH to its foreground job.
pub fn copy_size(outer: impl AsFd, inner: impl AsFd) -> Result<()> {
    let size = match tcgetwinsize(outer) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => size,
        _ => FALLBACK_SIZE,
    };
    tcsetwinsize(inner, size)
}

/// Whether our process group is the one that may read and change this terminal.
pub fn in_foreground(terminal: impl AsFd) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| sys::own_group() == Some(group))
}

/// These settings in raw mode: keys arrive unchanged, and nothing is echoed or translated, because the inner terminal does
/// that.
pub fn raw(before: &Termios) -> Termios {
    let mut raw = before.clone();
    raw.make_raw();
    raw
}

/// Switches the translation of line ends (`\n` to `\r\n`) of a terminal's output. Whether that was a change.
pub fn translate_output(terminal: impl AsFd, yes: bool) -> Result<bool> {
    let mut termios = tcgetattr(&terminal)?;
    if termios.output_modes.contains(OutputModes::OPOST) == yes {
        return Ok(false);
    }
    termios.output_modes.set(OutputModes::OPOST, yes);
    tcsetattr(terminal, OptionalActions::Now, &termios)?;
    Ok(true)
}

/// The first signal that a terminal with these settings sends to its foreground job for these keys: SIGINT or SIGQUIT. Not
/// SIGTSTP, because the relay reports when the command stops.
pub fn signal_of_keys(termios: &Termios, keys: &[u8]) -> Option<Signal> {
    if !termios.local_modes.contains(LocalModes::ISIG) {
        return None;
    }
    let code = |index| Some(termios.special_codes[index]).filter(|&code| code != 0);
    let quotes = termios.local_modes.contains(LocalModes::IEXTEN);
    let mut quoted = false;
    for &key in keys {
        if std::mem::take(&mut quoted) {
            continue;
        }
        match Some(key) {
            key if key == code(SpecialCodeIndex::VINTR) => return Some(Signal::INT),
            key if key == code(SpecialCodeIndex::VQUIT) => return Some(Signal::QUIT),
            key => quoted = quotes && key == code(SpecialCodeIndex::VLNEXT),
        }
    }
    None
}

/// Makes a terminal raw until it closes: bytes pass unchanged, and nothing is echoed.
pub fn make_raw(terminal: impl AsFd) -> Result<()> {
    let termios = tcgetattr(&terminal)?;
    tcsetattr(terminal, OptionalActions::Now, &raw(&termios))
}

/// Undoes raw mode if the terminal is still exactly as we left it. If a shell has set its own modes since, it stays as it is.
pub fn undo_raw(terminal: impl AsFd, before: TerminalModes) -> Result<bool> {
    let mut now = tcgetattr(&terminal)?;
    let mut as_before = now.clone();
    before.apply_to(&mut as_before);
    if TerminalModes::of(&now) != TerminalModes::of(&raw(&as_before)) {
        return Ok(false);
    }
    before.apply_to(&mut now);
    tcsetattr(terminal, OptionalActions::Now, &now)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_mode_is_undone_only_if_unchanged() {
        let master = new_terminal().unwrap();
        let terminal = slave_of(&master).unwrap();
        let before = tcgetattr(&terminal).unwrap();
        let modes = TerminalModes::of(&before);
        tcsetattr(&terminal, OptionalActions::Now, &raw(&before)).unwrap();
        assert!(undo_raw(&terminal, modes).unwrap());
        assert_eq!(TerminalModes::of(&tcgetattr(&terminal).unwrap()), modes);
        assert!(!undo_raw(&terminal, modes).unwrap());
    }

    #[test]
    fn a_size_is_copied_and_a_missing_one_replaced() {
        let outer = new_terminal().unwrap();
        let inner = new_terminal().unwrap();
        copy_size(&outer, &inner).unwrap();
        let size = tcgetwinsize(&inner).unwrap();
        assert_eq!((size.ws_col, size.ws_row), (80, 24));
        let wide = Winsize {
            ws_col: 132,
            ws_row: 43,
            ..FALLBACK_SIZE
        };
        tcsetwinsize(&outer, wide).unwrap();
        copy_size(&outer, &inner).unwrap();
        assert_eq!(tcgetwinsize(&inner).unwrap().ws_col, 132);
    }

    #[test]
    fn keys_become_signals_as_in_the_terminal() {
        let master = new_terminal().unwrap();
        let mut termios = tcgetattr(&master).unwrap();
        assert_eq!(signal_of_keys(&termios, b"abc\r"), None);
        assert_eq!(signal_of_keys(&termios, b"a\x03b"), Some(Signal::INT));
        assert_eq!(signal_of_keys(&termios, b"\x1c"), Some(Signal::QUIT));
        assert_eq!(
            signal_of_keys(&termios, b"\x16\x03"),
            None,
            "quoted by Ctrl-V"
        );
        termios.special_codes[SpecialCodeIndex::VINTR] = 0;
        assert_eq!(signal_of_keys(&termios, b"\0\x03"), None, "switched off");
        termios.make_raw();
        assert_eq!(signal_of_keys(&termios, b"\x1c"), None);
    }

    #[test]
    fn translation_is_switched_through_the_master() {
        let master = new_terminal().unwrap();
        let terminal = slave_of(&master).unwrap();
        assert!(translate_output(&master, false).unwrap());
        assert!(!translate_output(&master, false).unwrap());
        rustix::io::write(&terminal, b"a\n").unwrap();
        let mut seen = [0; 8];
        assert_eq!(rustix::io::read(&master, &mut seen).unwrap(), 2);
        assert!(!in_foreground(&terminal));
    }
}
