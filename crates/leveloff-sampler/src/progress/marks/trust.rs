//! Opens a marks file only if its owner can have meant it.
//!
//! Directories such as /tmp are everyone's. What is read must be a regular file (no link, no
//! pipe), belong to the target's user or to ours, and be writable by its owner only; so must the
//! directory be, unless the user named it. A container's paths are resolved within its own root,
//! so that a link in there cannot lead to a file out here.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::place::{MarksPlace, within};
use crate::regular_file::{self, Refused};

/// Whose files are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owners {
    /// The target's user.
    pub target: u32,
    /// Ours.
    pub ours: u32,
}

/// Why a file that is there is not read.
#[derive(Debug)]
pub enum Distrust {
    /// It belongs to someone else.
    Owner(u32),
    /// Others may write to it.
    Writable(u32),
    /// It is not a file but this.
    NotAFile(&'static str),
    /// Its directory is one of someone else.
    DirectoryOwner(u32),
    /// Others may write to its directory.
    DirectoryWritable(u32),
    /// Its directory is not one but this.
    NotADirectory(&'static str),
    /// It cannot be opened.
    Io(io::Error),
}

impl Owners {
    /// Whether marks of the target may be looked for at all: those of another user are private to
    /// them, unless we are root.
    pub fn may_look(&self) -> bool {
        self.target == self.ours || self.ours == 0
    }

    /// Root's own files are believed only for root's own processes: a user could otherwise point
    /// us at any of them.
    fn include(&self, owner: u32) -> bool {
        owner == self.target || owner == self.ours && self.ours != 0
    }
}

/// Opens the file of `place`; `None` when there is none.
pub fn open(place: &MarksPlace, owners: Owners) -> Result<Option<(File, Stat)>, Distrust> {
    match open_checked(place, owners) {
        Err(Distrust::Io(error)) if is_absence(&error) => Ok(None),
        // `LEVELOFF_MARKS` names a directory in which there is no file yet.
        Err(Distrust::NotAFile("a directory")) if place.is_stated => Ok(None),
        Err(distrust) => Err(distrust),
        Ok(file) => Ok(Some(file)),
    }
}

fn open_checked(place: &MarksPlace, owners: Owners) -> Result<(File, Stat), Distrust> {
    let Some(name) = place.file.file_name() else {
        return Err(Distrust::NotAFile("a directory"));
    };
    let directory = open_parent(place, owners)?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = rustix::fs::openat(&directory, name, flags, Mode::empty())?;
    check_file(&rustix::fs::fstat(&name)?, owners)?;
    regular_file::open_named(&name).map_err(Distrust::from)
}

/// The directory of a place, if it can be trusted.
pub(super) fn open_parent(place: &MarksPlace, owners: Owners) -> Result<OwnedFd, Distrust> {
    let Some(parent) = place.file.parent() else {
        return Err(Distrust::NotAFile("a directory"));
    };
    let directory = open_directory(&place.root, within(parent), place.is_stated)?;
    if !place.is_stated {
        check_directory(&rustix::fs::fstat(&directory)?, owners)?;
    }
    Ok(directory)
}

/// A directory below a root; links in its path stay below that root. Its last name is no link
/// unless the user chose it.
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
        // Linux before 5.6, or a sandbox that does not know the call. Our own root needs no care.
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
        Err(Distrust::NotADirectory(regular_file::description(kind)))
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
        Ok(()) // Opening it says what it is.
    } else if !owners.include(stat.st_uid) {
        Err(Distrust::Owner(stat.st_uid))
    } else if stat.st_mode & WRITABLE_BY_OTHERS != 0 {
        Err(Distrust::Writable(stat.st_mode & 0o7777))
    } else {
        Ok(())
    }
}

/// Not there, or its directory is a file, or is none of ours to look into.
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
            Refused::NotRegular(what) => Distrust::NotAFile(what),
            Refused::Io(error) => Distrust::Io(error),
        }
    }
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distrust::Owner(uid) => write!(
                f,
                "the file belongs to user {uid}; have that removed, or set LEVELOFF_MARKS to a \
                 directory of your own"
            ),
            Distrust::Writable(mode) => write!(
                f,
                "others may write to the file (mode {mode:o}); chmod go-w it"
            ),
            Distrust::NotAFile(what) => {
                write!(f, "it is {what}; name a directory with LEVELOFF_MARKS")
            }
            Distrust::DirectoryOwner(uid) => write!(
                f,
                "its directory belongs to user {uid}; set LEVELOFF_MARKS to one of your own"
            ),
            Distrust::DirectoryWritable(mode) => write!(
                f,
                "others may write to its directory (mode {mode:o}); chmod 700 it"
            ),
            Distrust::NotADirectory(what) => write!(f, "its directory is {what}; remove that"),
            Distrust::Io(error) => write!(f, "{error}; run as the same user"),
        }
    }
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
