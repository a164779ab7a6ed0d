//! Whose the files in /dev/shm are: the run's, another program's, or not known.
//!
//! /dev/shm belongs to the whole machine, and a file that was closed has no process. A file is the run's if one of its
//! processes has it open, or if the file's name has the number of one of them (`torch_4312_…`) and the file is not
//! older than the process. It is another's if its owner or its age says so, if its name has the number of a process
//! that is not of the run, or if only such a process has it open. Nothing is opened: directories are listed, and files
//! are examined by `stat`.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use leveloff_model::process::{Pid, ProcessKey};
use leveloff_model::units::{Bytes, Seconds};

use crate::clock::{Moment, thread_cpu};
use crate::proc_root::ProcRoot;

/// Sorts the files of /dev/shm by their owner.
#[derive(Debug)]
pub struct SharedFiles {
    proc_root: ProcRoot,
    directory: PathBuf,
    /// Whether process numbers in names are those of this /proc. In another container they are not.
    names_have_pids: bool,
    /// When each process of the run started, in seconds since 1970; processes that exited included.
    members: HashMap<Pid, f64>,
    users: Vec<u32>,
    owners: HashMap<u64, Owner>,
    looked_at: Option<Look<SharedFileBytes>>,
}

/// Bytes in files of /dev/shm by owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedFileBytes {
    /// In files of the run, also in files without a name that it has open.
    pub own: Bytes,
    /// In files that are known to be another program's.
    pub foreign: Bytes,
}

/// The last look at the files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look<T> {
    at: Seconds,
    used: Bytes,
    cost: Duration,
    pub(super) found: T,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Run,
    Another,
}

/// How the names of its files begin.
const DEVSHM: &[u8] = b"/dev/shm/";
/// Files that are looked at.
const MOST_FILES: usize = 4096;
/// Processes of the run whose descriptors are looked at.
pub(super) const MOST_PROCESSES: usize = 64;
/// Descriptors of each that are looked at: a run that keeps one for each step has thousands.
const MOST_DESCRIPTORS: usize = 4096;
/// Processes of others whose descriptors are looked at, for files of which nothing else is known.
const MOST_OTHERS: usize = 256;
/// Processes of the run that are remembered.
const MOST_MEMBERS: usize = 4096;
/// Files are looked at again when their sum has changed by this much.
const MOVED: u64 = 256 << 10;
/// And no sooner than this after the last look,
const LEAST_INTERVAL: f64 = 0.5;
/// or this many times what that look cost: half a percent of one core.
const INTERVAL_PER_COST: f64 = 200.0;
/// The kernel's clock for files lags by a tick, and boot time is known to some milliseconds.
const CLOCK_SLACK: f64 = 2.0;

impl SharedFiles {
    /// The files in `directory`. `names_have_pids`: whether it belongs to processes that count pids as `proc_root` does.
    pub fn new(proc_root: &ProcRoot, directory: PathBuf, names_have_pids: bool) -> SharedFiles {
        SharedFiles {
            proc_root: proc_root.clone(),
            directory,
            names_have_pids,
            members: HashMap::new(),
            users: Vec::new(),
            owners: HashMap::new(),
            looked_at: None,
        }
    }

    /// Remembers the processes of the run. `ticks` is how many clock ticks a second has.
    pub fn know(&mut self, keys: impl Iterator<Item = ProcessKey>, now: Moment, ticks: u64) {
        let booted = now.unix - now.boot.as_secs_f64();
        for key in keys {
            if self.members.contains_key(&key.pid) || self.members.len() == MOST_MEMBERS {
                continue;
            }
            let started = booted + key.start.0 as f64 / ticks.max(1) as f64;
            self.members.insert(key.pid, started);
            let user = fs::metadata(self.proc_root.process(key.pid)).map(|process| process.uid());
            if let Some(user) = user.ok().filter(|user| !self.users.contains(user)) {
                self.users.push(user);
            }
        }
    }

    /// The bytes by owner, as of the last look at the files. Looks again if `used`, the sum of all files, has changed.
    pub fn read(
        &mut self,
        now: Seconds,
        used: Option<Bytes>,
        living: impl Iterator<Item = Pid>,
    ) -> Option<SharedFileBytes> {
        let used = used?;
        if self.members.is_empty() {
            return None;
        }
        if let Some(last) = self.looked_at
            && !last.is_due_again(now, used, MOVED)
        {
            return Some(last.found);
        }
        let look = Look::new(now, used, || self.look(living));
        self.looked_at = Some(look);
        Some(look.found)
    }

    fn look(&mut self, living: impl Iterator<Item = Pid>) -> SharedFileBytes {
        let held = self.held_by(living);
        for file in &held {
            self.owners.insert(file.inode, Owner::Run);
        }
        let mut bytes = SharedFileBytes::default();
        let mut owners = HashMap::new();
        let mut unknown: HashMap<u64, Bytes> = HashMap::new();
        for (name, file) in named_files(&self.directory) {
            let owner = self.owners.get(&file.ino()).copied();
            let owner = owner.or_else(|| self.owner(&name, &file));
            match owner {
                Some(Owner::Run) => bytes.own += size(&file),
                Some(Owner::Another) => bytes.foreign += size(&file),
                None => {
                    unknown.insert(file.ino(), size(&file));
                }
            }
            owners.extend(owner.map(|owner| (file.ino(), owner)));
        }
        for file in self.held_by_others(&mut unknown) {
            bytes.foreign += file.bytes;
            owners.insert(file.inode, Owner::Another);
        }
        let unlinked = held.iter().filter(|file| !owners.contains_key(&file.inode));
        bytes.own += unlinked.map(|file| file.bytes).sum::<Bytes>();
        self.owners = owners;
        bytes
    }

    /// By what the file itself shows; `None` if that is nothing.
    fn owner(&self, name: &OsStr, file: &Metadata) -> Option<Owner> {
        let began = self.members.values().copied().fold(f64::INFINITY, f64::min);
        let is_older = |than: f64| file.ctime() as f64 + CLOCK_SLACK < than;
        if !self.users.contains(&file.uid()) || is_older(began) {
            return Some(Owner::Another);
        }
        let pid = number_in(name).filter(|_| self.names_have_pids)?;
        match self.members.get(&pid) {
            Some(started) if !is_older(*started) => Some(Owner::Run),
            Some(_) => Some(Owner::Another),
            None => self.is_alive(pid).then_some(Owner::Another),
        }
    }

    fn is_alive(&self, pid: Pid) -> bool {
        fs::metadata(self.proc_root.process(pid)).is_ok()
    }

    /// Files of the directory that processes have open, each once.
    fn held_by(&self, living: impl Iterator<Item = Pid>) -> Vec<HeldFile> {
        let Ok(directory) = fs::metadata(&self.directory) else {
            return Vec::new();
        };
        let mut held: HashMap<u64, HeldFile> = HashMap::new();
        for pid in living.take(MOST_PROCESSES) {
            let descriptors = self.proc_root.process(pid).join("fd");
            let files = open_files(&descriptors, DEVSHM);
            for file in files.filter(|file| file.dev() == directory.dev()) {
                let (inode, bytes) = (file.ino(), size(&file));
                held.insert(inode, HeldFile { inode, bytes });
            }
        }
        held.into_values().collect()
    }
}

impl SharedFiles {
    /// Of the files in `unknown`, those that a process outside the run has open. They are taken out.
    fn held_by_others(&self, unknown: &mut HashMap<u64, Bytes>) -> Vec<HeldFile> {
        let mut held = Vec::new();
        if unknown.is_empty() || !self.names_have_pids {
            return held;
        }
        let processes = self.proc_root.pids().unwrap_or_default();
        let others = processes
            .into_iter()
            .filter(|pid| !self.members.contains_key(pid));
        // The newest first: services of the system are older than trainings.
        for pid in others.rev().take(MOST_OTHERS) {
            for file in open_files(&self.proc_root.process(pid).join("fd"), DEVSHM) {
                let inode = file.ino();
                held.extend(
                    unknown
                        .remove(&inode)
                        .map(|bytes| HeldFile { inode, bytes }),
                );
            }
            if unknown.is_empty() {
                break;
            }
        }
        held
    }
}

#[derive(Debug, Clone, Copy)]
struct HeldFile {
    inode: u64,
    bytes: Bytes,
}

impl<T> Look<T> {
    /// Looks, and measures what that costs. `used` shows whether there is anything new to see.
    pub(super) fn new(at: Seconds, used: Bytes, look: impl FnOnce() -> T) -> Look<T> {
        let before = thread_cpu();
        let found = look();
        let cost = thread_cpu().saturating_sub(before);
        Look {
            at,
            used,
            cost,
            found,
        }
    }

    /// Whether there is something new to see, and the last look is a small share of the time since.
    pub(super) fn is_due_again(&self, now: Seconds, used: Bytes, moved: u64) -> bool {
        self.used.0.abs_diff(used.0) >= moved && self.is_cheap(now)
    }

    /// Whether the last look is a small share of the time since.
    pub(super) fn is_cheap(&self, now: Seconds) -> bool {
        let interval = LEAST_INTERVAL.max(INTERVAL_PER_COST * self.cost.as_secs_f64());
        (now - self.at).0 >= interval
    }
}

fn named_files(directory: &Path) -> Vec<(std::ffi::OsString, Metadata)> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let examined = entries.take(MOST_FILES).filter_map(|entry| {
        let entry = entry.ok()?;
        Some((entry.file_name(), entry.metadata().ok()?))
    });
    examined.filter(|(_, file)| file.is_file()).collect()
}

/// What descriptors refer to, if its name begins as shared memory does. Others are not followed: following one to a
/// network file system could block.
pub(super) fn open_files(
    descriptors: &Path,
    shared: &'static [u8],
) -> impl Iterator<Item = Metadata> + use<> {
    let entries = fs::read_dir(descriptors).into_iter().flatten();
    entries.take(MOST_DESCRIPTORS).filter_map(move |entry| {
        let path = entry.ok()?.path();
        let target = fs::read_link(&path).ok()?;
        let is_shared = target.as_os_str().as_bytes().starts_with(shared);
        is_shared.then(|| fs::metadata(&path).ok()).flatten()
    })
}

pub(super) fn size(file: &Metadata) -> Bytes {
    Bytes(file.blocks().saturating_mul(512))
}

/// The first number between other characters than letters: 4312 in `torch_4312_17_3` and in `job-4312-0`.
fn number_in(name: &OsStr) -> Option<Pid> {
    let mut words = name
        .as_bytes()
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter_map(|word| std::str::from_utf8(word).ok());
    let number = words.find_map(|word| word.parse::<i32>().ok())?;
    (number > 1).then_some(Pid(number))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;
    use crate::clock::{Clock, SystemClock};
    use crate::processes::handle::{ProcessHandle, SCRATCH_SIZE};

    const MIB: usize = 1 << 20;

    fn own_key(pid: u32) -> ProcessKey {
        let pid = Pid(i32::try_from(pid).unwrap());
        let handle = ProcessHandle::open(&ProcRoot::live(), pid, &mut [0; SCRATCH_SIZE]);
        handle.unwrap().key()
    }

    fn reader_of(directory: &Path, pid: u32) -> SharedFiles {
        let mut files = SharedFiles::new(&ProcRoot::live(), directory.to_owned(), true);
        let ticks = rustix::param::clock_ticks_per_second();
        files.know([own_key(pid)].into_iter(), SystemClock.now(), ticks);
        files
    }

    fn write(directory: &Path, name: &str) {
        let mut file = File::create(directory.join(name)).unwrap();
        file.write_all(&vec![1; MIB]).unwrap();
    }

    #[test]
    fn names_show_whose_a_closed_file_is() {
        let directory = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let mut another = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let mut files = reader_of(directory.path(), own);
        write(directory.path(), &format!("torch_{own}_17_3"));
        write(directory.path(), &format!("torch_{}_17_3", another.id()));
        write(directory.path(), "psm_0a1b2c3d");
        let found = files.read(Seconds(0.0), Some(Bytes(0)), std::iter::empty());
        let expected = SharedFileBytes {
            own: Bytes(MIB as u64),
            foreign: Bytes(MIB as u64),
        };
        another.kill().unwrap();
        another.wait().unwrap();
        assert_eq!(found, Some(expected));
        // The name of a process that has exited in the meantime says nothing new.
        let later = files.read(Seconds(9.0), Some(Bytes(MIB as u64)), std::iter::empty());
        assert_eq!(later, Some(expected));
    }

    #[test]
    fn an_open_file_is_the_runs_with_and_without_a_name() {
        let Ok(directory) = tempfile::Builder::new()
            .prefix("leveloff-test-")
            .tempdir_in("/dev/shm")
        else {
            leveloff_testkit::cannot_run_here("/dev/shm cannot be written to");
            return;
        };
        let own = std::process::id();
        let mut files = reader_of(directory.path(), own);
        let mut held = tempfile::tempfile_in(directory.path()).unwrap();
        held.write_all(&vec![1; MIB]).unwrap();
        let pid = Pid(i32::try_from(own).unwrap());
        let found = files
            .read(Seconds(0.0), Some(Bytes(0)), [pid].into_iter())
            .unwrap();
        // Other tests of this process hold files, too.
        assert!(found.own.0 >= MIB as u64, "{found:?}");
        assert_eq!(found.foreign, Bytes::ZERO);
    }

    #[test]
    fn a_file_that_only_another_process_has_open_is_anothers() {
        let Ok(directory) = tempfile::Builder::new()
            .prefix("leveloff-test-")
            .tempdir_in("/dev/shm")
        else {
            leveloff_testkit::cannot_run_here("/dev/shm cannot be written to");
            return;
        };
        let mut files = reader_of(directory.path(), std::process::id());
        write(directory.path(), "psm_closed");
        write(directory.path(), "psm_held");
        let held = File::options()
            .append(true)
            .open(directory.path().join("psm_held"))
            .unwrap();
        let mut another = std::process::Command::new("sleep")
            .arg("60")
            .stdout(held)
            .spawn()
            .unwrap();
        let found = files.read(Seconds(0.0), Some(Bytes(0)), std::iter::empty());
        another.kill().unwrap();
        another.wait().unwrap();
        assert_eq!(found.unwrap().foreign, Bytes(MIB as u64));
        assert_eq!(found.unwrap().own, Bytes::ZERO);
    }

    #[test]
    fn files_are_not_looked_at_again_while_their_sum_stands_still() {
        let directory = tempfile::tempdir().unwrap();
        let mut files = reader_of(directory.path(), std::process::id());
        let read = |files: &mut SharedFiles, t, used| {
            files
                .read(Seconds(t), Some(Bytes(used)), std::iter::empty())
                .unwrap()
                .own
        };
        assert_eq!(read(&mut files, 0.0, 0), Bytes::ZERO);
        write(directory.path(), &format!("torch_{}_1", std::process::id()));
        assert_eq!(read(&mut files, 60.0, 4096), Bytes::ZERO);
        assert_eq!(read(&mut files, 120.0, MIB as u64), Bytes(MIB as u64));
    }

    #[test]
    fn the_number_of_a_process_stands_alone_in_a_name() {
        let pid = |name: &str| number_in(OsStr::new(name)).map(|pid| pid.0);
        assert_eq!(pid("torch_4312_17_3"), Some(4312));
        assert_eq!(pid("leveloff-trainer-99-0"), Some(99));
        assert_eq!(pid("psm_0a1b2c3d"), None);
        assert_eq!(pid("plasma7"), None);
        assert_eq!(pid("x_99999999999"), None);
    }
}
