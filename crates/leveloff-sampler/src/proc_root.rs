//! Where /proc is. It is passed in, so that a test can use a saved tree.

use std::io;
use std::path::{Path, PathBuf};

use leveloff_model::process::{Pid, ProcessKey};

use crate::kernel::stat;

/// The root of a proc file system, or of a saved copy of one.
#[derive(Debug, Clone)]
pub struct ProcRoot(PathBuf);

impl ProcRoot {
    /// This machine's.
    pub fn live() -> ProcRoot {
        ProcRoot(PathBuf::from("/proc"))
    }

    /// A saved tree's.
    pub fn at(path: impl Into<PathBuf>) -> ProcRoot {
        ProcRoot(path.into())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The directory of one process.
    pub fn process(&self, pid: Pid) -> PathBuf {
        self.0.join(pid.0.to_string())
    }

    /// All pids that are listed now, in the order of the listing.
    pub fn pids(&self) -> io::Result<Vec<Pid>> {
        let mut pids = Vec::new();
        for entry in std::fs::read_dir(&self.0)? {
            let name = entry?.file_name();
            if let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) {
                pids.push(Pid(pid));
            }
        }
        Ok(pids)
    }
}

/// The identity of the process that has this pid now.
pub fn key_of(root: &ProcRoot, pid: Pid) -> io::Result<ProcessKey> {
    let text = std::fs::read(root.process(pid).join("stat"))?;
    let stat = stat::parse(&text)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its stat cannot be read"))?;
    Ok(ProcessKey {
        pid,
        start: stat.start,
    })
}
