//! The process whose marks are read: its pid and user in its own namespaces, and its start.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use leveloff_model::process::{Pid, StartTicks};

use crate::kernel::{keyed, stat, status};
use crate::proc_root::ProcRoot;
use leveloff_progress::UnixSeconds;

/// The environment variable with the location of the marks.
pub const MARKS_VARIABLE: &str = "LEVELOFF_MARKS";

/// A process that may write marks.
#[derive(Debug, Clone, PartialEq)]
pub struct MarksTarget {
    /// Its pid in leveloff's namespace.
    pub pid: Pid,
    /// Its pid in its own namespace, which its files are named after.
    pub own_pid: Pid,
    /// Its user in leveloff's namespace, which its files belong to.
    pub uid: u32,
    /// Its user in its own namespace, which its directory is named after.
    pub own_uid: u32,
    /// When it started, in ticks since boot.
    pub start: StartTicks,
    /// The same as a time; `None` where the boot time is unknown.
    pub started: Option<UnixSeconds>,
    /// The location of its marks, if its environment has one.
    pub stated: Option<PathBuf>,
    /// Its `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// Its root directory as a path of leveloff: `/` when both see the same files.
    pub root: PathBuf,
}

impl MarksTarget {
    /// Reads a process. Its environment may be unreadable, or emptied by setproctitle; the rest must be
    /// readable.
    pub fn read(proc_root: &ProcRoot, pid: Pid) -> io::Result<MarksTarget> {
        let process = proc_root.process(pid);
        let status = std::fs::read(process.join("status"))?;
        let stat = std::fs::read(process.join("stat"))?;
        let odd = || io::Error::from(io::ErrorKind::InvalidData);
        let uid = status::effective_uid(&status).ok_or_else(odd)?;
        let start = stat::parse(&stat).ok_or_else(odd)?.start;
        let uid_map = std::fs::read(process.join("uid_map")).unwrap_or_default();
        let mut target = MarksTarget {
            pid,
            // Kernels without pid namespaces have no NSpid.
            own_pid: status::own_pid(&status).unwrap_or(pid),
            uid,
            own_uid: uid_inside(&uid_map, uid).unwrap_or(uid),
            start,
            started: boot_time(proc_root).map(|boot| started(boot, start)),
            stated: None,
            runtime_dir: None,
            root: root_of(proc_root, &process),
        };
        target.read_environment(proc_root);
        Ok(target)
    }

    /// Reads its environment again; returns whether that changed anything. A process that has just executed
    /// its program has none yet.
    pub fn read_environment(&mut self, proc_root: &ProcRoot) -> bool {
        let path = proc_root.process(self.pid).join("environ");
        let environment = std::fs::read(path).unwrap_or_default();
        let stated = variable(&environment, MARKS_VARIABLE);
        let runtime_dir = variable(&environment, "XDG_RUNTIME_DIR");
        let is_new = (&stated, &runtime_dir) != (&self.stated, &self.runtime_dir);
        // An environment that was emptied meanwhile replaces nothing.
        if environment.is_empty() || !is_new {
            return false;
        }
        (self.stated, self.runtime_dir) = (stated, runtime_dir);
        true
    }
}

/// The value of an environment variable as a path; `None` when it is unset or empty.
fn variable(environment: &[u8], name: &str) -> Option<PathBuf> {
    let value = environment
        .split(|&b| b == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    (!value.is_empty()).then(|| PathBuf::from(OsString::from_vec(value.to_vec())))
}

/// A user id within the user namespace that `uid_map` describes.
fn uid_inside(uid_map: &[u8], outside: u32) -> Option<u32> {
    uid_map.split(|&b| b == b'\n').find_map(|line| {
        let mut numbers = line
            .split(u8::is_ascii_whitespace)
            .filter_map(|field| keyed::leading_number(field).map(|(n, _)| n));
        let (inside, first, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let at = u64::from(outside).checked_sub(first)?;
        (at < count).then(|| u32::try_from(inside.checked_add(at)?).ok())?
    })
}

fn boot_time(proc_root: &ProcRoot) -> Option<u64> {
    let stat = std::fs::read(proc_root.path().join("stat")).ok()?;
    keyed::number_of(&stat, b"btime")
}

fn started(boot: u64, start: StartTicks) -> UnixSeconds {
    let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
    UnixSeconds(boot as f64 + start.0 as f64 / ticks_per_second as f64)
}

/// A process in another mount namespace, or below another root, sees other files than leveloff.
fn root_of(proc_root: &ProcRoot, process: &Path) -> PathBuf {
    let own = proc_root.path().join("self");
    let namespace = |of: &Path| std::fs::read_link(of.join("ns/mnt")).ok();
    let root = std::fs::read_link(process.join("root")).ok();
    match (namespace(process), namespace(&own), root) {
        // Without permission, the files of leveloff are used.
        (None, _, _) | (_, _, None) => PathBuf::from("/"),
        (theirs, ours, Some(root)) if theirs == ours && root == Path::new("/") => root,
        _ => process.join("root"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn we_ourselves_are_known() {
        let pid = Pid(std::process::id() as i32);
        let target = MarksTarget::read(&ProcRoot::live(), pid).unwrap();
        assert_eq!(target.own_pid, pid);
        assert_eq!(target.uid, rustix::process::geteuid().as_raw());
        assert_eq!(target.root, Path::new("/"));
        let age = UnixSeconds::from(SystemTime::now()).0 - target.started.unwrap().0;
        assert!((-2.0..86_400.0).contains(&age), "{age} s old");
    }

    #[test]
    fn a_process_that_is_gone_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(MarksTarget::read(&ProcRoot::at(dir.path()), Pid(7)).is_err());
    }

    #[test]
    fn variables_are_found_whole() {
        let environment = b"A=1\0LEVELOFF_MARKS_X=/no\0LEVELOFF_MARKS=/data/\xff\0EMPTY=\0";
        let found = variable(environment, MARKS_VARIABLE).unwrap();
        assert_eq!(
            found,
            PathBuf::from(OsString::from_vec(b"/data/\xff".to_vec()))
        );
        assert_eq!(variable(environment, "EMPTY"), None);
        assert_eq!(variable(b"", "A"), None);
    }

    #[test]
    fn user_namespaces_are_undone() {
        let map = b"         0     100000      65536\n     70000       1000          1\n";
        assert_eq!(uid_inside(map, 100_000), Some(0));
        assert_eq!(uid_inside(map, 101_000), Some(1000));
        assert_eq!(uid_inside(map, 1000), Some(70_000));
        assert_eq!(uid_inside(map, 5), None);
        assert_eq!(uid_inside(b"0 0 4294967295\n", 1000), Some(1000));
        assert_eq!(uid_inside(b"garbage", 1000), None);
    }
}
