//! The file of the history: who may have written it, one writer at a time, written whole or not at all.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::error::HistoryError;
use super::format::{History, LARGEST};

const NAME: &str = "history.json";
const LOCK: &str = "history.lock";

/// How long another writer is waited for; it writes within milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

const LOCK_PACE: Duration = Duration::from_millis(20);

/// Writing for the group and for all others.
const WRITABLE_FOR_OTHERS: u32 = 0o022;

/// Where a user's history is.
#[derive(Debug, Clone)]
pub(crate) struct HistoryFile {
    directory: PathBuf,
    path: PathBuf,
    /// Who must own it.
    user: u32,
}

/// What must be ours.
const DIRECTORY: &str = "its directory";
const FILE: &str = "it";

impl HistoryFile {
    /// The history of the user that runs leveloff, in `$XDG_STATE_HOME/leveloff`; `None` without a home directory.
    pub(crate) fn of_user() -> Option<HistoryFile> {
        let absolute = |name: &str| {
            let value = std::env::var_os(name).map(PathBuf::from);
            value.filter(|path| path.is_absolute())
        };
        let home = || absolute("HOME").map(|home| home.join(".local/state"));
        let state = absolute("XDG_STATE_HOME").or_else(home)?;
        let user = rustix::process::geteuid().as_raw();
        Some(HistoryFile::at(state.join("leveloff"), user))
    }

    fn at(directory: PathBuf, user: u32) -> HistoryFile {
        let path = directory.join(NAME);
        HistoryFile {
            directory,
            path,
            user,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What it holds; nothing if it does not exist.
    pub(crate) fn read(&self) -> Result<History, HistoryError> {
        match self.open_directory() {
            Ok(directory) => self.read_in(&directory),
            Err(HistoryError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                Ok(History::default())
            }
            Err(error) => Err(error),
        }
    }

    /// Changes it, while no other leveloff does. A file that cannot be used is left as it is.
    pub(crate) fn update(&self, change: impl FnOnce(&mut History)) -> Result<(), HistoryError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)?;
        let directory = self.open_directory()?;
        let _lock = self.lock(&directory)?;
        let mut history = self.read_in(&directory)?;
        change(&mut history);
        write_whole(&directory, &history.to_bytes())
    }

    /// Removes it, whatever it holds; a link is removed and not followed.
    pub(crate) fn remove(&self) -> Result<(), HistoryError> {
        let directory = match self.open_directory() {
            Err(HistoryError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(());
            }
            directory => directory?,
        };
        let _lock = self.lock(&directory)?;
        match rustix::fs::unlinkat(&directory, NAME, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    fn open_directory(&self) -> Result<OwnedFd, HistoryError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&self.directory, flags, Mode::empty());
        let directory = opened.map_err(|error| self.refused_directory(error))?;
        self.check(&directory, DIRECTORY, FileType::Directory)?;
        Ok(directory)
    }

    /// The kernel reports a link that must not be followed as something that is no directory.
    fn refused_directory(&self, error: Errno) -> HistoryError {
        let is_link = self.directory.is_symlink();
        match error {
            Errno::LOOP | Errno::NOTDIR if is_link => HistoryError::Link(DIRECTORY),
            Errno::NOTDIR => HistoryError::OtherKind(DIRECTORY),
            error => io::Error::from(error).into(),
        }
    }

    fn read_in(&self, directory: &OwnedFd) -> Result<History, HistoryError> {
        // A pipe under this name must not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened = match rustix::fs::openat(directory, NAME, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(History::default()),
            Err(Errno::LOOP) => return Err(HistoryError::Link(FILE)),
            opened => opened.map_err(io::Error::from)?,
        };
        self.check(&opened, FILE, FileType::RegularFile)?;
        let mut bytes = Vec::new();
        let most = LARGEST as u64 + 1;
        File::from(opened).take(most).read_to_end(&mut bytes)?;
        if bytes.len() > LARGEST {
            return Err(HistoryError::TooLarge);
        }
        History::parse(&bytes)
    }

    /// Refuses what others may have written.
    fn check(
        &self,
        opened: &OwnedFd,
        what: &'static str,
        kind: FileType,
    ) -> Result<(), HistoryError> {
        let about = rustix::fs::fstat(opened).map_err(io::Error::from)?;
        if FileType::from_raw_mode(about.st_mode) != kind {
            return Err(HistoryError::OtherKind(what));
        }
        if about.st_uid != self.user {
            return Err(HistoryError::Foreign(what));
        }
        if about.st_mode & WRITABLE_FOR_OTHERS != 0 {
            return Err(HistoryError::Writable(what));
        }
        Ok(())
    }

    /// Held until it is dropped.
    fn lock(&self, directory: &OwnedFd) -> Result<OwnedFd, HistoryError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        let lock = match rustix::fs::openat(directory, LOCK, flags | OFlags::NONBLOCK, mode) {
            Err(Errno::LOOP) => return Err(HistoryError::Link("its lock")),
            lock => lock.map_err(io::Error::from)?,
        };
        self.check(&lock, "its lock", FileType::RegularFile)?;
        let until = Instant::now() + LOCK_PATIENCE;
        loop {
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(lock),
                Err(Errno::WOULDBLOCK) if Instant::now() < until => std::thread::sleep(LOCK_PACE),
                Err(Errno::WOULDBLOCK) => return Err(HistoryError::Busy),
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
    }
}

/// Writes beside the file and renames. The writer holds the lock, so an unfinished file is left over from one that was
/// killed.
fn write_whole(directory: impl AsFd, bytes: &[u8]) -> Result<(), HistoryError> {
    const UNFINISHED: &str = ".history.unfinished";
    let directory = directory.as_fd();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let _ = rustix::fs::unlinkat(directory, UNFINISHED, AtFlags::empty());
    let created = rustix::fs::openat(directory, UNFINISHED, flags, Mode::from_raw_mode(0o600));
    let mut file = File::from(created.map_err(io::Error::from)?);
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| {
            Ok(rustix::fs::renameat(
                directory, UNFINISHED, directory, NAME,
            )?)
        });
    if written.is_err() {
        let _ = rustix::fs::unlinkat(directory, UNFINISHED, AtFlags::empty());
    }
    Ok(written?)
}

#[cfg(test)]
mod tests;
