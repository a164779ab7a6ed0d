//! Reads files below the root directory of the target.
//!
//! `/proc/PID/root` leads into a container, but an absolute symbolic link below it would lead out again, to
//! files of the host. `maps` has the real paths of files, so no link needs to be followed, and none is.

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

    /// Calls `take` with the names in a directory, up to `entries` of them.
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

    /// The beginning of a regular file; `None` when it is not one, or cannot be read.
    pub fn beginning_of(&self, directory: &[u8], name: &str, limit: u64) -> Option<Vec<u8>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = openat(self.walk(directory).ok()?, name, flags, Mode::empty()).ok()?;
        let (file, _) = regular_file::open_named(&name).ok()?;
        read_up_to(file, limit)
    }

    /// Opens a directory component by component.
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
