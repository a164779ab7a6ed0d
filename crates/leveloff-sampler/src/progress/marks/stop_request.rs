//! Asks a training to save and stop by a file beside its marks.
//!
//! The directory must be trusted by the rules of the marks and is held by a descriptor, so that it cannot be
//! exchanged. The file is created, never opened: an existing one is not followed, written or removed. A
//! training accepts only a request of its own user or of root.
//!
//! Where leveloff is root and the training another user's, the directory must be that user's own, also one that
//! `LEVELOFF_MARKS` names: that user could put a link to any directory in its place, and root may write to all of them.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use leveloff_model::process::Pid;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::location::{MarksLocation, stop_request_name, stop_request_path};
use super::target::MarksTarget;
use super::trust::{self, Distrust, Owners};
use crate::kernel::stat;
use crate::proc_root::ProcRoot;
use crate::regular_file::{self, FileId};

/// The longest request that trainings read.
const LONGEST_REQUEST: usize = 4096;

/// The longest reason in bytes: JSON may double each of them, and its field name needs room.
const LONGEST_REASON: usize = (LONGEST_REQUEST - 32) / 2;

/// A request that can be sent to the trainer whose marks are read.
#[derive(Debug, Clone)]
pub struct StopRequest {
    pub(crate) is_obeyed: bool,
    pub(crate) proc_root: ProcRoot,
    pub(crate) target: MarksTarget,
    pub(crate) owners: Owners,
    pub(crate) location: MarksLocation,
}

/// A request that was sent.
#[derive(Debug)]
pub struct SentRequest {
    directory: OwnedFd,
    name: String,
    path: PathBuf,
    /// Kept open if leveloff created it, so that its inode is not reused.
    own: Option<(File, FileId)>,
}

/// Why a request cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum StopRequestError {
    /// The process has exited, and a later process with the same pid must not get the request.
    #[error("process {0} has exited and cannot be asked to stop")]
    Gone(Pid),
    /// The training would not accept the request.
    #[error(
        "process {pid} belongs to user {owner} and obeys that user or root; run leveloff as one of them"
    )]
    Stranger {
        /// The process.
        pid: Pid,
        /// Its user.
        owner: u32,
    },
    /// The directory cannot be trusted.
    #[error("cannot write the stop request {}: {why}", path.display())]
    Directory {
        /// The request.
        path: PathBuf,
        /// What is wrong with its directory.
        why: Distrust,
    },
    /// There is a file that no training would accept.
    #[error(
        "cannot write the stop request {}: {what} is in its place, which process {pid} will not \
         obey; remove it",
        path.display()
    )]
    InTheWay {
        /// The process.
        pid: Pid,
        /// The request.
        path: PathBuf,
        /// What is in its place.
        what: String,
    },
    /// The file system gives new files to another user.
    #[error(
        "the stop request {} would belong to user {owner}, which process {pid} does not obey; run \
         leveloff as user {wanted}",
        path.display()
    )]
    NotBelieved {
        /// The process.
        pid: Pid,
        /// The request.
        path: PathBuf,
        /// The user that it belongs to.
        owner: u32,
        /// The user that it should belong to.
        wanted: u32,
    },
    /// A system call failed.
    #[error(
        "cannot write the stop request {}: {source}; check free space and permissions",
        path.display()
    )]
    Io {
        /// The request.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl StopRequest {
    /// The pid of the process.
    pub fn pid(&self) -> Pid {
        self.target.pid
    }

    /// Whether the training said that it checks for requests and obeys them.
    pub fn is_obeyed(&self) -> bool {
        self.is_obeyed
    }

    /// The path of the request.
    pub fn path(&self) -> PathBuf {
        stop_request_path(&self.location, self.target.own_pid)
    }

    /// Sends the request. An existing request that the training would accept counts as sent: an earlier guard
    /// of this training may have sent it and exited.
    pub fn send(&self, reason: &str) -> Result<SentRequest, StopRequestError> {
        let directory = self.open_directory()?;
        let name = stop_request_name(self.target.own_pid);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let own = match rustix::fs::openat(&directory, &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(made) => Some(self.fill(&directory, File::from(made), reason)?),
            Err(Errno::EXIST) => {
                // One that was obeyed just now, and so removed, counts as well.
                self.check_existing(&directory)?;
                None
            }
            Err(errno) => return Err(self.io(errno)),
        };
        Ok(SentRequest {
            directory,
            name,
            path: self.path(),
            own,
        })
    }

    /// The trusted directory, if the process still lives.
    fn open_directory(&self) -> Result<OwnedFd, StopRequestError> {
        if !self.owners.may_read() {
            return Err(StopRequestError::Stranger {
                pid: self.target.pid,
                owner: self.target.uid,
            });
        }
        let directory = trust::open_parent(&self.location, self.owners);
        // Checked after opening, because a container's root is opened through the pid, which may be reused.
        if !self.is_alive() {
            return Err(StopRequestError::Gone(self.target.pid));
        }
        directory
            .and_then(|directory| self.check_owner(directory))
            .map_err(|why| StopRequestError::Directory {
                path: self.path(),
                why,
            })
    }

    /// What another user's training may have chosen must be that user's own.
    fn check_owner(&self, directory: OwnedFd) -> Result<OwnedFd, Distrust> {
        let owner = rustix::fs::fstat(&directory)?.st_uid;
        if self.owners.ours == self.target.uid || owner == self.target.uid {
            Ok(directory)
        } else {
            Err(Distrust::NotOfTheTraining {
                owner,
                training: self.target.uid,
            })
        }
    }

    fn is_alive(&self) -> bool {
        let path = self.proc_root.process(self.target.pid).join("stat");
        std::fs::read(path).is_ok_and(|text| {
            stat::parse(&text)
                .is_some_and(|stat| stat.start == self.target.start && !stat.state.is_gone())
        })
    }

    /// Fails when there is something that the training would not accept as a request.
    fn check_existing(&self, directory: &OwnedFd) -> Result<(), StopRequestError> {
        let name = stop_request_name(self.target.own_pid);
        let found = match rustix::fs::statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(()),
            Err(errno) => return Err(self.io(errno)),
        };
        let kind = FileType::from_raw_mode(found.st_mode);
        let what = if kind != FileType::RegularFile {
            regular_file::description(kind).to_owned()
        } else if !self.is_accepted(&found) {
            format!("a file of user {}", found.st_uid)
        } else {
            return Ok(());
        };
        Err(StopRequestError::InTheWay {
            pid: self.target.pid,
            path: self.path(),
            what,
        })
    }

    /// Writes the reason. Trainings also obey an empty file, so on a full disk only the reason is lost.
    fn fill(
        &self,
        directory: &OwnedFd,
        mut file: File,
        reason: &str,
    ) -> Result<(File, FileId), StopRequestError> {
        if self.owners.ours != self.target.uid {
            self.make_readable(&file);
        }
        let made = rustix::fs::fstat(&file).map_err(|errno| self.io(errno))?;
        if !self.is_accepted(&made) {
            let name = stop_request_name(self.target.own_pid);
            let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
            return Err(StopRequestError::NotBelieved {
                pid: self.target.pid,
                path: self.path(),
                owner: made.st_uid,
                wanted: self.target.uid,
            });
        }
        let _ = file.write_all(content(reason).as_bytes());
        Ok((file, FileId::of(&made)))
    }

    /// The training reads the file of root, and removes it from its own directory. Within a user namespace it does not see
    /// root as the owner, so there the file is given to it.
    fn make_readable(&self, file: &File) {
        let _ = match self.root_is_root() {
            true => rustix::fs::fchmod(file, Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH),
            false => {
                let owner = Some(Uid::from_raw(self.target.uid));
                rustix::fs::fchown(file, owner, None::<Gid>)
            }
        };
    }

    /// Whether the training would accept it.
    fn is_accepted(&self, request: &Stat) -> bool {
        request.st_uid == self.target.uid || request.st_uid == 0 && self.root_is_root()
    }

    /// Root of the host is not root within a user namespace.
    fn root_is_root(&self) -> bool {
        self.target.uid == self.target.own_uid
    }

    fn io(&self, errno: Errno) -> StopRequestError {
        StopRequestError::Io {
            path: self.path(),
            source: errno.into(),
        }
    }
}

impl SentRequest {
    /// The path of the request.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Whether this process created it, not an earlier one.
    pub fn is_ours(&self) -> bool {
        self.own.is_some()
    }

    /// Whether it still exists. A training that obeys removes it.
    pub fn is_waiting(&self) -> bool {
        let found = self.found();
        found.is_some_and(|found| self.own.as_ref().is_none_or(|(_, own)| *own == found))
    }

    /// Removes it, if this process created it and it was not obeyed; returns whether it was removed.
    pub fn withdraw(self) -> io::Result<bool> {
        if !self.is_ours() || !self.is_waiting() {
            return Ok(false);
        }
        match rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    fn found(&self) -> Option<FileId> {
        let found = rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        found.ok().map(|stat| FileId::of(&stat))
    }
}

/// The content of the file. Trainings print it, so it must not hold control characters.
fn content(reason: &str) -> String {
    let mut kept = String::new();
    for c in reason.chars().filter(|c| !c.is_control()) {
        if kept.len() + c.len_utf8() > LONGEST_REASON {
            break;
        }
        kept.push(c);
    }
    format!("{}\n", serde_json::json!({ "reason": kept }))
}

#[cfg(test)]
#[path = "stop_request_tests.rs"]
mod tests;
