//! A terminal for tests: we are the emulator, and see every byte that appears on it.

#![allow(dead_code)]

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

pub const LEVELOFF: &str = env!("CARGO_BIN_EXE_leveloff");

/// Only a test that fails anyway waits this long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Makes its terminal the controlling one of a new session, and then becomes its arguments.
const IN_NEW_SESSION: &str = "import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])";

/// The emulator's side.
pub struct Terminal {
    master: OwnedFd,
    slave: OwnedFd,
    seen: Vec<u8>,
    looked_until: usize,
}

impl Terminal {
    pub fn new(columns: u16, rows: u16) -> Terminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).unwrap();
        let terminal = Terminal {
            master,
            slave,
            seen: Vec::new(),
            looked_until: 0,
        };
        terminal.resize(columns, rows);
        terminal
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize {
            ws_col: columns,
            ws_row: rows,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&self.master, size).unwrap();
    }

    /// Starts a command as the leader of a new session on this terminal. Its pid is the command's.
    pub fn start(&self, command: &[&str]) -> Child {
        Command::new("python3")
            .args(["-c", IN_NEW_SESSION])
            .args(command)
            .env("LEVELOFF_HISTORY", "0")
            // Recordings have their default names there, and stay.
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::from(self.slave.try_clone().unwrap()))
            .stdout(Stdio::from(self.slave.try_clone().unwrap()))
            .stderr(Stdio::from(self.slave.try_clone().unwrap()))
            .spawn()
            .unwrap()
    }

    /// Starts an interactive shell with job control, whose prompt is `ready> `.
    pub fn start_shell(&mut self) -> Child {
        let shell = self.start(&["env", "-u", "ENV", "PS1=ready> ", "sh", "-i"]);
        self.wait_for("ready> ");
        shell
    }

    pub fn keys(&self, keys: &str) {
        rustix::io::write(&self.master, keys.as_bytes()).unwrap();
    }

    /// Waits until this text appears behind all that was waited for before.
    pub fn wait_for(&mut self, text: &str) -> String {
        let give_up = Instant::now() + PATIENCE;
        loop {
            let fresh = &self.seen[self.looked_until..];
            if let Some(at) = fresh.windows(text.len()).position(|w| w == text.as_bytes()) {
                let end = self.looked_until + at + text.len();
                let passed = String::from_utf8_lossy(&self.seen[self.looked_until..end]).into();
                self.looked_until = end;
                return passed;
            }
            assert!(
                Instant::now() < give_up && self.read_some(),
                "{text:?} did not appear; seen: {:?}",
                self.text()
            );
        }
    }

    /// All that has appeared.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into()
    }

    /// The terminal's settings, for comparing.
    pub fn modes(&self) -> String {
        format!("{:?}", rustix::termios::tcgetattr(&self.slave).unwrap())
    }

    /// Waits until the settings are these; the last word on a terminal may come after the text.
    pub fn wait_for_modes(&self, modes: &str) {
        let give_up = Instant::now() + PATIENCE;
        while self.modes() != modes {
            assert!(Instant::now() < give_up, "{} is not {modes}", self.modes());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn read_some(&mut self) -> bool {
        let patience = Timespec::try_from(PATIENCE).unwrap();
        let mut look = [PollFd::new(&self.master, PollFlags::IN)];
        if rustix::event::poll(&mut look, Some(&patience)) == Ok(0) {
            return false;
        }
        let mut chunk = [0; 4096];
        let count = rustix::io::read(&self.master, &mut chunk).unwrap_or(0);
        self.seen.extend_from_slice(&chunk[..count]);
        count > 0
    }
}

/// For sh: this word, whatever it holds.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// `leveloff run -- python3 -c PROGRAM` as a shell's line.
pub fn run_python(program: &str) -> String {
    format!("{LEVELOFF} run -- python3 -uc {}", quoted(program))
}
