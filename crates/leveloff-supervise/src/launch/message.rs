//! What the front and the relay say to each other, in records of one size, so that a stream
//! socket carries them whole and neither side ever waits for the rest of one.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags};

use super::terminal::TerminalModes;

/// From the relay to the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToFront {
    /// The command runs, under this pid.
    Started(i32),
    /// It could not be started: the error number.
    StartFailed(i32),
    /// It was stopped by this signal.
    Stopped(i32),
    /// The command has ended and nobody else has its output open, so the relay ends as well.
    Leaving,
    /// It ended with this exit code, and what it wrote has been passed on.
    Exited(i32),
    /// It was ended by this signal, and what it wrote has been passed on.
    Killed(i32),
    /// So many bytes of the copies had to be dropped until now.
    Dropped(u64),
}

/// From the front to the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToRelay {
    /// Let the stopped command go on.
    Continue,
    /// Whether our job is the one in front of the terminal; the command's has to follow.
    Foreground(bool),
    /// The outer terminal is about to be made raw; these are its modes before.
    Raw(TerminalModes),
    /// The outer terminal has its own modes again.
    Cooked,
    /// Send this signal to the command's whole process group.
    SignalGroup(i32),
    /// Send this signal to the command.
    Signal(i32),
}

/// One message on the wire.
pub const RECORD: usize = 32;
type Record = [u8; RECORD];

/// What a look at the link found.
#[derive(Debug, PartialEq, Eq)]
pub enum Incoming<M> {
    /// A message.
    Message(M),
    /// Nothing for now.
    Nothing,
    /// The other side is gone.
    Gone,
}

/// One end of the socket between front and relay. Never blocks.
#[derive(Debug)]
pub struct Link {
    socket: UnixStream,
    partial: Record,
    filled: usize,
}

/// A message that fits a record.
pub trait Message: Sized {
    /// As a record.
    fn encode(&self) -> Record;
    /// From a record; `None` when it is none of ours.
    fn decode(record: &Record) -> Option<Self>;
}

impl Link {
    /// Both ends.
    pub fn pair() -> io::Result<(Link, Link)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        Ok((Link::over(ours), Link::over(theirs)))
    }

    /// The end that was handed down as a descriptor.
    pub fn from_descriptor(descriptor: OwnedFd) -> Link {
        Link::over(UnixStream::from(descriptor))
    }

    /// Sends, or fails at once when the other side is gone or has not read for very long.
    pub fn send(&mut self, message: impl Message) -> io::Result<()> {
        // A record fits a socket buffer whole or not at all.
        self.socket.write_all(&message.encode())
    }

    /// The next message, if one is there.
    pub fn receive<M: Message>(&mut self) -> Incoming<M> {
        loop {
            match self.socket.read(&mut self.partial[self.filled..]) {
                Ok(0) => return Incoming::Gone,
                Ok(count) => self.filled += count,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Incoming::Nothing,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Incoming::Gone,
            }
            if self.filled == RECORD {
                self.filled = 0;
                if let Some(message) = M::decode(&self.partial) {
                    return Incoming::Message(message);
                }
            }
        }
    }

    /// Whether the other side has closed its end, without taking a message.
    pub fn is_abandoned(&self) -> bool {
        let mut look = [PollFd::new(&self.socket, PollFlags::IN)];
        let now = rustix::event::Timespec::default();
        rustix::event::poll(&mut look, Some(&now)).is_ok()
            && look[0].revents().contains(PollFlags::HUP)
    }

    fn over(socket: UnixStream) -> Link {
        Link {
            socket,
            partial: [0; RECORD],
            filled: 0,
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Message for ToFront {
    fn encode(&self) -> Record {
        let (tag, value) = match *self {
            ToFront::Started(pid) => (b's', i64::from(pid)),
            ToFront::StartFailed(errno) => (b'f', i64::from(errno)),
            ToFront::Stopped(signal) => (b'z', i64::from(signal)),
            ToFront::Leaving => (b'l', 0),
            ToFront::Exited(code) => (b'e', i64::from(code)),
            ToFront::Killed(signal) => (b'k', i64::from(signal)),
            ToFront::Dropped(bytes) => (b'd', bytes.cast_signed()),
        };
        record(tag, &value.to_le_bytes())
    }

    fn decode(record: &Record) -> Option<ToFront> {
        let value = i64::from_le_bytes(record[1..9].try_into().ok()?);
        let small = i32::try_from(value);
        Some(match record[0] {
            b's' => ToFront::Started(small.ok()?),
            b'f' => ToFront::StartFailed(small.ok()?),
            b'z' => ToFront::Stopped(small.ok()?),
            b'l' => ToFront::Leaving,
            b'e' => ToFront::Exited(small.ok()?),
            b'k' => ToFront::Killed(small.ok()?),
            b'd' => ToFront::Dropped(value.cast_unsigned()),
            _ => return None,
        })
    }
}

impl Message for ToRelay {
    fn encode(&self) -> Record {
        match *self {
            ToRelay::Continue => record(b'c', &[]),
            ToRelay::Foreground(yes) => record(b'f', &[u8::from(yes)]),
            ToRelay::Raw(modes) => record(b'r', &modes.to_bytes()),
            ToRelay::Cooked => record(b'o', &[]),
            ToRelay::SignalGroup(signal) => record(b'g', &signal.to_le_bytes()),
            ToRelay::Signal(signal) => record(b's', &signal.to_le_bytes()),
        }
    }

    fn decode(record: &Record) -> Option<ToRelay> {
        let signal = i32::from_le_bytes(record[1..5].try_into().ok()?);
        Some(match record[0] {
            b'c' => ToRelay::Continue,
            b'f' => ToRelay::Foreground(record[1] != 0),
            b'r' => ToRelay::Raw(TerminalModes::from_bytes(record[1..].first_chunk()?)),
            b'o' => ToRelay::Cooked,
            b'g' => ToRelay::SignalGroup(signal),
            b's' => ToRelay::Signal(signal),
            _ => return None,
        })
    }
}

fn record(tag: u8, payload: &[u8]) -> Record {
    let mut record = [0; RECORD];
    record[0] = tag;
    record[1..=payload.len()].copy_from_slice(payload);
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent_and_the_end_is_seen() {
        let (mut front, mut relay) = Link::pair().unwrap();
        let sent = [
            ToFront::Started(4312),
            ToFront::StartFailed(2),
            ToFront::Stopped(20),
            ToFront::Leaving,
            ToFront::Exited(255),
            ToFront::Killed(9),
            ToFront::Dropped(u64::MAX),
        ];
        for message in sent {
            relay.send(message).unwrap();
        }
        for message in sent {
            assert_eq!(front.receive(), Incoming::Message(message));
        }
        assert_eq!(front.receive::<ToFront>(), Incoming::Nothing);
        assert!(!front.is_abandoned());
        let modes = TerminalModes {
            input: 1,
            output: 2,
            control: 3,
            local: 0xffff_ffff,
            min: 5,
            time: 6,
        };
        for message in [
            ToRelay::Continue,
            ToRelay::Foreground(true),
            ToRelay::Raw(modes),
            ToRelay::Cooked,
            ToRelay::SignalGroup(1),
            ToRelay::Signal(15),
        ] {
            front.send(message).unwrap();
            assert_eq!(relay.receive(), Incoming::Message(message));
        }
        drop(relay);
        assert!(front.is_abandoned());
        assert_eq!(front.receive::<ToFront>(), Incoming::Gone);
        assert!(front.send(ToRelay::Continue).is_err());
    }

    #[test]
    fn a_side_that_does_not_read_never_blocks_the_other() {
        let (_front, mut relay) = Link::pair().unwrap();
        let refused = (0..1_000_000).find(|_| relay.send(ToFront::Stopped(20)).is_err());
        assert!(refused.is_some_and(|sent| sent > 100), "{refused:?}");
    }
}
