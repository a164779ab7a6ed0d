//! The processes of a run that are read at every tick, with their counters and roles.

use std::collections::HashSet;
use std::io;

use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, ProcessState, Role};
use leveloff_model::sample::{Gap, ProcessReading, Subject};
use leveloff_model::units::{Bytes, CpuMillis, Seconds};

use super::fork_families::{self, ForkFamily};
use super::handle::{ReadError, Scratch};
use super::tree::{Scope, Tree};
use super::watched_process::{FastContext, PssValues, WatchedProcess};
use crate::proc_root::ProcRoot;
use crate::roles::{RoleChange, RoleTracker};

/// The processes of a run.
#[derive(Debug)]
pub struct WatchedProcesses {
    roots: Vec<ProcessKey>,
    tree: Tree,
    watched: Vec<WatchedProcess>,
    roles: RoleTracker,
    trainers: HashSet<ProcessIndex>,
    /// Processes of the run that are no descendants of the roots.
    outside: HashSet<ProcessIndex>,
    families: Vec<ForkFamily>,
    /// Whether a process started or exited, or another role is known, since the families were found.
    families_changed: bool,
}

/// What a fast read of all processes found.
#[derive(Debug, Default)]
pub struct FastReads {
    pub exited: Vec<ProcessIndex>,
    /// Processes that could not be read.
    pub gaps: Vec<Gap>,
    /// Whether a forked copy exited: the shares of its relatives are about to change, perhaps again.
    pub fork_exited: bool,
}

/// A process that exited.
#[derive(Debug, Clone, Copy)]
pub struct Removed {
    pub pid: Pid,
    /// Whether the recording has an event for its start.
    pub was_reported: bool,
}

impl WatchedProcesses {
    /// `adopter` gets the run's orphans; `excluded` are processes of our own.
    pub fn new(
        proc_root: &ProcRoot,
        scope: Scope,
        adopter: Option<Pid>,
        excluded: Vec<Pid>,
    ) -> WatchedProcesses {
        let roots = match &scope {
            Scope::Descendants(roots) => roots.clone(),
            Scope::Everyone => Vec::new(),
        };
        WatchedProcesses {
            roles: RoleTracker::new(roots.first().map(|key| key.pid)),
            roots,
            tree: Tree::new(proc_root.clone(), scope, adopter, excluded),
            watched: Vec::new(),
            trainers: HashSet::new(),
            outside: HashSet::new(),
            families: Vec::new(),
            families_changed: false,
        }
    }

    /// The first root, if the run has one.
    pub fn root(&self) -> Option<Pid> {
        self.roots.first().map(|key| key.pid)
    }

    /// Whether the run is over: the roots have exited and no other process trains.
    pub fn is_over(&self) -> bool {
        // A zombie trains no more, even if its parent never collects it.
        let lives = |process: &&WatchedProcess| !process.reading.state.is_gone();
        let trains = |process: &WatchedProcess| {
            self.roles
                .info(process.index())
                .is_some_and(|info| matches!(info.role, Role::Trainer | Role::Launcher))
        };
        !self.roots.is_empty()
            && !self
                .watched
                .iter()
                .filter(lives)
                .filter(|process| !self.is_outside(process.index()))
                .any(|process| self.roots.contains(&process.handle.key()) || trains(process))
    }

    /// Whether it belongs to the run without being a descendant of the roots.
    pub fn is_outside(&self, index: ProcessIndex) -> bool {
        self.outside.contains(&index)
    }

    /// The processes that have a role.
    pub fn infos(&self) -> impl Iterator<Item = &ProcessInfo> {
        self.roles.infos()
    }

    /// From now on, processes of this group are no part of the run.
    pub fn exclude_group(&mut self, group: Pid) {
        self.tree.exclude_group(group);
    }

    pub fn all(&self) -> &[WatchedProcess] {
        &self.watched
    }

    pub fn all_mut(&mut self) -> &mut [WatchedProcess] {
        &mut self.watched
    }

    pub fn find_mut(&mut self, index: ProcessIndex) -> Option<&mut WatchedProcess> {
        self.watched
            .iter_mut()
            .find(|process| process.index() == index)
    }

    /// Adds the processes that joined the run; returns how many.
    pub fn add_new(&mut self, t: Seconds, scratch: &mut Scratch) -> io::Result<usize> {
        let joined = self.tree.refresh(scratch)?;
        let count = joined.len();
        for process in joined {
            self.roles.add(process.index, process.handle.key(), t);
            if process.is_outside {
                self.outside.insert(process.index);
            }
            self.watched.push(WatchedProcess::new(
                process.index,
                process.handle,
                process.parent,
                t,
            ));
        }
        Ok(count)
    }

    /// Processes of the run that could not be opened.
    pub fn take_refused(&mut self) -> Vec<Gap> {
        let refused = self.tree.take_refused();
        refused
            .into_iter()
            .map(|(pid, error)| refusal(pid, &error))
            .collect()
    }

    /// The fast read of all processes.
    pub fn read_all(&mut self, context: &FastContext, scratch: &mut Scratch) -> FastReads {
        let mut reads = FastReads::default();
        for process in &mut self.watched {
            match process.read_fast(context, scratch) {
                Ok(false) => {}
                Ok(true) => self.roles.examine_again(process.index()),
                Err(ReadError::Exited) => {
                    reads.fork_exited |= process.is_fork_copy();
                    process.reading.state = ProcessState::Dead;
                    reads.exited.push(process.index());
                }
                Err(ReadError::Unreadable(errno)) => reads.gaps.push(Gap {
                    subject: Subject::Process,
                    process: Some(process.index()),
                    text: format!("cannot read process {}: {errno}", process.pid()),
                }),
            }
        }
        // A zombie has freed all its memory, long before it is collected. All that exited are known before one of them
        // leaves its share to another.
        for place in 0..self.watched.len() {
            if self.watched[place].has_just_ended() {
                reads.fork_exited |= self.watched[place].is_fork_copy();
                self.pass_on_exited_share(place);
            }
        }
        reads
    }

    /// The fast read between two ticks; returns the memory of all known processes. The next tick reports
    /// processes that joined or exited meanwhile.
    pub fn quick_read(&mut self, context: &FastContext, scratch: &mut Scratch) -> Bytes {
        for process in &mut self.watched {
            // A later read compares with the name read here, so the change must not be lost.
            if process.read_fast(context, scratch) == Ok(true) {
                self.roles.examine_again(process.index());
            }
        }
        self.reported()
            .map(|process| process.reading.memory())
            .sum()
    }

    /// Removes a process that exited. What it shared is counted with its relatives.
    pub fn remove(&mut self, index: ProcessIndex) -> Option<Removed> {
        let place = self
            .watched
            .iter()
            .position(|process| process.index() == index)?;
        self.pass_on_exited_share(place);
        let key = self.watched.remove(place).handle.key();
        self.tree.remove(key);
        self.trainers.remove(&index);
        self.outside.remove(&index);
        Some(Removed {
            pid: key.pid,
            was_reported: self.roles.remove(index),
        })
    }

    /// Shared pages stay when one of their processes exits. Until the others are read again, those that its parent holds
    /// as well are counted there, the others with a process that it forked, else with a sibling fork.
    fn pass_on_exited_share(&mut self, place: usize) {
        self.families_changed = true;
        let index = self.watched[place].index();
        if self.shares(index) {
            self.mark_sharers_uncertain(Some(index));
        }
        let exited = self.watched[place].take_exited_share();
        let mut left = exited.shared;
        if let Some(parent) = self.nearest(|process| u8::from(exited.is_of_parent(process))) {
            parent.take_returned(exited.with_parent);
            left = left.saturating_sub(exited.with_parent);
        }
        if let Some(fork) = self.nearest(|process| exited.closeness_of_fork(process)) {
            fork.take_left_to_forks(left);
        }
    }

    /// The living process that is closest, unless all are strangers.
    fn nearest(
        &mut self,
        closeness: impl Fn(&WatchedProcess) -> u8,
    ) -> Option<&mut WatchedProcess> {
        let living = self.watched.iter_mut();
        let living = living.filter(|process| !process.reading.state.is_gone());
        let nearest = living.max_by_key(|process| closeness(process));
        nearest.filter(|process| closeness(process) > 0)
    }

    /// Examines the processes that are due; returns the roles that changed.
    pub fn update_roles(&mut self, proc_root: &ProcRoot, t: Seconds) -> Vec<RoleChange> {
        let watched = &self.watched;
        // Processes are in the order of their numbers.
        let cpu = |index| match watched.binary_search_by_key(&index, WatchedProcess::index) {
            Ok(place) => watched[place].reading.cpu,
            Err(_) => CpuMillis(0),
        };
        let changes = self.roles.update(proc_root, t, cpu);
        for session in self.roles.take_ray_sessions() {
            self.tree.join_ray_session(session);
        }
        for change in &changes {
            // A copy that has executed another program shares nothing with its parent.
            if change.first || !change.fork_copy {
                self.set_fork_copy(change);
            }
        }
        changes
    }

    fn set_fork_copy(&mut self, change: &RoleChange) {
        self.families_changed = true;
        let parent = change.info.parent;
        let has_forks = self
            .watched
            .iter()
            .any(|process| process.is_fork_copy() && process.parent == parent);
        let inheritable = self.inheritable(change);
        if let Some(process) = self.find_mut(change.info.index) {
            process.set_fork_copy(change.fork_copy, inheritable);
        }
        if change.fork_copy
            && !has_forks
            && let Some(parent) = self.watched.iter_mut().find(|one| one.pid() == parent)
        {
            parent.shares_from_now();
        }
    }

    /// Most that a fork may have got from its parent.
    fn inheritable(&self, change: &RoleChange) -> Bytes {
        let parent = |one: &&WatchedProcess| one.pid() == change.info.parent;
        let fork = |one: &&WatchedProcess| one.index() == change.info.index;
        match (
            self.watched.iter().find(parent),
            self.watched.iter().find(fork),
        ) {
            (Some(parent), Some(fork)) => parent.inheritable(fork.first_seen()),
            _ => Bytes(u64::MAX),
        }
    }

    /// Spreads the pages that forks share, and estimates what forks have copied since they were read.
    pub fn update_families(&mut self) {
        let had_families = !self.families.is_empty();
        self.find_families();
        if had_families || !self.families.is_empty() {
            fork_families::update(&self.families, &mut self.watched);
        }
    }

    fn find_families(&mut self) {
        if std::mem::take(&mut self.families_changed) {
            self.families = fork_families::families(&self.watched);
        }
    }

    /// Learns from readings that were taken together.
    pub fn learn_from(&mut self, read: &[ProcessIndex]) {
        self.find_families();
        for family in &self.families {
            family.learn(&mut self.watched, read);
        }
    }

    /// Learns what a process and its siblings have copied from a reading that does not count, because its relatives
    /// were not read with it.
    pub fn learn_from_sample(&mut self, index: ProcessIndex, values: &PssValues) {
        self.find_families();
        let Some(place) = self.place_of(index) else {
            return;
        };
        let (faulted, copied) = self.watched[place].copied_by_sample(values);
        let has = |family: &&ForkFamily| family.members().any(|member| member == place);
        if let Some(parent) = self
            .families
            .iter()
            .find(has)
            .and_then(|family| family.parent)
        {
            fork_families::learn_of(&mut self.watched, parent, place, faulted, copied);
        }
    }

    fn place_of(&self, index: ProcessIndex) -> Option<usize> {
        self.watched
            .iter()
            .position(|process| process.index() == index)
    }

    /// The places of forks and of the processes that forked them.
    pub fn places_in_families(&self) -> HashSet<usize> {
        let families = self.families.iter();
        families.flat_map(ForkFamily::members).collect()
    }

    /// The places of processes that were read without their relatives after `since`, and of their siblings.
    pub fn recently_sampled(&self, since: Seconds) -> HashSet<usize> {
        let sampled = |place: &usize| self.watched[*place].sampled_at() > Some(since);
        let mut recently: HashSet<usize> = HashSet::new();
        for family in &self.families {
            recently.extend(family.parent.filter(sampled));
            if family.forks.iter().any(sampled) {
                recently.extend(&family.forks);
            }
        }
        recently
    }

    /// The processes that must be read together, if at all: those of families with a member that was never read, or
    /// whose members changed.
    pub fn to_read_together(&self) -> HashSet<usize> {
        let is_open = |family: &&ForkFamily| {
            family.members().any(|place| {
                let process = &self.watched[place];
                !process.is_read() || process.relatives_changed()
            })
        };
        self.families
            .iter()
            .filter(is_open)
            .flat_map(ForkFamily::members)
            .collect()
    }

    /// Whether a process became a trainer (`true`) or is no trainer any more (`false`).
    pub fn trainer_change(&mut self, info: &ProcessInfo) -> Option<bool> {
        if info.role == Role::Trainer {
            self.trainers.insert(info.index).then_some(true)
        } else {
            self.trainers.remove(&info.index).then_some(false)
        }
    }

    /// Whether it shares anonymous pages with another process.
    pub fn shares(&self, index: ProcessIndex) -> bool {
        self.sharers().contains(&index)
    }

    /// Marks the PSS of all processes that share anonymous pages as uncertain, except that of `known`.
    pub fn mark_sharers_uncertain(&mut self, known: Option<ProcessIndex>) {
        let sharers = self.sharers();
        for process in &mut self.watched {
            if sharers.contains(&process.index()) && Some(process.index()) != known {
                process.set_relatives_changed();
            }
        }
    }

    /// Forks that hold their parent's pages, and the parents.
    fn sharers(&self) -> HashSet<ProcessIndex> {
        let forks = || self.watched.iter().filter(|process| process.is_fork_copy());
        let parents: HashSet<Pid> = forks().map(|fork| fork.parent).collect();
        self.watched
            .iter()
            .filter(|process| process.is_fork_copy() || parents.contains(&process.pid()))
            .map(WatchedProcess::index)
            .collect()
    }

    /// The counters of all processes that the recording has an event for.
    pub fn readings(&self) -> Vec<ProcessReading> {
        self.reported()
            .map(|process| process.reading.clone())
            .collect()
    }

    fn reported(&self) -> impl Iterator<Item = &WatchedProcess> {
        let has_role = |process: &&WatchedProcess| self.roles.info(process.index()).is_some();
        self.watched.iter().filter(has_role)
    }
}

fn refusal(pid: Pid, error: &io::Error) -> Gap {
    let text = format!(
        "cannot watch process {pid}, which belongs to the run: {error}; it is missing from the \
         totals. Out of descriptors? Raise the limit with `ulimit -n`"
    );
    Gap {
        subject: Subject::Process,
        process: None,
        text,
    }
}
