//! Decides what the command's stdin, stdout and stderr are connected to, by what ours are.

use std::os::fd::AsFd;

use rustix::fs::{FileType, fstat};
use serde::{Deserialize, Serialize};

/// How the command is connected to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// A terminal of its own, in a session of its own; keys and signals are passed on.
    Terminal,
    /// Its output goes to a raw terminal, while it stays in the user's session and reads the user's terminal itself: a part
    /// of a pipeline shares that terminal, so we must not take it over.
    Display,
    /// Its output goes through pipes.
    Pipes,
    /// Its output goes directly to files or devices.
    Direct,
}

/// What one of the command's three streams is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wire {
    /// The same as ours.
    Inherited,
    /// The inner terminal.
    Terminal,
    /// A pipe through the relay.
    Pipe,
    /// The pipe of stdout, so that the order of the output stays.
    PipeOfStdout,
}

impl Wire {
    /// Whether the relay has a channel for it.
    pub fn has_channel(self) -> bool {
        matches!(self, Wire::Terminal | Wire::Pipe)
    }
}

/// The connections of all three streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wiring {
    /// The kind of connection.
    pub mode: Mode,
    /// For descriptor 0.
    pub stdin: Wire,
    /// For descriptor 1.
    pub stdout: Wire,
    /// For descriptor 2.
    pub stderr: Wire,
}

/// The kind of one of our own streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// A terminal, by its device.
    Terminal(u64),
    /// A pipe or socket, by its device and inode.
    Pipe(u64, u64),
    /// A regular file, another device, or nothing.
    Other,
}

impl Stream {
    /// The kind of this descriptor.
    pub fn of(descriptor: impl AsFd) -> Stream {
        let Ok(stat) = fstat(&descriptor) else {
            return Stream::Other;
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::CharacterDevice if rustix::termios::isatty(descriptor) => {
                Stream::Terminal(stat.st_rdev)
            }
            FileType::Fifo | FileType::Socket => Stream::Pipe(stat.st_dev, stat.st_ino),
            _ => Stream::Other,
        }
    }

    fn is_terminal(self) -> bool {
        matches!(self, Stream::Terminal(_))
    }

    fn is_pipe(self) -> bool {
        matches!(self, Stream::Pipe(..))
    }
}

impl Wiring {
    /// The wiring for these streams of ours. `controls` says whether stdin is the controlling terminal of our session: only
    /// then do we know whether we are in its foreground.
    pub fn between(stdin: Stream, stdout: Stream, stderr: Stream, controls: bool) -> Wiring {
        let takes_over = controls && stdin.is_terminal() && stdin == stdout && !stderr.is_pipe();
        let mode = if takes_over {
            Mode::Terminal
        } else if stdout.is_terminal() || stderr.is_terminal() {
            Mode::Display
        } else if stdout.is_pipe() || stderr.is_pipe() {
            Mode::Pipes
        } else {
            Mode::Direct
        };
        Wiring {
            mode,
            stdin: if takes_over {
                Wire::Terminal
            } else {
                Wire::Inherited
            },
            stdout: output(stdout),
            stderr: stderr_beside(stdout, stderr),
        }
    }

    /// Whether an inner terminal is needed.
    pub fn has_terminal(self) -> bool {
        matches!(self.mode, Mode::Terminal | Mode::Display)
    }
}

fn output(stream: Stream) -> Wire {
    match stream {
        Stream::Terminal(_) => Wire::Terminal,
        Stream::Pipe(..) => Wire::Pipe,
        Stream::Other => Wire::Inherited,
    }
}

fn stderr_beside(stdout: Stream, stderr: Stream) -> Wire {
    if stderr.is_pipe() && stderr == stdout {
        Wire::PipeOfStdout
    } else if stderr.is_terminal() && stdout.is_terminal() && stderr != stdout {
        // Two terminals: output for the second must not appear on the first.
        Wire::Inherited
    } else {
        output(stderr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTY: Stream = Stream::Terminal(1);
    const OTHER_TTY: Stream = Stream::Terminal(2);
    const PIPE: Stream = Stream::Pipe(1, 1);
    const OTHER_PIPE: Stream = Stream::Pipe(1, 2);
    const FILE: Stream = Stream::Other;

    fn check(streams: [Stream; 3], mode: Mode, wires: [Wire; 3]) {
        let wiring = Wiring::between(streams[0], streams[1], streams[2], true);
        assert_eq!(wiring.mode, mode, "{streams:?}");
        assert_eq!(
            [wiring.stdin, wiring.stdout, wiring.stderr],
            wires,
            "{streams:?}"
        );
    }

    #[test]
    fn a_terminal_is_taken_over_only_if_it_is_not_shared() {
        use Wire::{Inherited, Terminal};
        check(
            [TTY, TTY, TTY],
            Mode::Terminal,
            [Terminal, Terminal, Terminal],
        );
        check(
            [TTY, TTY, FILE],
            Mode::Terminal,
            [Terminal, Terminal, Inherited],
        );
        check(
            [TTY, PIPE, TTY],
            Mode::Display,
            [Inherited, Wire::Pipe, Terminal],
        );
        check(
            [TTY, FILE, TTY],
            Mode::Display,
            [Inherited, Inherited, Terminal],
        );
        check(
            [PIPE, TTY, TTY],
            Mode::Display,
            [Inherited, Terminal, Terminal],
        );
        check(
            [TTY, TTY, PIPE],
            Mode::Display,
            [Inherited, Terminal, Wire::Pipe],
        );
        check(
            [TTY, TTY, OTHER_TTY],
            Mode::Terminal,
            [Terminal, Terminal, Inherited],
        );
        check(
            [OTHER_TTY, TTY, TTY],
            Mode::Display,
            [Inherited, Terminal, Terminal],
        );
        let foreign = Wiring::between(TTY, TTY, TTY, false);
        assert_eq!((foreign.mode, foreign.stdin), (Mode::Display, Inherited));
    }

    #[test]
    fn pipes_stay_separate_unless_they_are_the_same() {
        use Wire::{Inherited, Pipe, PipeOfStdout};
        check(
            [TTY, PIPE, OTHER_PIPE],
            Mode::Pipes,
            [Inherited, Pipe, Pipe],
        );
        check(
            [FILE, PIPE, PIPE],
            Mode::Pipes,
            [Inherited, Pipe, PipeOfStdout],
        );
        check(
            [PIPE, FILE, FILE],
            Mode::Direct,
            [Inherited, Inherited, Inherited],
        );
        check(
            [PIPE, FILE, PIPE],
            Mode::Pipes,
            [Inherited, Inherited, Pipe],
        );
    }

    #[test]
    fn descriptors_are_recognised() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        assert_eq!(Stream::of(&reader), Stream::of(&writer));
        assert!(Stream::of(&reader).is_pipe());
        let null = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(Stream::of(&null), Stream::Other);
        let master = super::super::terminal::new_terminal().unwrap();
        let slave = super::super::terminal::slave_of(&master).unwrap();
        assert!(Stream::of(&slave).is_terminal());
    }
}
