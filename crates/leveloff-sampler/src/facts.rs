//! Reads what is visible of a process from outside; `roles` decides from that what its role is.
//!
//! [`read`] opens the files; the modules below parse them. What may not be read is `None` with a note, never
//! a default: a forbidden `maps` does not mean that torch is not mapped.

mod devices;
pub mod environment;
mod executable;
pub(crate) mod libraries;
mod process_links;
pub(crate) mod ray;
mod signals;
mod threads;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use leveloff_model::process::{Pid, ProcessKey, ProcessState, printable};
use leveloff_model::units::{Bytes, Seconds};

use crate::kernel::stat::{self, Stat};
use crate::kernel::status::{self, StatusMemory};
use crate::proc_root::ProcRoot;

pub use devices::GpuDevices;
pub use environment::Environment;
pub use libraries::{Framework, Libraries};
pub(crate) use process_links::ProcessLinks;
pub use signals::Signals;
pub use threads::TrainingThreads;

/// What is visible of one process from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessFacts {
    /// Its identity.
    pub key: ProcessKey,
    /// Its parent now.
    pub parent: Pid,
    /// Its process group.
    pub group: Pid,
    /// Its session.
    pub session: Pid,
    /// Its pid in its own pid namespace, which differs in a container.
    pub own_pid: Pid,
    /// Scheduler state.
    pub state: ProcessState,
    /// The kernel's name for it, raw.
    pub comm: Vec<u8>,
    /// Its arguments, raw. Empty for a kernel thread or a zombie.
    pub command: Vec<Vec<u8>>,
    /// Its owner.
    pub uid: Option<u32>,
    /// Its resident memory; `None` for a zombie or a kernel thread.
    pub memory: Option<StatusMemory>,
    /// Threads.
    pub threads: u32,
    /// CPU time in clock ticks.
    pub cpu_ticks: u64,
    /// Time since it started.
    pub age: Option<Seconds>,
    /// Where its stack began; the same in a fork as in its parent.
    pub stack_start: Option<u64>,
    /// Signals that it ignores or handles.
    pub signals: Option<Signals>,
    /// Frameworks that it maps.
    pub libraries: Option<Libraries>,
    /// Ranks and jobs in its initial environment.
    pub environment: Option<Environment>,
    /// GPU devices that it has open.
    pub gpu: Option<GpuDevices>,
    /// The session of Ray that it is a process of.
    pub ray_session: Option<String>,
    /// Threads whose names only a training process has.
    pub training_threads: Option<TrainingThreads>,
    /// What could not be read, and why.
    pub notes: Vec<String>,
}

/// How much of a command line is read. It may have two megabytes, in each of a hundred workers.
const COMMAND_LIMIT: u64 = 16 << 10;

/// Reads one process: a millisecond or more for one with torch in it. `Err` when it has exited, or is hidden
/// ([`io::ErrorKind::PermissionDenied`]).
pub fn read(proc_root: &ProcRoot, pid: Pid) -> io::Result<ProcessFacts> {
    let directory = proc_root.process(pid);
    let stat_text = std::fs::read(directory.join("stat"))?;
    let stat = stat::parse(&stat_text).ok_or_else(|| damaged(pid, "stat"))?;
    let mut facts = light(proc_root, &directory, &stat)?;
    if facts.memory.is_some() {
        facts.deepen(&directory);
        // The values belong to one process only if the pid was not reused meanwhile.
        let again = std::fs::read(directory.join("stat"))?;
        if stat::parse(&again).is_none_or(|again| again.start != stat.start) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "pid was reused"));
        }
    }
    Ok(facts)
}

impl ProcessFacts {
    /// Its number.
    pub fn pid(&self) -> Pid {
        self.key.pid
    }

    /// Resident set size.
    pub fn rss(&self) -> Option<Bytes> {
        self.memory.map(|m| m.anon + m.file + m.shmem)
    }

    /// The framework that it maps, as far as its mappings could be read.
    pub fn framework(&self) -> Option<Framework> {
        self.libraries.as_ref()?.framework
    }

    /// Its arguments in one line, raw.
    pub fn command_line(&self) -> Vec<u8> {
        self.command.join(&b' ')
    }

    /// The last part of its program's path; its comm when there are no arguments.
    pub fn program(&self) -> &[u8] {
        match self.command.first() {
            Some(path) if !path.is_empty() => base_name(path),
            _ => &self.comm,
        }
    }

    fn deepen(&mut self, directory: &Path) {
        let text = self.readable(directory, "maps", |path| std::fs::read(path));
        self.libraries = text.map(|text| libraries::parse(&text));
        if self.framework().is_none() {
            self.search_executable(directory);
        }
        let text = self.readable(directory, "environ", |path| std::fs::read(path));
        self.environment = text.and_then(|text| environment::parse(&text));
        let mut session = None;
        self.gpu = self.readable(directory, "fd", |path| {
            devices::read(path, |target| {
                session = session.take().or_else(|| ray::session_of_file(target));
            })
        });
        self.ray_session = ray::session_of_command(&self.command).or(session);
        self.training_threads = self.readable(directory, "task", threads::read);
    }

    fn search_executable(&mut self, directory: &Path) {
        let big_enough = self.rss() >= Some(executable::SMALLEST_TRAINER);
        if let Some(libraries) = &mut self.libraries
            && big_enough
            && executable::names_candle(&directory.join("exe"))
        {
            libraries.framework = Some(Framework::Candle);
            libraries.evidence = "candle's source paths in its executable".to_owned();
        }
    }

    fn readable<T>(
        &mut self,
        directory: &Path,
        name: &str,
        read: impl FnOnce(&Path) -> io::Result<T>,
    ) -> Option<T> {
        read(&directory.join(name))
            .map_err(|error| self.notes.push(format!("{name}: {error}")))
            .ok()
    }
}

/// The last part of a path.
pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    match memchr::memrchr(b'/', path) {
        Some(slash) => &path[slash + 1..],
        None => path,
    }
}

fn light(proc_root: &ProcRoot, directory: &Path, stat: &Stat<'_>) -> io::Result<ProcessFacts> {
    let status = std::fs::read(directory.join("status"))?;
    Ok(ProcessFacts {
        key: ProcessKey {
            pid: stat.pid,
            start: stat.start,
        },
        parent: stat.parent,
        group: stat.group,
        session: stat.session,
        own_pid: status::own_pid(&status).unwrap_or(stat.pid),
        state: stat.state,
        comm: stat.comm.to_vec(),
        command: command(directory)?,
        uid: status::effective_uid(&status),
        memory: status::memory(&status),
        threads: stat.threads,
        cpu_ticks: stat.cpu_ticks,
        age: age(proc_root, stat),
        stack_start: stat.stack_start,
        signals: signals::parse(&status),
        libraries: None,
        environment: None,
        gpu: None,
        ray_session: None,
        training_threads: None,
        notes: Vec::new(),
    })
}

/// Its command line, of the directory of a process.
pub(crate) fn command(directory: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut command = Vec::new();
    File::open(directory.join("cmdline"))?
        .take(COMMAND_LIMIT)
        .read_to_end(&mut command)?;
    Ok(arguments(&command))
}

/// Splits a command line. A process that changed its title fills the rest of its argument area with blanks
/// or zeros; those are no arguments.
fn arguments(command: &[u8]) -> Vec<Vec<u8>> {
    let padding = |b: &u8| *b == 0 || *b == b' ';
    let end = command
        .iter()
        .rposition(|b| !padding(b))
        .map_or(0, |i| i + 1);
    if end == 0 {
        return Vec::new();
    }
    command[..end]
        .split(|&b| b == 0)
        .map(<[u8]>::to_vec)
        .collect()
}

fn age(proc_root: &ProcRoot, stat: &Stat<'_>) -> Option<Seconds> {
    let text = std::fs::read_to_string(proc_root.path().join("uptime")).ok()?;
    let uptime: f64 = text.split_whitespace().next()?.parse().ok()?;
    let started = stat.start.0 as f64 / rustix::param::clock_ticks_per_second() as f64;
    Some(Seconds((uptime - started).max(0.0)))
}

fn damaged(pid: Pid, name: &str) -> io::Error {
    let text = format!("/proc/{pid}/{name} is not what the kernel writes");
    io::Error::new(io::ErrorKind::InvalidData, printable(text.as_bytes()))
}

#[cfg(test)]
mod tests;
