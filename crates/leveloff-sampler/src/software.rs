//! Reads which software a trainer runs, from outside the process.
//!
//! The packages are where the framework was mapped from, which may be a network file system that answers
//! in minutes or never. Neither the tick nor the PSS readings may wait for that, so this has a thread of its
//! own, which starts with the first trainer.

mod mapped;
mod packages;
mod target_files;
mod variables;

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};

use leveloff_model::environment::Software;
use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::sample::{Event, Gap, Subject};
use rustix::io::Errno;

use crate::processes::handle::open_file;
use crate::roles::{RoleChange, RoleReason};
use crate::worker_thread::WorkerThread;
use mapped::Mapped;
use target_files::TargetFiles;

/// Reads the software of trainers, and reports changes.
#[derive(Debug, Default)]
pub struct SoftwareReader {
    thread: Option<WorkerThread<Request, Found>>,
    followed: HashMap<ProcessIndex, Followed>,
    /// Readings that were waited for; the next tick reports them.
    arrived: Vec<Found>,
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

/// A trainer, as it was when its software was last requested.
#[derive(Debug, Default)]
struct Followed {
    /// Its command, and the reason for its role.
    seen: Option<(Vec<String>, RoleReason)>,
    reads: u32,
    reported: Option<Software>,
}

/// How often one process is read at most: its title may change all the time.
const MOST_READS: u32 = 8;

/// `maps` of more than 100,000 mappings; the kernel's default limit is 65,530.
const MAPS_LIMIT: u64 = 16 << 20;

/// The kernel lets arguments and environment have a quarter of the stack: two megabytes by default.
const ENVIRON_LIMIT: u64 = 4 << 20;

impl SoftwareReader {
    /// Requests a trainer's software, unless neither its command nor the reason for its role changed since the
    /// last request: a process that executed another program, or maps a framework by now, has another reason.
    pub fn follow(&mut self, change: &RoleChange, directory: impl FnOnce() -> Option<OwnedFd>) {
        let info = &change.info;
        let followed = self.followed.entry(info.index).or_default();
        let seen = Some((info.command.clone(), change.reason.clone()));
        if followed.seen == seen || followed.reads == MOST_READS {
            return;
        }
        if let Some(directory) = directory() {
            followed.seen = seen;
            followed.reads += 1;
            self.request(Request {
                process: info.index,
                pid: info.key.pid,
                directory,
            });
        }
    }

    /// Stops following a process that exited. A reading that is under way is still reported.
    pub fn forget(&mut self, process: ProcessIndex) {
        self.followed.remove(&process);
    }

    /// What was found since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        let mut arrived = std::mem::take(&mut self.arrived);
        arrived.extend(self.thread.iter_mut().flat_map(WorkerThread::finished));
        arrived
            .into_iter()
            .filter_map(|found| self.event(found))
            .collect()
    }

    /// Waits for all requested readings.
    pub fn wait(&mut self) {
        self.arrived
            .extend(self.thread.iter_mut().flat_map(WorkerThread::wait));
    }

    fn request(&mut self, request: Request) {
        if self.thread.is_none() {
            // Without a thread only the software is missing from the recording.
            self.thread = WorkerThread::start("software", find).ok();
        }
        if let Some(thread) = &mut self.thread {
            thread.request(request);
        }
    }

    fn event(&mut self, found: Found) -> Option<Event> {
        let mut software = match found.outcome {
            Ok(software) if software.is_known() => software,
            Ok(_) | Err(Errno::SRCH | Errno::NOENT) => return None,
            Err(errno) => return Some(Event::Gap(refusal(found.process, found.pid, errno))),
        };
        let Some(followed) = self.followed.get_mut(&found.process) else {
            return Some(Event::Software(software));
        };
        // A title that is written over the environment does not change the variables of the program.
        let earlier = followed.reported.as_ref();
        software.variables = software
            .variables
            .or_else(|| earlier.and_then(|earlier| earlier.variables.clone()));
        if earlier == Some(&software) {
            return None;
        }
        followed.reported = Some(software.clone());
        Some(Event::Software(software))
    }
}

fn find(request: Request) -> Found {
    Found {
        process: request.process,
        pid: request.pid,
        outcome: read(request.process, &request.directory),
    }
}

/// Reads the software of the process with this directory in /proc; `Err` when nothing can be read.
fn read(process: ProcessIndex, directory: impl AsFd) -> Result<Software, Errno> {
    let maps = beginning_of(&directory, "maps", MAPS_LIMIT);
    let environ = beginning_of(&directory, "environ", ENVIRON_LIMIT);
    if let (Err(errno), Err(_)) = (&maps, &environ) {
        return Err(*errno);
    }
    let mapped = maps.map_or_else(|_| Mapped::default(), |text| mapped::parse(&text));
    let files = TargetFiles::of(&directory).ok();
    Ok(Software {
        process,
        packages: files.and_then(|files| packages::read(&files, &mapped.sites)),
        python: mapped.python,
        variables: environ.ok().and_then(|text| variables::parse(&text)),
    })
}

/// A file of /proc, up to `limit`. An incomplete last line or variable is dropped.
fn beginning_of(directory: impl AsFd, name: &str, limit: u64) -> Result<Vec<u8>, Errno> {
    let file = File::from(open_file(directory, name)?);
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
