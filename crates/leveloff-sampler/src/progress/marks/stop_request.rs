//! Asks a training to save and stop: a file beside its marks, which it looks for.
//!
//! The directory is trusted by the rules of the marks and held by a descriptor, so that nobody can
//! put another in its place. The file is made, never opened: what lies there already is not followed,
//! written or removed. A training believes only its own user's request, or root's.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use leveloff_model::process::{Pid, ProcessIndex};
use rustix::fs::{Access, AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::place::{MarksPlace, stop_request_name, stop_request_path};
use super::target::MarksTarget;
use super::trust::{self, Distrust, Owners};
use crate::kernel::stat;
use crate::proc_root::ProcRoot;
use crate::progress::regular_file::{self, FileId};

/// The longest request that trainings read.
const LONGEST_REQUEST: usize = 4096;

/// Of the reason, in bytes: JSON may double each of them, and there must be room for its name.
const LONGEST_REASON: usize = (LONGEST_REQUEST - 32) / 2;

/// A request that can be sent to the trainer whose marks are read.
#[derive(Debug, Clone)]
pub struct StopRequest {
    process: ProcessIndex,
    is_obeyed: bool,
    proc_root: ProcRoot,
    target: MarksTarget,
    owners: Owners,
    place: MarksPlace,
}

/// A request that lies where the training looks.
#[derive(Debug)]
pub struct SentRequest {
    directory: OwnedFd,
    name: String,
    path: PathBuf,
    /// Held open if we made it: its inode cannot become that of another file.
    own: Option<(File, FileId)>,
}

/// Why a request cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum StopRequestError {
    /// Nobody is there to read it, and a later process with the same number might.
    #[error("process {0} is gone; there is nobody to ask")]
    Gone(Pid),
    /// The training would not believe us.
    #[error(
        "process {pid} is user {owner}'s and obeys that user or root; run leveloff as one of them"
    )]
    Stranger {
        /// Who would be asked.
        pid: Pid,
        /// Its user.
        owner: u32,
    },
    /// The directory is not one to write to.
    #[error("cannot put the stop request {}: {why}", path.display())]
    Directory {
        /// The request.
        path: PathBuf,
        /// What is wrong with its directory.
        why: Distrust,
    },
    /// Something lies there that no training would believe.
    #[error(
        "the stop request {} cannot be made: {what} lies there, which process {pid} will not obey; \
         have that removed",
        path.display()
    )]
    InTheWay {
        /// Who would be asked.
        pid: Pid,
        /// The request.
        path: PathBuf,
        /// What is there instead.
        what: String,
    },
    /// The file system gives our files to somebody else.
    #[error(
        "the stop request {} would belong to user {owner}, whom process {pid} does not obey; run \
         leveloff as user {wanted}",
        path.display()
    )]
    NotBelieved {
        /// Who would be asked.
        pid: Pid,
        /// The request.
        path: PathBuf,
        /// Whose it became.
        owner: u32,
        /// Whose it should be.
        wanted: u32,
    },
    /// The system said no.
    #[error(
        "cannot make the stop request {}: {source}; is there room, and may we write there?",
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
    /// To the process `target`, beside the marks that were found at `place`.
    pub(in crate::progress) fn new(
        process: ProcessIndex,
        is_obeyed: bool,
        proc_root: ProcRoot,
        target: MarksTarget,
        owners: Owners,
        place: MarksPlace,
    ) -> StopRequest {
        StopRequest {
            process,
            is_obeyed,
            proc_root,
            target,
            owners,
            place,
        }
    }

    /// Who would be asked.
    pub fn process(&self) -> ProcessIndex {
        self.process
    }

    /// Its pid, as seen from here.
    pub fn pid(&self) -> Pid {
        self.target.pid
    }

    /// Whether it said that it looks for requests and obeys them.
    pub fn is_obeyed(&self) -> bool {
        self.is_obeyed
    }

    /// Where the request would lie, as a path from here.
    pub fn path(&self) -> PathBuf {
        stop_request_path(&self.place, self.target.own_pid)
    }

    /// Whether it could be sent now; leaves no trace. Asked before it is needed, so that there is
    /// time to do something about it.
    pub fn can_be_sent(&self) -> Result<(), StopRequestError> {
        let directory = self.open_directory()?;
        if self.is_there_already(&directory)? {
            return Ok(());
        }
        let may = Access::WRITE_OK | Access::EXEC_OK;
        rustix::fs::accessat(&directory, ".", may, AtFlags::EACCESS).map_err(|e| self.io(e))
    }

    /// Asks. A request that lies there already, and would be believed, is as good as ours: whoever
    /// guarded this training before may have asked and then died.
    pub fn send(&self, reason: &str) -> Result<SentRequest, StopRequestError> {
        let directory = self.open_directory()?;
        let name = stop_request_name(self.target.own_pid);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let own = match rustix::fs::openat(&directory, &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(made) => Some(self.fill(&directory, File::from(made), reason)?),
            Err(Errno::EXIST) => {
                // One that was obeyed just now, and so removed, was a request, too.
                self.is_there_already(&directory)?;
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

    /// The trusted directory, as long as the process lives that it was found by.
    fn open_directory(&self) -> Result<OwnedFd, StopRequestError> {
        if !self.owners.may_look() {
            return Err(StopRequestError::Stranger {
                pid: self.target.pid,
                owner: self.target.uid,
            });
        }
        let directory = trust::open_parent(&self.place, self.owners);
        // Only now: a container's root is reached through its pid, which may be another's by then.
        if !self.is_alive() {
            return Err(StopRequestError::Gone(self.target.pid));
        }
        directory.map_err(|why| StopRequestError::Directory {
            path: self.path(),
            why,
        })
    }

    fn is_alive(&self) -> bool {
        let path = self.proc_root.process(self.target.pid).join("stat");
        std::fs::read(path).is_ok_and(|text| {
            stat::parse(&text)
                .is_some_and(|stat| stat.start == self.target.start && !stat.state.is_gone())
        })
    }

    fn is_there_already(&self, directory: &OwnedFd) -> Result<bool, StopRequestError> {
        let name = stop_request_name(self.target.own_pid);
        let found = match rustix::fs::statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(self.io(errno)),
        };
        let kind = FileType::from_raw_mode(found.st_mode);
        let what = if kind != FileType::RegularFile {
            regular_file::description(kind).to_owned()
        } else if !self.is_believed(&found) {
            format!("a file of user {}", found.st_uid)
        } else {
            return Ok(true);
        };
        Err(StopRequestError::InTheWay {
            pid: self.target.pid,
            path: self.path(),
            what,
        })
    }

    /// Makes it the training's own and writes why. Trainings also obey an empty file, so a full disk
    /// costs the reason only.
    fn fill(
        &self,
        directory: &OwnedFd,
        mut file: File,
        reason: &str,
    ) -> Result<(File, FileId), StopRequestError> {
        if self.owners.ours != self.target.uid {
            // Root's request may be one that cannot be removed, or of nobody in a user namespace.
            let owner = Some(Uid::from_raw(self.target.uid));
            let _ = rustix::fs::fchown(&file, owner, None::<Gid>);
        }
        let made = rustix::fs::fstat(&file).map_err(|errno| self.io(errno))?;
        if !self.is_believed(&made) {
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

    /// Whether the training would believe it. Who is root out here is nobody within a user namespace.
    fn is_believed(&self, request: &Stat) -> bool {
        let root_is_root = self.target.uid == self.target.own_uid;
        request.st_uid == self.target.uid || request.st_uid == 0 && root_is_root
    }

    fn io(&self, errno: Errno) -> StopRequestError {
        StopRequestError::Io {
            path: self.path(),
            source: errno.into(),
        }
    }
}

impl SentRequest {
    /// Where it lies, as a path from here.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Whether we made it, and not someone before us.
    pub fn is_ours(&self) -> bool {
        self.own.is_some()
    }

    /// Whether it still lies there. A training that obeys takes it away.
    pub fn is_waiting(&self) -> bool {
        let found = self.found();
        found.is_some_and(|found| self.own.as_ref().is_none_or(|(_, own)| *own == found))
    }

    /// Takes it back, if it is ours and was not obeyed; whether that was so.
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

/// What the file says. Trainings print it, so nothing in it may drive a terminal.
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
