//! The relay's instructions from the front.
//!
//! They are in an anonymous file and not in the relay's arguments, so that nothing of the user's command is in the relay's
//! command line: `pkill -f train.py` must find the training, not the relay.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::{OwnedFd, RawFd};

use rustix::fs::MemfdFlags;
use serde::{Deserialize, Serialize};

use super::child_limit::ChildLimit;
use super::sys::InheritedSignals;
use super::wiring::Wiring;

/// The first argument of the relay. Not for users.
pub const RELAY_ARGUMENT: &str = "--hold-output-with-plan";

/// The relay's name in `ps`, and its argument 0. Without "leveloff" in it, so that `killall leveloff` does not find it.
pub const RELAY_NAME: &str = "output-relay";

/// The instructions. Descriptors are inherited, and named by their numbers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The command to start.
    pub command: Vec<OsString>,
    /// Variables that the command gets beside ours.
    pub variables: Vec<(OsString, OsString)>,
    /// The connections of its streams.
    pub wiring: Wiring,
    /// Whether the command gets a session of its own.
    pub own_session: bool,
    /// Whether the command starts in the foreground of its terminal.
    pub foreground: bool,
    /// The signals that it has to start with.
    pub signals: InheritedSignals,
    /// Its memory limit.
    pub limit: Option<ChildLimit<RawFd>>,
    /// The socket to the front.
    pub link: RawFd,
    /// The master of the inner terminal.
    pub master: Option<RawFd>,
    /// The pipes for copies of stdout and stderr to the front.
    pub taps: [Option<RawFd>; 2],
}

impl Plan {
    /// Every descriptor that the relay has to inherit.
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let taps = self.taps.into_iter().flatten();
        let limit = self.limit.as_ref().and_then(ChildLimit::descriptor);
        let others = self.master.into_iter().chain(limit.copied());
        [self.link].into_iter().chain(others).chain(taps)
    }

    /// Writes it into an anonymous file, positioned at its start.
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
    fn a_plan_with_any_bytes_is_read_as_it_was_written() {
        let odd = OsString::from_vec(b"a\xff\n\"b".to_vec());
        let plan = Plan {
            command: vec!["python3".into(), odd.clone(), OsString::new()],
            variables: vec![("A".into(), odd.clone())],
            wiring: Wiring::between(Stream::Other, Stream::Other, Stream::Other, false),
            own_session: false,
            foreground: true,
            signals: InheritedSignals::of_this_process(),
            limit: Some(ChildLimit::Cgroup(8)),
            link: 5,
            master: Some(6),
            taps: [Some(7), None],
        };
        assert_eq!(plan.descriptors().collect::<Vec<_>>(), [5, 6, 8, 7]);
        let read = Plan::read(plan.write().unwrap()).unwrap();
        assert_eq!(read.command[1], odd);
        assert_eq!(read.variables, plan.variables);
        assert_eq!(read.signals, plan.signals);
        assert_eq!(read.limit, plan.limit);
        assert_eq!((read.master, read.taps), (plan.master, plan.taps));
    }
}
