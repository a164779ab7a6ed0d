//! `run --isolate`: a limit around the command, so that a leak takes down the job and not the machine.
//!
//! Ways, best first: a scope of systemd's, a control group of our own (version 2, then 1), and
//! RLIMIT_DATA for each process. Whichever can be had is tried out before anything is started, with
//! a process that does nothing. `docs/ISOLATION.md` says what each gives and does not.
//!
//! Nothing is ever killed by us, and nobody is moved but the command on its way in.

mod own_group;
mod parent;
mod room;
mod scope;
mod stale;

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};
use leveloff_model::process::Pid;
use leveloff_model::units::{Bytes, Limit};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::system::cgroup::{CgroupLocation, location_of};

use crate::launch::{self, Entrance};
use crate::notify::Notify;
use own_group::OwnGroup;
use parent::Parent;
use room::Room;
use scope::{Scope, Systemd};

/// The limit around a command. Dropping it removes a control group that was made for it, once nobody
/// is in there.
#[derive(Debug)]
pub struct Isolation {
    limit: Bytes,
    way: Way,
    caveat: Option<String>,
}

/// How the limit is held.
#[derive(Debug)]
enum Way {
    /// By systemd, around all processes of the job together.
    Scope(Scope),
    /// By a control group of ours, likewise.
    Group { group: OwnGroup, entrance: Entrance },
    /// For each process on its own, because of these reasons.
    DataLimit {
        entrance: Entrance,
        because: Vec<String>,
    },
}

impl Isolation {
    /// Finds the best way that can be had, with the size that was asked for or one that fits. An
    /// error, when there is none: whoever asks for a limit does not want to run without it.
    pub fn prepare(asked: Option<Limit>, notify: Notify) -> Result<Isolation> {
        let room = Room::here();
        let limit = room.size(asked)?;
        Ok(Isolation {
            way: Way::best(limit, notify)?,
            limit,
            caveat: room.caveat(limit),
        })
    }

    /// The size that the job cannot exceed.
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// The command to be launched in place of the user's.
    pub fn wrap(&self, command: &[OsString]) -> Result<Vec<OsString>> {
        match &self.way {
            Way::Scope(scope) => {
                launch::check_command(command)?;
                Ok(scope.wrap(command))
            }
            Way::Group { .. } | Way::DataLimit { .. } => Ok(command.to_vec()),
        }
    }

    /// What the command has to enter on its way.
    pub fn entrance(&self) -> Option<&Entrance> {
        match &self.way {
            Way::Scope(_) => None,
            Way::Group { entrance, .. } | Way::DataLimit { entrance, .. } => Some(entrance),
        }
    }

    /// The directory of the control group that was made for this job.
    pub fn group(&self) -> Option<&Path> {
        match &self.way {
            Way::Group { group, .. } => Some(group.directory()),
            Way::Scope(_) | Way::DataLimit { .. } => None,
        }
    }

    /// Which way it is, its size, and what it does not cover.
    pub fn words(&self) -> String {
        let limit = self.limit;
        let ends = |all| {
            if all {
                "the job"
            } else {
                "its largest process"
            }
        };
        let said = match &self.way {
            Way::Scope(scope) => format!(
                "isolated in a systemd scope: at {limit} the kernel ends {} and nothing else; \
                 GPU memory is not limited",
                ends(scope.ends_all())
            ),
            Way::Group { group, .. } => format!(
                "isolated in control group {} (version {}): at {limit} the kernel ends {} and \
                 nothing else; GPU memory is not limited",
                group.name(),
                group.version(),
                ends(group.ends_all())
            ),
            Way::DataLimit { because, .. } => format!(
                "isolated only by RLIMIT_DATA: an allocation beyond {limit} fails in each process, \
                 and all together may hold more; shared and GPU memory are not limited. \
                 No control group: {}",
                because.join("; ")
            ),
        };
        match &self.caveat {
            Some(caveat) => format!("{said}; {caveat}"),
            None => said,
        }
    }
}

impl Way {
    fn best(limit: Bytes, notify: Notify) -> Result<Way> {
        let here = Pid(rustix::process::getpid().as_raw_pid());
        let mut because = Vec::new();
        match location_of(&ProcRoot::live(), Path::new("/"), here) {
            Ok(place) => match Way::around_all(&place, limit, notify) {
                Ok(way) => return Ok(way),
                Err(reasons) => because = reasons,
            },
            Err(reason) => because.push(reason),
        }
        Way::around_each(limit, because)
    }

    fn around_all(
        place: &CgroupLocation,
        limit: Bytes,
        notify: Notify,
    ) -> Result<Way, Vec<String>> {
        let mut because = Vec::new();
        match Scope::probe(&Systemd::here(), place, limit) {
            Ok(scope) => return Ok(Way::Scope(scope)),
            Err(reason) => because.push(reason),
        }
        match Parent::candidates(place) {
            Ok(parents) => {
                for parent in parents {
                    match Way::in_group(&parent, limit, notify) {
                        Ok(way) => return Ok(way),
                        Err(reason) => because.push(reason),
                    }
                }
            }
            Err(reason) => because.push(reason),
        }
        Err(because)
    }

    fn in_group(parent: &Parent, limit: Bytes, notify: Notify) -> Result<Way, String> {
        stale::sweep(parent.directory(), &ProcRoot::live());
        let group = OwnGroup::make(parent, limit, notify)?;
        let entrance = group.entrance()?;
        launch::try_entrance(&entrance)
            .map_err(|error| format!("cannot enter control group {}: {error}", group.name()))?;
        Ok(Way::Group { group, entrance })
    }

    fn around_each(limit: Bytes, because: Vec<String>) -> Result<Way> {
        let entrance = Entrance::DataLimit(limit);
        if let Err(error) = launch::try_entrance(&entrance) {
            bail!(
                "the command cannot be isolated here: {}; RLIMIT_DATA: {error}; \
                 leave --isolate away to run without",
                because.join("; ")
            );
        }
        Ok(Way::DataLimit { entrance, because })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_data_limit() -> Isolation {
        Isolation {
            limit: Bytes(28 << 30),
            way: Way::DataLimit {
                entrance: Entrance::DataLimit(Bytes(28 << 30)),
                because: vec!["no systemd".to_owned(), "/x is not ours".to_owned()],
            },
            caveat: Some("only 3.0 GiB are free".to_owned()),
        }
    }

    #[test]
    fn a_limit_for_each_process_is_called_one() {
        let words = by_data_limit().words();
        for word in [
            "only",
            "each process",
            "28.0 GiB",
            "no systemd; /x is not ours",
        ] {
            assert!(words.contains(word), "{words}");
        }
        assert!(words.ends_with("; only 3.0 GiB are free"), "{words}");
    }

    #[test]
    fn what_is_entered_needs_no_other_command() {
        let command = ["python3", "no-such-file.py"].map(OsString::from);
        assert_eq!(by_data_limit().wrap(&command).unwrap(), command);
        assert_eq!(by_data_limit().limit(), Bytes(28 << 30));
    }
}
