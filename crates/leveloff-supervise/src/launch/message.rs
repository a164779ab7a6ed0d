//! The messages between front and relay, as lines of JSON on a socket. Neither side ever waits for the rest of a line.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use super::terminal::TerminalModes;

/// From the relay to the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToFront {
    /// The command runs with this pid.
    Started(i32),
    /// The command could not be started: the error number.
    StartFailed(i32),
    /// The command was stopped by this signal.
    Stopped(i32),
    /// The command has ended and no other process holds its output, so the relay exits as well.
    Leaving,
    /// The command has ended, and its output has been passed on.
    Ended(Outcome),
}

/// From the front to the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToRelay {
    /// Continue the stopped command.
    Continue,
    /// Whether our job is in the foreground; the command's has to follow.
    Foreground(bool),
    /// The outer terminal is about to become raw; these are its modes before.
    Raw(TerminalModes),
    /// The outer terminal has its own modes again.
    Cooked,
    /// Send this signal to the command's process group.
    SignalGroup(i32),
    /// Send this signal to the command.
    Signal(i32),
}

/// The result of a look at the link.
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
    received: Vec<u8>,
}

impl Link {
    /// Both ends.
    pub fn pair() -> io::Result<(Link, Link)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        Ok((Link::over(ours), Link::over(theirs)))
    }

    /// The end that was inherited as a descriptor.
    pub fn from_descriptor(descriptor: OwnedFd) -> Link {
        Link::over(UnixStream::from(descriptor))
    }

    /// Sends, or fails at once if the other side is gone or has not read for very long.
    pub fn send(&mut self, message: impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(&message)?;
        line.push(b'\n');
        // The kernel takes a line this short as a whole or not at all.
        self.socket.write_all(&line)
    }

    /// The next message, if one has arrived.
    pub fn receive<M: DeserializeOwned>(&mut self) -> Incoming<M> {
        loop {
            while let Some(end) = memchr::memchr(b'\n', &self.received) {
                let line: Vec<u8> = self.received.drain(..=end).collect();
                if let Ok(message) = serde_json::from_slice(&line) {
                    return Incoming::Message(message);
                }
            }
            let mut chunk = [0; 256];
            match self.socket.read(&mut chunk) {
                Ok(0) => return Incoming::Gone,
                Ok(count) => self.received.extend_from_slice(&chunk[..count]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Incoming::Nothing,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Incoming::Gone,
            }
        }
    }

    /// Whether the other side has closed its end. Takes no message.
    pub fn is_abandoned(&self) -> bool {
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
        let now = rustix::event::Timespec::default();
        rustix::event::poll(&mut fds, Some(&now)).is_ok()
            && fds[0].revents().contains(PollFlags::HUP)
    }

    fn over(socket: UnixStream) -> Link {
        Link {
            socket,
            received: Vec::new(),
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent_and_the_end_is_noticed() {
        let (mut front, mut relay) = Link::pair().unwrap();
        let sent = [
            ToFront::Started(4312),
            ToFront::StartFailed(2),
            ToFront::Stopped(20),
            ToFront::Leaving,
            ToFront::Ended(Outcome::Code(255)),
            ToFront::Ended(Outcome::Signal(9)),
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
    fn a_side_that_does_not_read_does_not_block_the_other() {
        let (_front, mut relay) = Link::pair().unwrap();
        let refused = (0..1_000_000).find(|_| relay.send(ToFront::Stopped(20)).is_err());
        assert!(refused.is_some_and(|sent| sent > 100), "{refused:?}");
    }
}
