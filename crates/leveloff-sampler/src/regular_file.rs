//! Opens regular files and nothing else.
//!
//! Opening a pipe can wait for ever, takes bytes from its reader, and lets a writer in that then
//! dies of SIGPIPE; opening a device can rewind it. So a path is first opened as a mere name
//! (`O_PATH`, which touches nothing), looked at, and only then opened for reading, through the
//! descriptor: nobody can put something else in between.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, Stat};

/// Which file a path led to, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

/// Why a file was not opened.
#[derive(Debug)]
pub enum Refused {
    /// It is not a regular file but this.
    NotRegular(&'static str),
    /// The system said no.
    Io(io::Error),
}

/// Opens `path`, links followed.
pub fn open(path: &Path) -> Result<(File, Stat), Refused> {
    let name = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    open_named(&name)
}

/// Opens for reading what an `O_PATH` descriptor names.
pub fn open_named(name: &OwnedFd) -> Result<(File, Stat), Refused> {
    let stat = rustix::fs::fstat(name)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        other => return Err(Refused::NotRegular(description(other))),
    }
    let through = format!("/proc/self/fd/{}", name.as_fd().as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(through, flags, Mode::empty())?;
    Ok((File::from(file), stat))
}

impl FileId {
    /// Of an open file, or of one that was looked at.
    pub fn of(stat: &Stat) -> FileId {
        FileId {
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }

    /// Of what `path` leads to.
    pub fn at(path: &Path) -> io::Result<FileId> {
        Ok(FileId::of(&rustix::fs::stat(path)?))
    }
}

impl From<rustix::io::Errno> for Refused {
    fn from(errno: rustix::io::Errno) -> Refused {
        Refused::Io(errno.into())
    }
}

/// What a thing is, for a message.
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
