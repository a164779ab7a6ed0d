//! Files as the target sees them: below its own root, and nothing that it does not see.
//!
//! `/proc/PID/root` leads into a container, but a symbolic link below it that begins with `/` would
//! lead out again, into our own files. The kernel's `maps` name files by their real paths, so no link
//! needs to be followed, and none is: one that stands there now was put there since.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::regular_file;

/// The file system of a process.
#[derive(Debug)]
pub struct TargetFiles {
    root: OwnedFd,
}

impl TargetFiles {
    /// Of the process whose directory in /proc this is.
    pub fn of(directory: impl AsFd) -> Result<TargetFiles, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(directory, "root", flags, Mode::empty())?;
        Ok(TargetFiles { root })
    }

    /// Hands out the names in a directory, up to so many.
    pub fn list(
        &self,
        directory: &[u8],
        entries: usize,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listing = openat(self.walk(directory)?, c".", flags, Mode::empty())?;
        for entry in Dir::new(listing)?.take(entries) {
            take(entry?.file_name().to_bytes());
        }
        Ok(())
    }

    /// The beginning of a regular file; `None` when it is something else, or cannot be read.
    pub fn beginning_of(&self, directory: &[u8], name: &str, limit: u64) -> Option<Vec<u8>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = openat(self.walk(directory).ok()?, name, flags, Mode::empty()).ok()?;
        let (file, _) = regular_file::open_named(&name).ok()?;
        read_up_to(file, limit)
    }

    /// Goes down part by part.
    fn walk(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut here = openat(&self.root, c".", flags, Mode::empty())?;
        let parts = path.split(|&b| b == b'/').filter(|part| !part.is_empty());
        for part in parts {
            if part == b".." {
                return Err(Errno::NOENT);
            }
            here = openat(&here, part, flags, Mode::empty())?;
        }
        Ok(here)
    }
}

fn read_up_to(file: File, limit: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    file.take(limit).read_to_end(&mut text).ok()?;
    Some(text)
}
