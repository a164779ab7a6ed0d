//! One stream of the command's output: from a pipe or terminal to the user, with a copy for the front that is dropped rather
//! than waited for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The default capacity of a pipe: one read empties it.
const BUFFER: usize = 64 << 10;

/// A pipe that polls as writable takes this much without blocking: one page.
const PAGE: usize = 4096;

/// The most buffers that are moved before the other stream has its turn.
const ROUNDS: usize = 16;

/// A terminal that others still hold counts as drained after this much silence.
const TERMINAL_SILENCE: Duration = Duration::from_millis(50);

/// One stream.
#[derive(Debug)]
pub struct Channel {
    source: Option<OwnedFd>,
    from_terminal: bool,
    sink: Sink,
    tap: Option<OwnedFd>,
    buffer: Box<[u8]>,
    filled: std::ops::Range<usize>,
    empty_since: Option<Instant>,
}

/// The user's end of a stream.
#[derive(Debug)]
pub struct Sink {
    descriptor: OwnedFd,
    blocks: bool,
    is_pipe: bool,
    is_gone: bool,
}

impl Sink {
    /// Opens the user's stream again where that is possible, because making the shared description non-blocking would change it
    /// for every other program that has it.
    pub fn to_user(descriptor: BorrowedFd<'_>) -> rustix::io::Result<Sink> {
        use rustix::fd::AsRawFd;
        let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let is_pipe = rustix::fs::fstat(descriptor).is_ok_and(|stat| {
            rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Fifo
        });
        let (descriptor, blocks) = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(reopened) => (reopened, false),
            Err(_) => (rustix::io::fcntl_dupfd_cloexec(descriptor, 3)?, true),
        };
        Ok(Sink {
            descriptor,
            blocks,
            is_pipe,
            is_gone: false,
        })
    }
}

impl Channel {
    /// From a pipe. When the user's reader closes its end, the pipe is closed as well, and the command gets SIGPIPE as without
    /// us.
    pub fn from_pipe(source: OwnedFd, sink: Sink, tap: Option<OwnedFd>) -> Channel {
        Channel::new(source, false, sink, tap)
    }

    /// From the inner terminal. When the outer one is gone, output is discarded; whether the command ends is up to SIGHUP.
    pub fn from_terminal(master: OwnedFd, sink: Sink, tap: Option<OwnedFd>) -> Channel {
        Channel::new(master, true, sink, tap)
    }

    /// What to poll for: data or the end at the source, room or a lost reader at the sink.
    pub fn interests(&self) -> [Option<PollFd<'_>>; 2] {
        let source = self.source.as_ref().filter(|_| self.filled.is_empty());
        let source = source.map(|fd| PollFd::new(fd, PollFlags::IN));
        let sink = match (self.filled.is_empty(), self.sink.is_pipe) {
            (false, _) => Some(PollFlags::OUT),
            (true, true) if self.source.is_some() => Some(PollFlags::empty()),
            (true, _) => None,
        };
        let sink = sink
            .filter(|_| !self.sink.is_gone)
            .map(|flags| PollFd::new(&self.sink.descriptor, flags));
        [source, sink]
    }

    /// Moves what can be moved now. `sink_events` is the result of polling the sink.
    pub fn pump(&mut self, sink_events: PollFlags) {
        if self.filled.is_empty() && sink_events.contains(PollFlags::ERR) {
            self.lose_sink();
        }
        // A blocking sink is written to once for each poll that found room.
        let mut may_write = !self.sink.blocks || !sink_events.is_empty();
        for _ in 0..ROUNDS {
            if self.filled.is_empty() && !self.fill() {
                return;
            }
            if !may_write || !self.drain() {
                return;
            }
            may_write = !self.sink.blocks;
        }
    }

    /// Whether the source has ended and everything is written.
    pub fn is_finished(&self) -> bool {
        self.source.is_none() && self.filled.is_empty()
    }

    /// Whether all output until now has been passed on, as far as one can know.
    pub fn is_drained(&self, now: Instant) -> bool {
        let silence = if self.from_terminal {
            TERMINAL_SILENCE
        } else {
            Duration::ZERO
        };
        let silent = self
            .empty_since
            .is_some_and(|since| now.duration_since(since) >= silence);
        self.is_finished() || (self.filled.is_empty() && silent)
    }

    /// Requires a new read to count as drained.
    pub fn reset_drained(&mut self) {
        self.empty_since = None;
    }

    /// Makes no more copies: the front is gone.
    pub fn close_tap(&mut self) {
        self.tap = None;
    }

    /// The user's terminal, if this stream goes to one.
    pub fn outer_terminal(&self) -> Option<BorrowedFd<'_>> {
        self.from_terminal.then(|| self.sink.descriptor.as_fd())
    }

    fn new(source: OwnedFd, from_terminal: bool, sink: Sink, tap: Option<OwnedFd>) -> Channel {
        Channel {
            source: Some(source),
            from_terminal,
            sink,
            tap,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            filled: 0..0,
            empty_since: None,
        }
    }

    fn fill(&mut self) -> bool {
        let Some(source) = &self.source else {
            return false;
        };
        match rustix::io::read(source, &mut self.buffer[..]) {
            Ok(0) => self.source = None,
            Ok(count) => {
                self.filled = 0..count;
                self.empty_since = None;
                self.copy_to_tap();
            }
            Err(Errno::AGAIN) => {
                self.empty_since.get_or_insert_with(Instant::now);
            }
            Err(Errno::INTR) => {}
            // A terminal that no process has open returns EIO.
            Err(_) => self.source = None,
        }
        !self.filled.is_empty()
    }

    fn drain(&mut self) -> bool {
        let limit = if self.sink.blocks { PAGE } else { BUFFER };
        let end = self.filled.end.min(self.filled.start + limit);
        if self.sink.is_gone {
            self.filled = 0..0;
            return true;
        }
        match rustix::io::write(&self.sink.descriptor, &self.buffer[self.filled.start..end]) {
            Ok(count) => self.filled.start += count,
            Err(Errno::AGAIN) => return false,
            Err(Errno::INTR) => {}
            Err(_) => self.lose_sink(),
        }
        true
    }

    fn lose_sink(&mut self) {
        self.sink.is_gone = true;
        self.filled = 0..0;
        if !self.from_terminal {
            self.source = None;
        }
    }

    fn copy_to_tap(&mut self) {
        let Some(tap) = &self.tap else { return };
        let chunk = &self.buffer[self.filled.clone()];
        match rustix::io::write(tap, chunk) {
            // What does not fit is dropped: the command must not wait for the front.
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.tap = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::pipe::{PipeFlags, pipe_with};

    use super::*;

    fn pipe() -> (OwnedFd, OwnedFd) {
        pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).unwrap()
    }

    /// Reads until the pipe is empty.
    fn all(from: &OwnedFd) -> Vec<u8> {
        let mut seen = Vec::new();
        let mut chunk = [0; BUFFER];
        while let Ok(count @ 1..) = rustix::io::read(from, &mut chunk[..]) {
            seen.extend_from_slice(&chunk[..count]);
        }
        seen
    }

    #[test]
    fn a_full_tap_drops_copies_while_the_user_gets_everything() {
        let (source, command) = pipe();
        let (user, sink) = pipe();
        let (front, tap) = pipe();
        let sink = Sink::to_user(sink.as_fd()).unwrap();
        let mut channel = Channel::from_pipe(source, sink, Some(tap));
        let mut got = 0;
        let block = [7; 50_000];
        for _ in 0..4 {
            rustix::io::write(&command, &block).unwrap();
            channel.pump(PollFlags::empty());
            got += all(&user).len();
        }
        assert_eq!(got, 200_000);
        let copied = all(&front).len();
        assert!(copied > 0 && copied < 200_000, "{copied}");
        rustix::io::write(&command, b"copied again").unwrap();
        channel.pump(PollFlags::empty());
        assert_eq!(all(&front), b"copied again");
        drop(front);
        rustix::io::write(&command, b"and without a front").unwrap();
        channel.pump(PollFlags::empty());
        assert_eq!(all(&user), b"copied againand without a front");
    }

    #[test]
    fn a_slow_reader_delays_the_command_and_loses_nothing() {
        let (source, command) = pipe();
        let (user, sink) = pipe();
        let sink = Sink::to_user(sink.as_fd()).unwrap();
        let mut channel = Channel::from_pipe(source, sink, None);
        let mut written = 0;
        for _ in 0..100 {
            written += rustix::io::write(&command, &[1; 10_000]).unwrap_or(0);
            channel.pump(PollFlags::empty());
        }
        assert!(written < 100 * 10_000, "nothing was delayed");
        drop(command);
        let mut got = 0;
        while !channel.is_finished() {
            got += all(&user).len();
            channel.pump(PollFlags::empty());
        }
        assert_eq!(got + all(&user).len(), written);
    }

    #[test]
    fn a_lost_terminal_discards_output_and_a_lost_reader_closes_the_pipe() {
        use super::super::terminal::{new_terminal, slave_of};
        let outer = new_terminal().unwrap();
        let outer_slave = slave_of(&outer).unwrap();
        let inner = new_terminal().unwrap();
        let command = slave_of(&inner).unwrap();
        let sink = Sink::to_user(outer_slave.as_fd()).unwrap();
        let mut shown = Channel::from_terminal(inner, sink, None);
        drop(outer);
        rustix::io::write(&command, b"into the void\n").unwrap();
        shown.pump(PollFlags::empty());
        assert!(!shown.is_finished() && shown.filled.is_empty());
        drop(command);
        shown.pump(PollFlags::empty());
        assert!(shown.is_finished());

        let (source, command) = pipe();
        let (user, sink) = pipe();
        let sink = Sink::to_user(sink.as_fd()).unwrap();
        let mut piped = Channel::from_pipe(source, sink, None);
        drop(user);
        rustix::io::write(&command, b"x").unwrap();
        piped.pump(PollFlags::empty());
        assert!(piped.is_finished());
        assert_eq!(rustix::io::write(&command, b"x"), Err(Errno::PIPE));
    }
}
