//! A control group that is made for one job, and removed after it.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use leveloff_model::process::Pid;
use leveloff_model::units::Bytes;
use leveloff_sampler::proc_root::{ProcRoot, key_of};

use super::parent::Parent;
use super::stale;
use crate::launch::Entrance;
use crate::notify::{Notify, Urgency};

/// The group. Dropping it removes it, if nobody is left in it.
#[derive(Debug)]
pub struct OwnGroup {
    notify: Notify,
    directory: PathBuf,
    version: u8,
    ends_all: bool,
}

/// A dying process stays in its group for a moment, until its memory is given back.
const REMOVE_WITHIN: Duration = Duration::from_millis(500);

const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The kernel rounds a limit to whole pages, of which these are the largest.
const LARGEST_PAGE: u64 = 64 << 10;

impl OwnGroup {
    /// Makes a group with this limit, or says why it cannot be.
    pub fn make(parent: &Parent, limit: Bytes, notify: Notify) -> Result<OwnGroup, String> {
        let here = Pid(rustix::process::getpid().as_raw_pid());
        let own = key_of(&ProcRoot::live(), here).map_err(|error| error.to_string())?;
        let directory = parent.directory().join(stale::name(own));
        let told = |error: io::Error| {
            format!("cannot make control group {}: {error}", directory.display())
        };
        parent.hand_memory_down().map_err(told)?;
        fs::create_dir(&directory).map_err(told)?;
        let mut group = OwnGroup {
            notify,
            directory: directory.clone(),
            version: parent.version(),
            ends_all: false,
        };
        group.set_limit(limit)?;
        Ok(group)
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its own name, without those above it.
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

    /// Whether the kernel ends all of it at once, and not only its largest process.
    pub fn ends_all(&self) -> bool {
        self.ends_all
    }

    /// What the command enters it by.
    pub fn entrance(&self) -> Result<Entrance, String> {
        let path = self.directory.join("cgroup.procs");
        let procs = OpenOptions::new()
            .write(true)
            .open(&path)
            .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        Ok(Entrance::Group(OwnedFd::from(procs)))
    }

    /// Sets the limit and looks whether it holds. Swap counts as memory, or is not to be had: a leak
    /// that goes on in swap takes the machine down more slowly, and takes it down.
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
            // A kernel that does not count swap has no such file.
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
        self.ends_all = self.version == 2 && self.write("memory.oom.group", "1").is_ok();
        Ok(())
    }

    /// Never creates a file: where the kernel has none, there is nothing to set.
    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        let file = OpenOptions::new()
            .write(true)
            .open(self.directory.join(file))?;
        rustix::io::write(file, text.as_bytes())?;
        Ok(())
    }
}

impl Drop for OwnGroup {
    fn drop(&mut self) {
        let give_up = Instant::now() + REMOVE_WITHIN;
        loop {
            match fs::remove_dir(&self.directory) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                _ => return,
            }
            if Instant::now() >= give_up {
                let text = format!(
                    "processes of the job are still in control group {}, which stays with its \
                     limit; the next --isolate removes it when it is empty",
                    self.directory.display()
                );
                (self.notify)(&text, Urgency::Normal);
                return;
            }
            sleep(LOOK_AGAIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A group as the kernel makes it, but on a plain file system, with these files.
    fn made_up(version: u8, files: &[&str]) -> (tempfile::TempDir, OwnGroup) {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("group");
        fs::create_dir(&directory).unwrap();
        for file in files {
            fs::write(directory.join(file), "").unwrap();
        }
        let group = OwnGroup {
            notify: |_, _| {},
            directory,
            version,
            ends_all: false,
        };
        (place, group)
    }

    fn text(group: &OwnGroup, file: &str) -> String {
        fs::read_to_string(group.directory.join(file)).unwrap()
    }

    #[test]
    fn version_2_gets_its_limit_no_swap_and_one_end_for_all() {
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
        assert!(group.ends_all() && group.entrance().is_ok());
    }

    #[test]
    fn version_1_counts_swap_as_memory() {
        let files = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"];
        let (_place, mut group) = made_up(1, &files);
        group.set_limit(Bytes(1 << 30)).unwrap();
        assert_eq!(text(&group, "memory.limit_in_bytes"), "1073741824");
        assert_eq!(text(&group, "memory.memsw.limit_in_bytes"), "1073741824");
        assert!(!group.ends_all());
    }

    #[test]
    fn a_group_without_the_controller_is_refused() {
        let (_place, mut group) = made_up(2, &["cgroup.procs"]);
        let refused = group.set_limit(Bytes(1 << 30)).unwrap_err();
        assert!(refused.contains("memory.max"), "{refused}");
        // Swap that is not counted, and an old kernel, are fine.
        let (_place, mut group) = made_up(2, &["memory.max"]);
        group.set_limit(Bytes(1 << 30)).unwrap();
        assert!(!group.ends_all());
    }
}
