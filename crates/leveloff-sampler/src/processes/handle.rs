//! A process held by descriptors, so that a reused pid can never be mistaken for it: once the process has
//! exited, its descriptors return ESRCH, whichever process has the pid now.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};
use rustix::io::{Errno, pread};

use leveloff_model::process::{Pid, ProcessKey};
use leveloff_model::units::Bytes;

use crate::kernel::stat::{self, Stat};
use crate::kernel::statm::{self, Statm};
use crate::kernel::status::{self, StatusMemory};
use crate::proc_root::ProcRoot;

/// A process, by its directory in /proc and the two files that are read at every tick.
#[derive(Debug)]
pub struct ProcessHandle {
    key: ProcessKey,
    directory: OwnedFd,
    statm: OwnedFd,
    stat: OwnedFd,
}

/// Why a file of a process could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadError {
    /// The process has exited.
    Exited,
    /// It lives, and this may not be read or cannot be parsed.
    Unreadable(Errno),
}

/// Room for the longest `status`: about 1.5 KiB, more with many CPUs in the affinity masks.
pub const SCRATCH_SIZE: usize = 8192;

/// A reusable buffer, so that a tick allocates nothing.
pub type Scratch = [u8; SCRATCH_SIZE];

impl ProcessHandle {
    /// Opens a process. Fails with `NotFound` when it has exited.
    pub fn open(root: &ProcRoot, pid: Pid, scratch: &mut Scratch) -> io::Result<ProcessHandle> {
        let directory = rustix::fs::open(
            root.process(pid),
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let stat = open_file(&directory, "stat")?;
        let statm = open_file(&directory, "statm")?;
        let length = pread(&stat, &mut scratch[..], 0)?;
        let parsed = stat::parse(&scratch[..length])
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "stat cannot be read"))?;
        let key = ProcessKey {
            pid,
            start: parsed.start,
        };
        Ok(ProcessHandle {
            key,
            directory,
            statm,
            stat,
        })
    }

    /// Its identity.
    pub fn key(&self) -> ProcessKey {
        self.key
    }

    /// A second descriptor of its directory, for a reader on another thread.
    pub fn directory(&self) -> io::Result<OwnedFd> {
        self.directory.try_clone()
    }

    /// Resident memory: the cheapest read there is.
    pub fn statm(&self, scratch: &mut Scratch, page_size: u64) -> Result<Statm, ReadError> {
        read(&self.statm, scratch, |text| statm::parse(text, page_size))
    }

    /// State, faults, CPU time.
    pub fn stat<'a>(&self, scratch: &'a mut Scratch) -> Result<Stat<'a>, ReadError> {
        read(&self.stat, scratch, stat::parse)
    }

    /// The split that `statm` lacks. Opened each time: it is read only when memory changed.
    pub fn status_memory(&self, scratch: &mut Scratch) -> Result<StatusMemory, ReadError> {
        let file = open_file(&self.directory, "status")?;
        read(&file, scratch, status::memory)
    }

    /// The number of open descriptors. Since Linux 6.2 that is the size of `fd`; on older kernels they must be
    /// listed, which needs permission.
    pub fn descriptors(&self, size_is_count: bool) -> Option<u32> {
        if size_is_count {
            let stat = statat(&self.directory, "fd", AtFlags::empty()).ok()?;
            return u32::try_from(stat.st_size).ok();
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listing = openat(&self.directory, "fd", flags, Mode::empty()).ok()?;
        let entries = rustix::fs::Dir::new(listing).ok()?;
        let count = entries
            .filter(|entry| {
                entry
                    .as_ref()
                    .is_ok_and(|e| e.file_name() != c"." && e.file_name() != c"..")
            })
            .count();
        u32::try_from(count).ok()
    }
}

impl From<Errno> for ReadError {
    fn from(errno: Errno) -> ReadError {
        match errno {
            Errno::SRCH | Errno::NOENT => ReadError::Exited,
            errno => ReadError::Unreadable(errno),
        }
    }
}

/// Opens a file of /proc for reading.
pub(crate) fn open_file(directory: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty())
}

/// Whether this kernel gives the number of descriptors as the size of the `fd` directory.
pub fn fd_size_is_count(root: &ProcRoot) -> bool {
    // Any process has descriptors, so a size of zero means an older kernel.
    std::fs::metadata(root.path().join("self/fd")).is_ok_and(|metadata| metadata.len() > 0)
}

/// The page size of this kernel.
pub fn page_size() -> Bytes {
    Bytes(rustix::param::page_size() as u64)
}

fn read<'a, T>(
    file: impl AsFd,
    scratch: &'a mut Scratch,
    parse: impl FnOnce(&'a [u8]) -> Option<T>,
) -> Result<T, ReadError> {
    let length = pread(file, &mut scratch[..], 0)?;
    parse(&scratch[..length]).ok_or(ReadError::Unreadable(Errno::INVAL))
}
