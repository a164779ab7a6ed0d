//! Decides which processes belong to a run.
//!
//! A child is found by its parent's pid. That fails for a child whose parent exited before the child was
//! seen, because an ancestor of the run or init has adopted it. Three things can still show where it came
//! from: a process group or session whose leader belongs to the run; the address of its stack, which is
//! random for each program and the same in a fork; and under `run` the adopter, which is leveloff. A process
//! that was once seen in the tree stays in it, whichever process adopts it.
//!
//! The workers of a program that uses a running Ray cluster are children of the raylet. The servers of a session that a
//! member takes part in, and all below them, are watched as well, if they are the same user's. They are outside the tree:
//! others may use them, so the guard does not signal them.
//!
//! Listing all of /proc at every tick would cost more than reading the tree, so only new pids are read
//! ([`super::new_pids`]), and of these only the ones in sessions that the run may be in ([`super::foreign_sessions`]).

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use leveloff_model::process::{Pid, ProcessIndex, ProcessKey, StartTicks};
use rustix::io::pread;

use super::foreign_sessions::ForeignSessions;
use super::handle::{ProcessHandle, Scratch};
use super::new_pids::{NewPids, PidCounter, PidState, is_thread};
use crate::facts::{self, ray};
use crate::kernel::stat;
use crate::proc_root::ProcRoot;

/// Which processes to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// These and all their descendants.
    Descendants(Vec<ProcessKey>),
    /// Every process of the machine that has memory of its own.
    Everyone,
}

/// The processes of a run.
#[derive(Debug)]
pub struct Tree {
    root: ProcRoot,
    scope: Scope,
    members: HashMap<Pid, ProcessKey>,
    /// Group and session leaders of the tree, exited ones included. Their groups belong to the run.
    leaders: HashSet<Pid>,
    /// Where the members' stacks begin; their forks have the same address.
    stacks: HashSet<u64>,
    /// Whether those addresses are random and so identify a program.
    stacks_are_random: bool,
    /// Pids of other processes. Valid until the kernel's counter wraps.
    unrelated: HashSet<Pid>,
    foreign_sessions: ForeignSessions,
    /// Ancestors of the roots, and init, which may adopt orphans of the tree. The address of the stack
    /// distinguishes their own forks from orphans.
    adopters: HashMap<Pid, Option<u64>>,
    /// Under `run`: leveloff. All orphans that it adopts belong to the run.
    sure_adopter: Option<Pid>,
    /// Processes of leveloff itself.
    excluded: HashSet<Pid>,
    /// Groups of commands that leveloff starts beside the run. It adopts their orphans as well.
    excluded_groups: HashSet<Pid>,
    /// Sessions of Ray that members take part in.
    ray_sessions: HashSet<String>,
    /// Members that belong to such a session and not to the tree.
    outside: HashSet<Pid>,
    earliest: StartTicks,
    pid_counter: PidCounter,
    /// New pids that could not be read. One may be a process that was still being created, so they are
    /// tried once more.
    unanswered: Vec<Pid>,
    next_index: u32,
    ticks_since_listing: u32,
    refused: Vec<(Pid, io::Error)>,
}

/// A process that has just been found.
#[derive(Debug)]
pub struct Joined {
    /// Its number in the recording.
    pub index: ProcessIndex,
    /// Its descriptors.
    pub handle: ProcessHandle,
    /// Its parent now.
    pub parent: Pid,
    /// Whether it belongs to the run, but not to the tree below the roots.
    pub is_outside: bool,
}

/// A process that may belong to the run.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    pid: Pid,
    parent: Pid,
    group: Pid,
    session: Pid,
    start: StartTicks,
    stack_start: Option<u64>,
}

impl Candidate {
    fn of(pid: Pid, text: &[u8]) -> Option<Candidate> {
        let stat = stat::parse(text)?;
        Some(Candidate {
            pid,
            parent: stat.parent,
            group: stat.group,
            session: stat.session,
            start: stat.start,
            stack_start: stat.stack_start,
        })
    }

    fn key(&self) -> ProcessKey {
        ProcessKey {
            pid: self.pid,
            start: self.start,
        }
    }
}

/// The newest pids without a process that are tried once more.
const MOST_BEING_CREATED: usize = 16;

/// All of /proc is listed at least this often, in ticks, in case a pid was reused unnoticed.
const LISTING_EVERY: u32 = 64;

impl Tree {
    /// The first [`Tree::refresh`] fills the tree. `adopter` gets the run's orphans and no others; `excluded`
    /// are never part of the run.
    pub fn new(
        root: ProcRoot,
        scope: Scope,
        adopter: Option<Pid>,
        excluded: impl IntoIterator<Item = Pid>,
    ) -> Tree {
        let pid_counter = PidCounter::open(&root);
        let stacks_are_random = std::fs::read(root.path().join("sys/kernel/randomize_va_space"))
            .is_ok_and(|level| level.first().is_some_and(|&digit| digit != b'0'));
        Tree {
            root,
            scope,
            members: HashMap::new(),
            leaders: HashSet::new(),
            stacks: HashSet::new(),
            stacks_are_random,
            unrelated: HashSet::new(),
            foreign_sessions: ForeignSessions::default(),
            adopters: HashMap::from([(Pid(1), None)]),
            sure_adopter: adopter,
            excluded: excluded.into_iter().collect(),
            excluded_groups: HashSet::new(),
            ray_sessions: HashSet::new(),
            outside: HashSet::new(),
            earliest: StartTicks(u64::MAX),
            pid_counter,
            unanswered: Vec::new(),
            next_index: 0,
            ticks_since_listing: 0,
            refused: Vec::new(),
        }
    }

    /// From now on, processes of this group are no part of the run.
    pub fn exclude_group(&mut self, group: Pid) {
        self.excluded_groups.insert(group);
    }

    /// From now on, the servers of this session of Ray and their descendants belong to the run.
    pub fn join_ray_session(&mut self, session: String) {
        if matches!(self.scope, Scope::Descendants(_)) && self.ray_sessions.insert(session) {
            // Its servers may be known as unrelated.
            self.foreign_sessions.clear();
            self.ticks_since_listing = LISTING_EVERY;
        }
    }

    /// Removes a process that exited.
    pub fn remove(&mut self, key: ProcessKey) {
        if self.members.get(&key.pid) == Some(&key) {
            self.members.remove(&key.pid);
            self.outside.remove(&key.pid);
        }
    }

    /// Processes that belong and could not be opened since the last call; they are tried again.
    pub fn take_refused(&mut self) -> Vec<(Pid, io::Error)> {
        std::mem::take(&mut self.refused)
    }

    /// Finds processes that joined since the last call. Cheap when no process started.
    pub fn refresh(&mut self, scratch: &mut Scratch) -> io::Result<Vec<Joined>> {
        let new_pids = self.pid_counter.read(scratch);
        self.ticks_since_listing += 1;
        if new_pids == NewPids::Wrapped {
            self.foreign_sessions.clear();
        }
        if new_pids == NewPids::Wrapped || self.ticks_since_listing >= LISTING_EVERY {
            self.unrelated.clear();
            self.ticks_since_listing = 0;
            return self.check_all(scratch);
        }
        match new_pids {
            NewPids::Some(pids) if !self.unrelated.is_empty() => Ok(self.check(&pids, scratch)),
            _ => self.check_all(scratch),
        }
    }

    /// Checks these pids, and once more those that could not be read the last time.
    fn check(&mut self, pids: &[Pid], scratch: &mut Scratch) -> Vec<Joined> {
        let again = std::mem::take(&mut self.unanswered);
        let mut unknown = Vec::new();
        for pid in again.iter().chain(pids).copied() {
            if self.is_known(pid) {
                continue;
            }
            self.foreign_sessions.started(pid);
            let stat = match self.pid_counter.look_up(pid) {
                PidState::Unused => None,
                PidState::InSession(session) if self.foreign_sessions.contains(session) => continue,
                PidState::InSession(_) | PidState::Unknown => read_stat(&self.root, pid, scratch),
            };
            match stat {
                Some(text) if is_thread(text) => {}
                Some(text) => unknown.extend(Candidate::of(pid, text)),
                None if again.contains(&pid) => {}
                None => self.unanswered.push(pid),
            }
        }
        // Pids are assigned upwards, and few processes are being created at a moment.
        let exited = self.unanswered.len().saturating_sub(MOST_BEING_CREATED);
        self.unanswered.drain(..exited);
        if unknown.is_empty() {
            return Vec::new();
        }
        let checked: Vec<Pid> = unknown.iter().map(|candidate| candidate.pid).collect();
        let joined = self.admit_all(unknown, scratch);
        let members = &self.members;
        let unrelated = checked.into_iter();
        self.unrelated
            .extend(unrelated.filter(|pid| !members.contains_key(pid)));
        joined
    }

    fn check_all(&mut self, scratch: &mut Scratch) -> io::Result<Vec<Joined>> {
        self.unanswered.clear();
        let listed = self.root.pids()?;
        let unknown: Vec<Candidate> = listed
            .iter()
            .filter(|pid| !self.is_known(**pid) && !self.is_foreign(**pid))
            .filter_map(|&pid| self.candidate(pid, scratch))
            .collect();
        if self.members.is_empty() {
            self.find_adopters(scratch);
        }
        let joined = self.admit_all(unknown, scratch);
        self.unrelated = listed
            .into_iter()
            .filter(|pid| !self.members.contains_key(pid))
            .collect();
        Ok(joined)
    }

    fn is_known(&self, pid: Pid) -> bool {
        self.members.contains_key(&pid)
            || self.unrelated.contains(&pid)
            || self.excluded.contains(&pid)
    }

    fn is_foreign(&self, pid: Pid) -> bool {
        match self.pid_counter.look_up(pid) {
            PidState::InSession(session) => self.foreign_sessions.contains(session),
            PidState::Unused | PidState::Unknown => false,
        }
    }

    fn candidate(&self, pid: Pid, scratch: &mut Scratch) -> Option<Candidate> {
        Candidate::of(pid, read_stat(&self.root, pid, scratch)?)
    }

    /// Admits candidates until no other belongs: a grandchild may be listed before its parent.
    fn admit_all(&mut self, mut unknown: Vec<Candidate>, scratch: &mut Scratch) -> Vec<Joined> {
        // Parents are older than their children, so one pass usually suffices.
        unknown.sort_by_key(|candidate| candidate.start);
        let mut joined = Vec::new();
        loop {
            let before = unknown.len();
            unknown.retain(|candidate| {
                let is_server = !self.belongs(candidate) && self.is_ray_server(candidate);
                if is_server || self.outside.contains(&candidate.parent) {
                    self.outside.insert(candidate.pid);
                }
                let belongs = is_server || self.belongs(candidate);
                if belongs {
                    joined.extend(self.admit(candidate, scratch));
                }
                !belongs
            });
            if unknown.len() == before {
                self.learn_foreign_sessions(&unknown);
                return joined;
            }
        }
    }

    /// Learns from processes that do not belong. Servers of Ray may be in any session.
    fn learn_foreign_sessions(&mut self, others: &[Candidate]) {
        let is_tree = matches!(self.scope, Scope::Descendants(_));
        if !is_tree || self.members.is_empty() || !self.ray_sessions.is_empty() {
            return;
        }
        for other in others.iter().filter(|it| it.start < self.earliest) {
            self.foreign_sessions.add(other.session);
        }
    }

    fn belongs(&self, candidate: &Candidate) -> bool {
        if self.excluded_groups.contains(&candidate.group) {
            return false;
        }
        let Scope::Descendants(roots) = &self.scope else {
            return !is_kernel_thread(candidate);
        };
        roots.contains(&candidate.key())
            || self.members.contains_key(&candidate.parent)
            || self.is_orphan_of_run(candidate)
    }

    /// Whether it is a server of a session that the run takes part in, and of the same user as the run.
    fn is_ray_server(&self, candidate: &Candidate) -> bool {
        let Scope::Descendants(roots) = &self.scope else {
            return false;
        };
        if self.ray_sessions.is_empty() || self.excluded_groups.contains(&candidate.group) {
            return false;
        }
        let owner = |pid: Pid| Some(std::fs::metadata(self.root.process(pid)).ok()?.uid());
        let is_same_user = || {
            let own = roots.iter().find_map(|root| owner(root.pid));
            own.is_some() && own == owner(candidate.pid)
        };
        let session = || {
            let command = facts::command(&self.root.process(candidate.pid)).ok()?;
            ray::session_of_command(&command)
        };
        is_same_user() && session().is_some_and(|session| self.ray_sessions.contains(&session))
    }

    fn is_orphan_of_run(&self, candidate: &Candidate) -> bool {
        if Some(candidate.parent) == self.sure_adopter {
            return true;
        }
        let Some(adopters_stack) = self.adopters.get(&candidate.parent) else {
            return false;
        };
        // The ancestors of the roots have each other as parents, and may have started in the same tick.
        if self.adopters.contains_key(&candidate.pid) || candidate.start < self.earliest {
            return false;
        }
        self.leaders.contains(&candidate.group)
            || self.leaders.contains(&candidate.session)
            || self.stacks_are_random
                && candidate.stack_start != *adopters_stack
                && candidate
                    .stack_start
                    .is_some_and(|start| self.stacks.contains(&start))
    }

    fn admit(&mut self, candidate: &Candidate, scratch: &mut Scratch) -> Option<Joined> {
        let handle = match ProcessHandle::open(&self.root, candidate.pid, scratch) {
            Ok(handle) => handle,
            Err(error) => {
                // A process that has just exited needs no message.
                let ended = error.kind() == io::ErrorKind::NotFound
                    || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error());
                if !ended {
                    self.refused.push((candidate.pid, error));
                }
                return None;
            }
        };
        if handle.key() != candidate.key() {
            return None;
        }
        self.earliest = self.earliest.min(candidate.start);
        if candidate.group == candidate.pid || candidate.session == candidate.pid {
            self.leaders.insert(candidate.pid);
        }
        self.stacks.extend(candidate.stack_start);
        self.foreign_sessions.add_own(candidate.session);
        self.members.insert(candidate.pid, candidate.key());
        let index = ProcessIndex(self.next_index);
        self.next_index += 1;
        Some(Joined {
            index,
            handle,
            parent: candidate.parent,
            is_outside: self.outside.contains(&candidate.pid),
        })
    }

    /// The roots' ancestors may be adopters (a shell that is a subreaper, systemd --user, a
    /// container's init).
    fn find_adopters(&mut self, scratch: &mut Scratch) {
        let Scope::Descendants(roots) = &self.scope else {
            return;
        };
        let mut ancestors = HashMap::new();
        for root in roots {
            let mut pid = root.pid;
            while let Some(candidate) = self.candidate(pid, scratch) {
                self.foreign_sessions.add_own(candidate.session);
                if pid != root.pid {
                    ancestors.insert(pid, candidate.stack_start);
                }
                pid = candidate.parent;
                if pid.0 <= 0 || ancestors.contains_key(&pid) {
                    break;
                }
            }
        }
        self.adopters.extend(ancestors);
    }
}

/// Kernel threads have no memory; they are kthreadd (2) and its children.
fn is_kernel_thread(candidate: &Candidate) -> bool {
    candidate.pid == Pid(2) || candidate.parent == Pid(2)
}

fn read_stat<'a>(root: &ProcRoot, pid: Pid, scratch: &'a mut Scratch) -> Option<&'a [u8]> {
    let file = File::open(root.process(pid).join("stat")).ok()?;
    let length = pread(&file, &mut scratch[..], 0).ok()?;
    Some(&scratch[..length])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::processes::handle::SCRATCH_SIZE;

    const SESSION: &str = "session_2026-11-18_14-16-22_767891_20526";

    fn add(proc_root: &Path, pid: i32, parent: i32, comm: &str, command: &str) {
        let directory = proc_root.join(pid.to_string());
        std::fs::create_dir(&directory).unwrap();
        let numbers = "0 ".repeat(30);
        let stat = format!(
            "{pid} ({comm}) S {parent} {pid} {pid} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {pid} {numbers}\n"
        );
        std::fs::write(directory.join("stat"), stat).unwrap();
        std::fs::write(directory.join("statm"), "1 1 1 0 0 1 0\n").unwrap();
        std::fs::write(directory.join("cmdline"), command.replace(' ', "\0")).unwrap();
    }

    fn members(tree: &mut Tree) -> Vec<(i32, bool)> {
        let joined = tree.refresh(&mut [0; SCRATCH_SIZE]).unwrap();
        let mut members: Vec<(i32, bool)> = joined
            .iter()
            .map(|one| (one.handle.key().pid.0, one.is_outside))
            .collect();
        members.sort_unstable();
        members
    }

    #[test]
    fn sessions_that_are_older_than_the_run_are_foreign_and_newer_ones_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        add(path, 8, 1, "make", "make");
        add(path, 9, 1, "bash", "bash");
        add(path, 10, 9, "python", "python job.py");
        add(path, 20, 1, "sshd", "sshd");
        let root = ProcessKey {
            pid: Pid(10),
            start: StartTicks(10),
        };
        let scope = Scope::Descendants(vec![root]);
        let mut tree = Tree::new(ProcRoot::at(path), scope, None, []);
        assert_eq!(members(&mut tree), [(10, false)]);
        let foreign =
            |tree: &Tree| [8, 9, 10, 20].map(|it| tree.foreign_sessions.contains(Pid(it)));
        // 9 is the shell that the run was started from: its session may have been the run's.
        assert_eq!(foreign(&tree), [true, false, false, false]);
        tree.join_ray_session(SESSION.to_owned());
        assert_eq!(foreign(&tree), [false; 4]);
    }

    #[test]
    fn the_servers_of_a_ray_session_and_their_workers_join_a_run_that_uses_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let raylet = |session: &str| {
            format!("/v/ray/raylet --raylet_socket_name=/tmp/ray/{session}/sockets/raylet")
        };
        add(path, 10, 1, "python", "python job.py");
        add(path, 11, 10, "python", "python job.py");
        add(path, 20, 1, "raylet", &raylet(SESSION));
        add(path, 21, 20, "ray::Cache", "ray::Cache");
        add(
            path,
            30,
            1,
            "raylet",
            &raylet(&SESSION.replace("2026", "2025")),
        );
        add(path, 31, 30, "ray::Other", "ray::Other");
        add(
            path,
            40,
            1,
            "tail",
            &format!("tail -f /tmp/ray/{SESSION}/logs/raylet.out"),
        );
        let root = ProcessKey {
            pid: Pid(10),
            start: StartTicks(10),
        };
        let scope = Scope::Descendants(vec![root]);
        let mut tree = Tree::new(ProcRoot::at(path), scope, None, []);
        assert_eq!(members(&mut tree), [(10, false), (11, false)]);
        tree.join_ray_session(SESSION.to_owned());
        assert_eq!(members(&mut tree), [(20, true), (21, true)]);
        tree.join_ray_session(SESSION.to_owned());
        add(path, 22, 20, "ray::IDLE", "ray::IDLE");
        assert_eq!(members(&mut tree), [(22, true)]);
    }
}
