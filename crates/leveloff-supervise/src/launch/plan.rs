//! What the relay has to do, as the front writes it down for it.
//!
//! It travels in an anonymous file and not in the relay's arguments, so that the relay's command
//! line holds nothing of the user's: `pkill -f train.py` must find the training, not the relay.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::{OwnedFd, RawFd};

use rustix::fs::MemfdFlags;
use serde::{Deserialize, Serialize};

use super::edge::InheritedSignals;
use super::entrance::Entrance;
use super::wiring::Wiring;

/// The first argument of a process that is to be the relay. Nobody types this.
pub const RELAY_ARGUMENT: &str = "--hold-output-with-plan";

/// The relay's name in `ps`, and its argument 0. Without "leveloff" in it, so that
/// `killall leveloff` spares it.
pub const RELAY_NAME: &str = "output-relay";

/// Everything the relay needs to know. Descriptors are those that it inherits, by number.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    /// What to start.
    pub command: Vec<OsString>,
    /// What its streams are connected to.
    pub wiring: Wiring,
    /// Whether the command gets a session apart from the user's.
    pub apart: bool,
    /// Whether the command may have the foreground of its terminal from the start.
    pub foreground: bool,
    /// The signals it has to start with.
    pub signals: InheritedSignals,
    /// What it has to pass before it runs.
    pub entrance: Option<Entrance<RawFd>>,
    /// The socket to the front.
    pub link: RawFd,
    /// The master of the inner terminal.
    pub master: Option<RawFd>,
    /// Where copies of what goes to stdout and stderr are put for the front.
    pub taps: [Option<RawFd>; 2],
}

impl Plan {
    /// Every descriptor that the relay has to inherit.
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let taps = self.taps.into_iter().flatten();
        let entrance = self.entrance.as_ref().and_then(Entrance::descriptor);
        let others = self.master.into_iter().chain(entrance.copied());
        [self.link].into_iter().chain(others).chain(taps)
    }

    /// Writes it into an anonymous file, ready to be read from its start.
    pub fn write(&self) -> io::Result<OwnedFd> {
        let mut file = File::from(rustix::fs::memfd_create("plan", MemfdFlags::CLOEXEC)?);
        serde_json::to_writer(&mut file, self)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(OwnedFd::from(file))
    }

    /// Reads it back.
    pub fn read(file: OwnedFd) -> io::Result<Plan> {
        let plan = serde_json::from_reader(io::BufReader::new(File::from(file)))?;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::super::wiring::Stream;
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written_whatever_bytes_the_command_holds() {
        let odd = OsString::from_vec(b"a\xff\n\"b".to_vec());
        let plan = Plan {
            command: vec!["python3".into(), odd.clone(), OsString::new()],
            wiring: Wiring::between(Stream::Other, Stream::Other, Stream::Other, false),
            apart: false,
            foreground: true,
            signals: InheritedSignals::of_this_process(),
            entrance: Some(Entrance::Group(8)),
            link: 5,
            master: Some(6),
            taps: [Some(7), None],
        };
        assert_eq!(plan.descriptors().collect::<Vec<_>>(), [5, 6, 8, 7]);
        let read = Plan::read(plan.write().unwrap()).unwrap();
        assert_eq!(read.command[1], odd);
        assert_eq!(read.signals, plan.signals);
        assert_eq!(read.entrance, plan.entrance);
        assert_eq!((read.master, read.taps), (plan.master, plan.taps));
    }
}
