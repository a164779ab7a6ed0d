//! Opens regular files and nothing else.
//!
//! Opening a pipe can block for ever, takes bytes from its reader, and unblocks a writer that is then killed
//! by SIGPIPE; opening a device can rewind it. So a path is first opened with `O_PATH`, which has no effect on
//! the file, checked, and only then opened for reading through the descriptor, so that the file cannot be
//! exchanged in between.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, Stat};

/// The identity of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

/// Why a file was not opened.
#[derive(Debug)]
pub enum Refused {
    /// It is not a regular file but this.
    NotRegular(FileType),
    /// The system call failed.
    Io(io::Error),
}

/// Opens `path`, links followed.
pub fn open(path: &Path) -> Result<(File, Stat), Refused> {
    let name = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    open_named(&name)
}

/// Opens `path` if it is no link and its owner is accepted.
pub fn open_owned(path: &Path, accepts: impl Fn(u32) -> bool) -> Result<(File, Stat), Refused> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = rustix::fs::open(path, flags, Mode::empty())?;
    match accepts(rustix::fs::fstat(&name)?.st_uid) {
        true => open_named(&name),
        false => Err(Refused::Io(io::ErrorKind::PermissionDenied.into())),
    }
}

/// Opens for reading what an `O_PATH` descriptor names.
pub fn open_named(name: &OwnedFd) -> Result<(File, Stat), Refused> {
    let stat = rustix::fs::fstat(name)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        other => return Err(Refused::NotRegular(other)),
    }
    let through = format!("/proc/self/fd/{}", name.as_fd().as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(through, flags, Mode::empty())?;
    Ok((File::from(file), stat))
}

impl FileId {
    /// The identity in a `stat` result.
    pub fn of(stat: &Stat) -> FileId {
        FileId {
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }

    /// The identity of the file at `path`.
    pub fn at(path: &Path) -> io::Result<FileId> {
        Ok(FileId::of(&rustix::fs::stat(path)?))
    }
}

impl From<rustix::io::Errno> for Refused {
    fn from(errno: rustix::io::Errno) -> Refused {
        Refused::Io(errno.into())
    }
}

/// A file type in words.
pub fn description(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice => "a terminal or device",
        FileType::BlockDevice => "a block device",
        _ => "neither file nor directory",
    }
}
