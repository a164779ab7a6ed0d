//! Who belongs: the processes of a run, found as they come and kept until they are gone.
//!
//! A child is found by its parent's number. That fails for a child whose parent died before it was
//! seen: an ancestor of the run or init has adopted it. Three things can still tell where it came
//! from: a process group or session whose leader is of the run; the address of its stack, which the
//! kernel draws at random for each program and a fork keeps; and under `run` the adopter, which is
//! us. A process that was once seen in the tree stays in it, whoever adopts it.
//!
//! Looking through all of /proc at every tick would cost more than reading the tree, so only those
//! are looked at who were born since ([`crate::births`]).

use std::collections::{HashMap, HashSet};
use std::io;

use rustix::fs::{Mode, OFlags};
use rustix::io::pread;

use leveloff_model::process::{Pid, ProcessIndex, ProcessKey, StartTicks};

use crate::births::{BirthCounter, Births, is_thread};
use crate::handle::{ProcessHandle, Scratch};
use crate::kernel::stat;
use crate::proc_root::ProcRoot;

/// Which processes to gather.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// These and everything that comes from them.
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
    /// Group and session leaders that are or were of the tree: their groups are ours alone.
    leaders: HashSet<Pid>,
    /// Where the members' stacks begin; a fork of theirs begins there, too.
    stacks: HashSet<u64>,
    /// Whether those addresses are random, and so tell anything.
    stacks_are_random: bool,
    /// Numbers seen and found not to belong. Trusted until the kernel's counter wraps.
    strangers: HashSet<Pid>,
    /// Ancestors of the roots, and init: whoever may adopt an orphan of the tree. With the address
    /// of its stack, by which its own forks are told from orphans.
    adopters: HashMap<Pid, Option<u64>>,
    /// Under `run`: us. Whatever comes to us as an orphan is the run's.
    sure_adopter: Option<Pid>,
    /// Never looked at: ourselves and our relay.
    excluded: HashSet<Pid>,
    /// Groups of what we start beside the run. Its orphans come to us as well, and are none of the run's.
    excluded_groups: HashSet<Pid>,
    earliest: StartTicks,
    births: BirthCounter,
    /// Numbers just born that nobody answered to. One may be a process that was still being made,
    /// so they are tried once more.
    unanswered: Vec<Pid>,
    next_index: u32,
    ticks_since_full_look: u32,
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
    /// Whether its parent died before it was seen.
    pub orphan: bool,
}

/// What is known of a process before it is decided whether it belongs.
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

/// All of /proc is looked through at least this often, in ticks, in case a stranger's number was
/// reused unnoticed.
const FULL_LOOK_EVERY: u32 = 64;

impl Tree {
    /// A tree to be filled by the first [`Tree::refresh`].
    pub fn new(root: ProcRoot, scope: Scope) -> Tree {
        let births = BirthCounter::open(&root);
        let stacks_are_random = std::fs::read(root.path().join("sys/kernel/randomize_va_space"))
            .is_ok_and(|level| level.first().is_some_and(|&digit| digit != b'0'));
        Tree {
            root,
            scope,
            members: HashMap::new(),
            leaders: HashSet::new(),
            stacks: HashSet::new(),
            stacks_are_random,
            strangers: HashSet::new(),
            adopters: HashMap::from([(Pid(1), None)]),
            sure_adopter: None,
            excluded: HashSet::new(),
            excluded_groups: HashSet::new(),
            earliest: StartTicks(u64::MAX),
            births,
            unanswered: Vec::new(),
            next_index: 0,
            ticks_since_full_look: 0,
            refused: Vec::new(),
        }
    }

    /// Orphans of the run are adopted by `adopter`, which adopts nothing else.
    pub fn with_sure_adopter(mut self, adopter: Pid) -> Tree {
        self.sure_adopter = Some(adopter);
        self
    }

    /// Never counts these as part of the run.
    pub fn excluding(mut self, pids: impl IntoIterator<Item = Pid>) -> Tree {
        self.excluded.extend(pids);
        self
    }

    /// Never counts processes of this group as part of the run, from now on.
    pub fn leave_out_group(&mut self, group: Pid) {
        self.excluded_groups.insert(group);
    }

    /// Whether nobody is left.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// A member is gone.
    pub fn remove(&mut self, key: ProcessKey) {
        if self.members.get(&key.pid) == Some(&key) {
            self.members.remove(&key.pid);
        }
    }

    /// Processes that belong and could not be opened since the last call; they are tried again.
    pub fn take_refused(&mut self) -> Vec<(Pid, io::Error)> {
        std::mem::take(&mut self.refused)
    }

    /// Looks for processes that joined since the last call. Cheap when nobody was born.
    pub fn refresh(&mut self, scratch: &mut Scratch) -> io::Result<Vec<Joined>> {
        let births = self.births.look(scratch);
        self.ticks_since_full_look += 1;
        if births == Births::Wrapped || self.ticks_since_full_look >= FULL_LOOK_EVERY {
            self.strangers.clear();
            self.ticks_since_full_look = 0;
            return self.look_through_all(scratch);
        }
        match births {
            Births::Nobody if !self.strangers.is_empty() => Ok(self.look_at(Vec::new(), scratch)),
            Births::Numbers(numbers) if !self.strangers.is_empty() => {
                Ok(self.look_at(numbers, scratch))
            }
            _ => self.look_through_all(scratch),
        }
    }

    /// Looks at these numbers, and once more at those that did not answer.
    fn look_at(&mut self, numbers: Vec<Pid>, scratch: &mut Scratch) -> Vec<Joined> {
        let again = std::mem::take(&mut self.unanswered);
        let mut unknown = Vec::new();
        for pid in again.iter().chain(&numbers).copied() {
            if self.is_known(pid) {
                continue;
            }
            match read_stat(&self.root, pid, scratch) {
                Some(text) if is_thread(text) => {}
                Some(text) => unknown.extend(Candidate::of(pid, text)),
                None if again.contains(&pid) => {}
                None => self.unanswered.push(pid),
            }
        }
        if unknown.is_empty() {
            return Vec::new();
        }
        let looked_at: Vec<Pid> = unknown.iter().map(|candidate| candidate.pid).collect();
        let joined = self.adopt_all(unknown, scratch);
        let members = &self.members;
        let strangers = looked_at.into_iter();
        self.strangers
            .extend(strangers.filter(|pid| !members.contains_key(pid)));
        joined
    }

    fn look_through_all(&mut self, scratch: &mut Scratch) -> io::Result<Vec<Joined>> {
        self.unanswered.clear();
        let listed = self.root.pids()?;
        let unknown: Vec<Candidate> = listed
            .iter()
            .filter(|pid| !self.is_known(**pid))
            .filter_map(|&pid| self.candidate(pid, scratch))
            .collect();
        if self.members.is_empty() {
            self.find_adopters(scratch);
        }
        let joined = self.adopt_all(unknown, scratch);
        self.strangers = listed
            .into_iter()
            .filter(|pid| !self.members.contains_key(pid))
            .collect();
        Ok(joined)
    }

    fn is_known(&self, pid: Pid) -> bool {
        self.members.contains_key(&pid)
            || self.strangers.contains(&pid)
            || self.excluded.contains(&pid)
    }

    fn candidate(&self, pid: Pid, scratch: &mut Scratch) -> Option<Candidate> {
        Candidate::of(pid, read_stat(&self.root, pid, scratch)?)
    }

    /// Takes in candidates until nobody new belongs: a grandchild may be listed before its parent.
    fn adopt_all(&mut self, mut unknown: Vec<Candidate>, scratch: &mut Scratch) -> Vec<Joined> {
        // Parents are older than their children, so one pass usually suffices.
        unknown.sort_by_key(|candidate| candidate.start);
        let mut joined = Vec::new();
        loop {
            let before = unknown.len();
            unknown.retain(|candidate| match self.belongs(candidate) {
                None => true,
                Some(orphan) => {
                    joined.extend(self.admit(candidate, orphan, scratch));
                    false
                }
            });
            if unknown.len() == before {
                return joined;
            }
        }
    }

    /// Whether it belongs, and if so whether as an orphan.
    fn belongs(&self, candidate: &Candidate) -> Option<bool> {
        if self.excluded_groups.contains(&candidate.group) {
            return None;
        }
        let Scope::Descendants(roots) = &self.scope else {
            return (!is_kernel_thread(candidate)).then_some(false);
        };
        if roots.contains(&candidate.key()) || self.members.contains_key(&candidate.parent) {
            return Some(false);
        }
        self.is_orphan_of_ours(candidate).then_some(true)
    }

    fn is_orphan_of_ours(&self, candidate: &Candidate) -> bool {
        if Some(candidate.parent) == self.sure_adopter {
            return true;
        }
        let Some(adopters_stack) = self.adopters.get(&candidate.parent) else {
            return false;
        };
        // Our own ancestors have each other as parents, and may be as old as we are to the tick.
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

    fn admit(
        &mut self,
        candidate: &Candidate,
        orphan: bool,
        scratch: &mut Scratch,
    ) -> Option<Joined> {
        let handle = match ProcessHandle::open(&self.root, candidate.pid, scratch) {
            Ok(handle) => handle,
            Err(error) => {
                // One that has just ended is no loss.
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
        self.members.insert(candidate.pid, candidate.key());
        let index = ProcessIndex(self.next_index);
        self.next_index += 1;
        Some(Joined {
            index,
            handle,
            parent: candidate.parent,
            orphan,
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

/// Who has this number now.
pub fn key_of(root: &ProcRoot, pid: Pid) -> io::Result<ProcessKey> {
    let text = std::fs::read(root.process(pid).join("stat"))?;
    let stat = stat::parse(&text)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its stat cannot be read"))?;
    Ok(ProcessKey {
        pid,
        start: stat.start,
    })
}

/// Kernel threads have no memory; they are kthreadd (2) and its children.
fn is_kernel_thread(candidate: &Candidate) -> bool {
    candidate.pid == Pid(2) || candidate.parent == Pid(2)
}

fn read_stat<'a>(root: &ProcRoot, pid: Pid, scratch: &'a mut Scratch) -> Option<&'a [u8]> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(root.process(pid).join("stat"), flags, Mode::empty()).ok()?;
    let length = pread(&file, &mut scratch[..], 0).ok()?;
    Some(&scratch[..length])
}
