//! What a trainer's software is: read once, from outside, on a thread of its own.
//!
//! The packages lie where the framework was mapped from, which may be a network file system that
//! answers in minutes or never. Neither the tick nor the PSS readings may wait for that, so this thread
//! is theirs as little as the tick's. It starts with the first trainer.

pub mod mapped;
pub mod packages;
pub mod variables;
pub mod view;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use leveloff_model::environment::Software;
use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo};
use leveloff_model::sample::{Event, Gap, Subject};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use mapped::Mapped;
use view::TargetView;

/// Reads the software of trainers, and tells what is new.
#[derive(Debug, Default)]
pub struct SoftwareReader {
    channel: Option<Channel>,
    in_flight: usize,
    followed: HashMap<ProcessIndex, Followed>,
    /// Readings that were waited for, to be told at the next tick.
    arrived: Vec<Found>,
}

#[derive(Debug)]
struct Channel {
    requests: Sender<Request>,
    results: Receiver<Found>,
}

#[derive(Debug)]
struct Request {
    process: ProcessIndex,
    pid: Pid,
    directory: OwnedFd,
}

#[derive(Debug)]
struct Found {
    process: ProcessIndex,
    pid: Pid,
    outcome: Result<Software, Errno>,
}

/// A trainer, as it was when its software was last asked for.
#[derive(Debug)]
struct Followed {
    command: Vec<String>,
    why: String,
    looks: u32,
    told: Option<Software>,
}

/// A process whose title changes all the time is not read for ever.
const LOOKS: u32 = 8;

/// `maps` of more than 100,000 mappings; the kernel's default limit is 65,530.
const MAPS_LIMIT: u64 = 16 << 20;

/// The kernel lets arguments and environment have a quarter of the stack: two megabytes by default.
const ENVIRON_LIMIT: u64 = 4 << 20;

impl SoftwareReader {
    /// Asks for a trainer's software, unless nothing of it changed since it was asked for: one that is
    /// another program by now, or that maps a framework by now, gives another reason for its role.
    pub fn follow(&mut self, info: &ProcessInfo, directory: impl FnOnce() -> Option<OwnedFd>) {
        let followed = self.followed.entry(info.index).or_insert(Followed {
            command: Vec::new(),
            why: String::new(),
            looks: 0,
            told: None,
        });
        let is_same = followed.command == info.command && followed.why == info.why;
        if (is_same && followed.looks > 0) || followed.looks == LOOKS {
            return;
        }
        if let Some(directory) = directory() {
            followed.command.clone_from(&info.command);
            followed.why.clone_from(&info.why);
            followed.looks += 1;
            self.request(Request {
                process: info.index,
                pid: info.key.pid,
                directory,
            });
        }
    }

    /// A process is gone. What is on its way is told all the same: it is true of what was measured.
    pub fn forget(&mut self, process: ProcessIndex) {
        self.followed.remove(&process);
    }

    /// What was learned since the last call.
    pub fn news(&mut self) -> Vec<Event> {
        if let Some(channel) = &self.channel {
            let before = self.arrived.len();
            self.arrived.extend(channel.results.try_iter());
            self.in_flight -= self.arrived.len() - before;
        }
        let arrived = std::mem::take(&mut self.arrived);
        arrived
            .into_iter()
            .filter_map(|found| self.tell(found))
            .collect()
    }

    /// Waits for everything that was asked for.
    pub fn wait(&mut self) {
        while self.in_flight > 0 {
            let Some(found) = self.channel.as_ref().and_then(|c| c.results.recv().ok()) else {
                return;
            };
            self.arrived.push(found);
            self.in_flight -= 1;
        }
    }

    fn request(&mut self, request: Request) {
        if self.channel.is_none() {
            // Without a thread there is no software to tell of, and nothing else is missing.
            self.channel = Channel::open().ok();
        }
        let sent = self
            .channel
            .as_ref()
            .is_some_and(|channel| channel.requests.send(request).is_ok());
        self.in_flight += usize::from(sent);
    }

    fn tell(&mut self, found: Found) -> Option<Event> {
        let mut software = match found.outcome {
            Ok(software) if software.is_known() => software,
            Ok(_) | Err(Errno::SRCH | Errno::NOENT) => return None,
            Err(errno) => return Some(Event::Gap(refusal(found.process, found.pid, errno))),
        };
        let Some(followed) = self.followed.get_mut(&found.process) else {
            return Some(Event::Software(software));
        };
        // A title that is written over the environment does not change what the program got.
        let earlier = followed.told.as_ref();
        software.variables = software
            .variables
            .or_else(|| earlier.and_then(|told| told.variables.clone()));
        if earlier == Some(&software) {
            return None;
        }
        followed.told = Some(software.clone());
        Some(Event::Software(software))
    }
}

impl Channel {
    fn open() -> io::Result<Channel> {
        let (requests, inbox) = channel::<Request>();
        let (outbox, results) = channel();
        thread::Builder::new()
            .name("software".to_owned())
            .stack_size(256 << 10)
            .spawn(move || {
                for request in inbox {
                    let found = Found {
                        process: request.process,
                        pid: request.pid,
                        outcome: read(request.process, &request.directory),
                    };
                    if outbox.send(found).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Channel { requests, results })
    }
}

/// The software of the process whose directory in /proc this is. An `Err` says why nothing of it can
/// be read.
pub fn read(process: ProcessIndex, directory: impl AsFd) -> Result<Software, Errno> {
    let maps = beginning_of(&directory, "maps", MAPS_LIMIT);
    let environ = beginning_of(&directory, "environ", ENVIRON_LIMIT);
    if let (Err(errno), Err(_)) = (&maps, &environ) {
        return Err(*errno);
    }
    let mapped = maps.map_or_else(|_| Mapped::default(), |text| mapped::parse(&text));
    let view = TargetView::of(&directory).ok();
    Ok(Software {
        process,
        packages: view.and_then(|view| packages::read(&view, &mapped.sites)),
        python: mapped.python,
        variables: environ.ok().and_then(|text| variables::parse(&text)),
    })
}

/// A file of /proc, up to `limit`. What is left of a line or a variable that was cut is dropped.
fn beginning_of(directory: impl AsFd, name: &str, limit: u64) -> Result<Vec<u8>, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = File::from(openat(directory, name, flags, Mode::empty())?);
    let mut text = Vec::new();
    file.take(limit)
        .read_to_end(&mut text)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if text.len() as u64 == limit {
        let end = text.iter().rposition(|&b| b == b'\n' || b == 0);
        text.truncate(end.unwrap_or(0));
    }
    Ok(text)
}

fn refusal(process: ProcessIndex, pid: Pid, errno: Errno) -> Gap {
    let next = match errno {
        Errno::ACCESS | Errno::PERM => ". Run leveloff as the same user or as root",
        _ => "",
    };
    Gap {
        subject: Subject::Software,
        process: Some(process),
        text: format!("cannot read versions and variables of {pid}: {errno}{next}"),
    }
}

#[cfg(test)]
mod tests;
