//! `run --isolate`: a memory limit around the command, so that a leak ends the job and not the machine.
//!
//! The methods, best first: a systemd scope, a control group of our own (version 2, then 1), and RLIMIT_DATA for each process.
//! Each is tried with a process that does nothing before the command is started. `docs/ISOLATION.md` has the differences.
//!
//! This module kills nothing, and moves no process but the command itself.

mod available_memory;
mod job_cgroup;
mod parent_cgroup;
mod stale_cgroups;
mod systemd_scope;

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};
use leveloff_model::process::Pid;
use leveloff_model::units::{Bytes, Limit};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::system::cgroup::{CgroupLocation, location_of};

use crate::launch::{self, ChildLimit};
use crate::notify::Notify;
use available_memory::AvailableMemory;
use job_cgroup::JobCgroup;
use parent_cgroup::ParentCgroup;
use systemd_scope::{Systemd, SystemdScope};

/// The limit around a command. Dropping it removes a control group that was made for it, once that is empty.
#[derive(Debug)]
pub struct Isolation {
    limit: Bytes,
    method: Method,
    caveat: Option<String>,
}

#[derive(Debug)]
enum Method {
    /// A systemd scope around all processes of the job together.
    Scope(SystemdScope),
    /// A control group of our own around all of them.
    Cgroup {
        cgroup: JobCgroup,
        limit: ChildLimit,
    },
    /// A limit for each process; `reasons` say why there is no control group.
    DataLimit {
        limit: ChildLimit,
        reasons: Vec<String>,
    },
}

impl Isolation {
    /// Finds the best method that works here, with the stated size or one that fits. Without any, an error: the command must
    /// not run without the limit that the user requested.
    pub fn prepare(stated: Option<Limit>, notify: Notify) -> Result<Isolation> {
        let memory = AvailableMemory::here();
        let limit = memory.size(stated)?;
        Ok(Isolation {
            method: Method::best(limit, notify)?,
            limit,
            caveat: memory.caveat(limit),
        })
    }

    /// The limit.
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// The command to launch in location of the user's.
    pub fn wrap(&self, command: &[OsString]) -> Result<Vec<OsString>> {
        match &self.method {
            Method::Scope(scope) => {
                launch::check_command(command)?;
                Ok(scope.wrap(command))
            }
            Method::Cgroup { .. } | Method::DataLimit { .. } => Ok(command.to_vec()),
        }
    }

    /// The limit that the command has to apply to itself before exec.
    pub fn child_limit(&self) -> Option<&ChildLimit> {
        match &self.method {
            Method::Scope(_) => None,
            Method::Cgroup { limit, .. } | Method::DataLimit { limit, .. } => Some(limit),
        }
    }

    /// The directory of the control group that was made for this job.
    pub fn cgroup(&self) -> Option<&Path> {
        match &self.method {
            Method::Cgroup { cgroup, .. } => Some(cgroup.directory()),
            Method::Scope(_) | Method::DataLimit { .. } => None,
        }
    }

    /// The method, the size, and what the limit does not cover.
    pub fn describe(&self) -> String {
        let limit = self.limit;
        let at_limit = |kills_all| {
            let killed = match kills_all {
                true => "the job",
                false => "its largest process",
            };
            format!(
                "at {limit} the kernel ends {killed} and nothing else; GPU memory is not limited"
            )
        };
        let text = match &self.method {
            Method::Scope(scope) => format!(
                "isolated in a systemd scope: {}",
                at_limit(scope.kills_all())
            ),
            Method::Cgroup { cgroup, .. } => format!(
                "isolated in control group {} (version {}): {}",
                cgroup.name(),
                cgroup.version(),
                at_limit(cgroup.kills_all())
            ),
            Method::DataLimit { reasons, .. } => format!(
                "isolated only by RLIMIT_DATA: an allocation beyond {limit} fails in each process, \
                 and all together may hold more; shared and GPU memory are not limited. \
                 No control group: {}",
                reasons.join("; ")
            ),
        };
        match &self.caveat {
            Some(caveat) => format!("{text}; {caveat}"),
            None => text,
        }
    }
}

impl Method {
    fn best(limit: Bytes, notify: Notify) -> Result<Method> {
        let own = Pid(rustix::process::getpid().as_raw_pid());
        let location =
            location_of(&ProcRoot::live(), Path::new("/"), own).map_err(|reason| vec![reason]);
        location
            .and_then(|location| Method::for_all(&location, limit, notify))
            .or_else(|reasons| Method::for_each(limit, reasons))
    }

    fn for_all(
        location: &CgroupLocation,
        limit: Bytes,
        notify: Notify,
    ) -> Result<Method, Vec<String>> {
        let mut reasons = Vec::new();
        match SystemdScope::probe(&Systemd::here(), location, limit) {
            Ok(scope) => return Ok(Method::Scope(scope)),
            Err(reason) => reasons.push(reason),
        }
        match ParentCgroup::candidates(location) {
            Ok(parents) => {
                for parent in parents {
                    match Method::in_cgroup(&parent, limit, notify) {
                        Ok(method) => return Ok(method),
                        Err(reason) => reasons.push(reason),
                    }
                }
            }
            Err(reason) => reasons.push(reason),
        }
        Err(reasons)
    }

    fn in_cgroup(parent: &ParentCgroup, limit: Bytes, notify: Notify) -> Result<Method, String> {
        stale_cgroups::remove(parent.directory(), &ProcRoot::live());
        let cgroup = JobCgroup::make(parent, limit, notify)?;
        let limit = cgroup.child_limit()?;
        launch::try_limit(&limit)
            .map_err(|error| format!("cannot enter control group {}: {error}", cgroup.name()))?;
        Ok(Method::Cgroup { cgroup, limit })
    }

    fn for_each(limit: Bytes, reasons: Vec<String>) -> Result<Method> {
        let limit = ChildLimit::DataLimit(limit);
        if let Err(error) = launch::try_limit(&limit) {
            bail!(
                "the command cannot be isolated here: {}; RLIMIT_DATA: {error}; \
                 run without --isolate to have no limit",
                reasons.join("; ")
            );
        }
        Ok(Method::DataLimit { limit, reasons })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_data_limit() -> Isolation {
        Isolation {
            limit: Bytes(28 << 30),
            method: Method::DataLimit {
                limit: ChildLimit::DataLimit(Bytes(28 << 30)),
                reasons: vec!["no systemd".to_owned(), "/x is not ours".to_owned()],
            },
            caveat: Some("only 3.0 GiB are free".to_owned()),
        }
    }

    #[test]
    fn a_limit_for_each_process_is_described_as_such() {
        let text = by_data_limit().describe();
        for word in [
            "only",
            "each process",
            "28.0 GiB",
            "no systemd; /x is not ours",
        ] {
            assert!(text.contains(word), "{text}");
        }
        assert!(text.ends_with("; only 3.0 GiB are free"), "{text}");
    }

    #[test]
    fn a_limit_that_the_child_applies_needs_no_other_command() {
        let command = ["python3", "no-such-file.py"].map(OsString::from);
        assert_eq!(by_data_limit().wrap(&command).unwrap(), command);
        assert_eq!(by_data_limit().limit(), Bytes(28 << 30));
    }
}
