//! Opens a marks file only if it can be trusted.
//!
//! Any user can write to directories such as /tmp. A marks file must be a regular file (no link, no pipe),
//! belong to the user of the target or of leveloff, and be writable by its owner only; so must its directory,
//! unless the user chose it. A container's paths are resolved within its own root, so that a link in there
//! cannot lead to a file of the host.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::location::{MarksLocation, within};
use crate::regular_file::{self, Refused};

/// The users whose files are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owners {
    /// The user of the target.
    pub target: u32,
    /// The user of leveloff.
    pub ours: u32,
}

/// Why a file is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum Distrust {
    /// It belongs to another user.
    #[error(
        "the file belongs to user {0}; remove it, or set LEVELOFF_MARKS to a directory of your own"
    )]
    Owner(u32),
    /// Others may write to it.
    #[error("others may write to the file (mode {0:o}); chmod go-w it")]
    Writable(u32),
    /// It is not a file but this.
    #[error("it is {}; name a directory with LEVELOFF_MARKS", regular_file::description(*.0))]
    NotAFile(FileType),
    /// Its directory belongs to another user.
    #[error("its directory belongs to user {0}; set LEVELOFF_MARKS to one of your own")]
    DirectoryOwner(u32),
    /// Root must not write to a directory that the training's user chose and does not own.
    #[error(
        "its directory belongs to user {owner}, and the training to user {training}; set LEVELOFF_MARKS to a directory of \
         the training's user"
    )]
    NotOfTheTraining {
        /// The user of the directory.
        owner: u32,
        /// The user of the training.
        training: u32,
    },
    /// Others may write to its directory.
    #[error("others may write to its directory (mode {0:o}); chmod 700 it")]
    DirectoryWritable(u32),
    /// Its directory is not a directory but this.
    #[error("its directory is {}; remove it", regular_file::description(*.0))]
    NotADirectory(FileType),
    /// It cannot be opened.
    #[error("{0}; run as the same user")]
    Io(io::Error),
}

impl Owners {
    /// Whether the marks of the target may be read at all: those of another user are private, except to root.
    pub fn may_read(&self) -> bool {
        self.target == self.ours || self.ours == 0
    }

    /// Root's files are trusted only for root's processes: otherwise a user could make leveloff read any of
    /// them.
    pub fn include(&self, owner: u32) -> bool {
        owner == self.target || owner == self.ours && self.ours != 0
    }
}

/// Opens the file at a location; `None` when there is none.
pub fn open(location: &MarksLocation, owners: Owners) -> Result<Option<(File, Stat)>, Distrust> {
    match open_checked(location, owners) {
        Err(Distrust::Io(error)) if is_absence(&error) => Ok(None),
        // `LEVELOFF_MARKS` names a directory in which there is no file yet.
        Err(Distrust::NotAFile(FileType::Directory)) if location.is_stated => Ok(None),
        Err(distrust) => Err(distrust),
        Ok(file) => Ok(Some(file)),
    }
}

/// Whether there is no directory for the file, by one system call instead of those that [`open`] needs. Trainings without
/// marks have none.
pub fn is_surely_absent(location: &MarksLocation) -> bool {
    let parent = location.file.parent();
    location.root == Path::new("/")
        && parent.is_some_and(|parent| matches!(rustix::fs::lstat(parent), Err(Errno::NOENT)))
}

fn open_checked(location: &MarksLocation, owners: Owners) -> Result<(File, Stat), Distrust> {
    let Some(name) = location.file.file_name() else {
        return Err(Distrust::NotAFile(FileType::Directory));
    };
    let directory = open_parent(location, owners)?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = rustix::fs::openat(&directory, name, flags, Mode::empty())?;
    check_file(&rustix::fs::fstat(&name)?, owners)?;
    regular_file::open_named(&name).map_err(Distrust::from)
}

/// The directory of a location, if it can be trusted.
pub(super) fn open_parent(location: &MarksLocation, owners: Owners) -> Result<OwnedFd, Distrust> {
    let Some(parent) = location.file.parent() else {
        return Err(Distrust::NotAFile(FileType::Directory));
    };
    let directory = open_directory(&location.root, within(parent), location.is_stated)?;
    if !location.is_stated {
        check_directory(&rustix::fs::fstat(&directory)?, owners)?;
    }
    Ok(directory)
}

/// Opens a directory below a root; links in its path stay below that root. Its last component may be a link
/// only if the user chose it.
fn open_directory(root: &Path, path: &Path, is_stated: bool) -> Result<OwnedFd, Errno> {
    let name = OFlags::PATH | OFlags::CLOEXEC;
    let root_fd = rustix::fs::openat(CWD, root, name | OFlags::DIRECTORY, Mode::empty())?;
    if path.as_os_str().is_empty() {
        return Ok(root_fd);
    }
    let last = if is_stated {
        OFlags::DIRECTORY
    } else {
        OFlags::NOFOLLOW
    };
    let flags = name | last;
    let stay_below = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(&root_fd, path, flags, Mode::empty(), stay_below) {
        // Linux before 5.6, or a sandbox without the call. It is not needed for leveloff's own root.
        Err(Errno::NOSYS | Errno::PERM) if root == Path::new("/") => {
            rustix::fs::openat(&root_fd, path, flags, Mode::empty())
        }
        result => result,
    }
}

const WRITABLE_BY_OTHERS: u32 = 0o022;

fn check_directory(stat: &Stat, owners: Owners) -> Result<(), Distrust> {
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::Directory {
        Err(Distrust::NotADirectory(kind))
    } else if !owners.include(stat.st_uid) {
        Err(Distrust::DirectoryOwner(stat.st_uid))
    } else if stat.st_mode & WRITABLE_BY_OTHERS != 0 {
        Err(Distrust::DirectoryWritable(stat.st_mode & 0o7777))
    } else {
        Ok(())
    }
}

fn check_file(stat: &Stat, owners: Owners) -> Result<(), Distrust> {
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        Ok(()) // The caller rejects it when it opens it.
    } else if !owners.include(stat.st_uid) {
        Err(Distrust::Owner(stat.st_uid))
    } else if stat.st_mode & WRITABLE_BY_OTHERS != 0 {
        Err(Distrust::Writable(stat.st_mode & 0o7777))
    } else {
        Ok(())
    }
}

/// Whether the file or its directory does not exist.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl From<Errno> for Distrust {
    fn from(errno: Errno) -> Distrust {
        Distrust::Io(errno.into())
    }
}

impl From<Refused> for Distrust {
    fn from(refused: Refused) -> Distrust {
        match refused {
            Refused::NotRegular(kind) => Distrust::NotAFile(kind),
            Refused::Io(error) => Distrust::Io(error),
        }
    }
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
