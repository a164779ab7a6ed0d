//! A control group that is made for one job and removed after it.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use leveloff_model::process::Pid;
use leveloff_model::units::Bytes;
use leveloff_sampler::proc_root::{ProcRoot, key_of};

use super::parent_cgroup::ParentCgroup;
use super::stale_cgroups;
use crate::launch::ChildLimit;
use crate::notify::{Notify, Urgency};

/// The control group. Dropping it removes it, once it is empty.
#[derive(Debug)]
pub struct JobCgroup {
    notify: Notify,
    directory: PathBuf,
    version: u8,
    kills_all: bool,
}

/// A dying process stays in its group until its memory is freed.
const REMOVE_WITHIN: Duration = Duration::from_millis(500);

const RETRY_AFTER: Duration = Duration::from_millis(5);

/// The kernel rounds a limit to whole pages; this is the largest page size.
const LARGEST_PAGE: u64 = 64 << 10;

impl JobCgroup {
    /// Makes a group with this limit. An error is the reason why that fails.
    pub fn make(parent: &ParentCgroup, limit: Bytes, notify: Notify) -> Result<JobCgroup, String> {
        let own = Pid(rustix::process::getpid().as_raw_pid());
        let owner = key_of(&ProcRoot::live(), own).map_err(|error| error.to_string())?;
        let directory = parent.directory().join(stale_cgroups::name(owner));
        let failed = |error: io::Error| {
            format!("cannot make control group {}: {error}", directory.display())
        };
        parent.enable_memory().map_err(failed)?;
        fs::create_dir(&directory).map_err(failed)?;
        let mut group = JobCgroup {
            notify,
            directory: directory.clone(),
            version: parent.version(),
            kills_all: false,
        };
        group.set_limit(limit)?;
        Ok(group)
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The last part of its path.
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        self.directory
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
    }

    /// 1 or 2.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Whether the kernel kills all its processes at once, and not only the largest.
    pub fn kills_all(&self) -> bool {
        self.kills_all
    }

    /// How the command enters it.
    pub fn child_limit(&self) -> Result<ChildLimit, String> {
        let path = self.directory.join("cgroup.procs");
        let procs = OpenOptions::new()
            .write(true)
            .open(&path)
            .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        Ok(ChildLimit::Cgroup(OwnedFd::from(procs)))
    }

    /// Sets the limit and checks that it holds. Swap counts as memory (version 1) or is forbidden (version 2): a leak into
    /// swap takes the machine down as well, only more slowly.
    fn set_limit(&mut self, limit: Bytes) -> Result<(), String> {
        let amount = limit.0.to_string();
        let (file, swap_file, swap) = match self.version {
            1 => (
                "memory.limit_in_bytes",
                "memory.memsw.limit_in_bytes",
                amount.as_str(),
            ),
            _ => ("memory.max", "memory.swap.max", "0"),
        };
        let refused = |file: &str, error: &dyn std::fmt::Display| {
            format!(
                "cannot set {file} of control group {}: {error}",
                self.name()
            )
        };
        self.write(file, &amount).map_err(|e| refused(file, &e))?;
        match self.write(swap_file, swap) {
            // A kernel without swap accounting has no such file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => result.map_err(|e| refused(swap_file, &e))?,
        }
        let holds = fs::read_to_string(self.directory.join(file))
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .is_some_and(|now: u64| now.abs_diff(limit.0) <= LARGEST_PAGE);
        if !holds {
            return Err(refused(file, &"it does not keep its value"));
        }
        // Linux 4.19 and newer, version 2.
        self.kills_all = self.version == 2 && self.write("memory.oom.group", "1").is_ok();
        Ok(())
    }

    /// Does not create a file that the kernel does not have.
    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        let file = OpenOptions::new()
            .write(true)
            .open(self.directory.join(file))?;
        rustix::io::write(file, text.as_bytes())?;
        Ok(())
    }
}

impl Drop for JobCgroup {
    fn drop(&mut self) {
        let give_up = Instant::now() + REMOVE_WITHIN;
        loop {
            match fs::remove_dir(&self.directory) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                _ => return,
            }
            if Instant::now() >= give_up {
                let text = format!(
                    "control group {} is not removed, because processes of the job are still in it; \
                     the next --isolate removes it when it is empty",
                    self.directory.display()
                );
                (self.notify)(&text, Urgency::Normal);
                return;
            }
            sleep(RETRY_AFTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A group on a plain file system, with these files.
    fn made_up(version: u8, files: &[&str]) -> (tempfile::TempDir, JobCgroup) {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("group");
        fs::create_dir(&directory).unwrap();
        for file in files {
            fs::write(directory.join(file), "").unwrap();
        }
        let group = JobCgroup {
            notify: |_, _| {},
            directory,
            version,
            kills_all: false,
        };
        (place, group)
    }

    fn text(group: &JobCgroup, file: &str) -> String {
        fs::read_to_string(group.directory.join(file)).unwrap()
    }

    #[test]
    fn version_2_gets_its_limit_and_no_swap_and_kills_all() {
        let files = [
            "memory.max",
            "memory.swap.max",
            "memory.oom.group",
            "cgroup.procs",
        ];
        let (_place, mut group) = made_up(2, &files);
        group.set_limit(Bytes(1 << 30)).unwrap();
        assert_eq!(text(&group, "memory.max"), "1073741824");
        assert_eq!(text(&group, "memory.swap.max"), "0");
        assert_eq!(text(&group, "memory.oom.group"), "1");
        assert!(group.kills_all() && group.child_limit().is_ok());
    }

    #[test]
    fn version_1_counts_swap_as_memory() {
        let files = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"];
        let (_place, mut group) = made_up(1, &files);
        group.set_limit(Bytes(1 << 30)).unwrap();
        assert_eq!(text(&group, "memory.limit_in_bytes"), "1073741824");
        assert_eq!(text(&group, "memory.memsw.limit_in_bytes"), "1073741824");
        assert!(!group.kills_all());
    }

    #[test]
    fn a_group_without_the_controller_is_refused() {
        let (_place, mut group) = made_up(2, &["cgroup.procs"]);
        let refused = group.set_limit(Bytes(1 << 30)).unwrap_err();
        assert!(refused.contains("memory.max"), "{refused}");
        // Missing swap accounting and an old kernel are no errors.
        let (_place, mut group) = made_up(2, &["memory.max"]);
        group.set_limit(Bytes(1 << 30)).unwrap();
        assert!(!group.kills_all());
    }
}
