//! Keeps the roles of a run's processes up to date.
//!
//! A process is examined when it appears and again as it ages, most often while it is young: a
//! spawned worker renames itself, and a trainer maps torch, only seconds after its start. It is also
//! examined when its name or its parent changes.
//!
//! A process that executes another program counts as young again, and earlier findings are dropped:
//! `python3` may be a script that looks for the real one and then becomes it.
//!
//! The role of a process does not change when it exits, or when its parent does: a zombie shows no
//! evidence, and an orphan no longer shows which process created it.

mod exited_parents;
mod spawned_children;

use std::collections::{BTreeMap, BTreeSet};

use leveloff_model::process::{
    Pid, ProcessIndex, ProcessInfo, ProcessKey, ProcessState, Role, printable,
};
use leveloff_model::units::{CpuMillis, Seconds};

use crate::facts::{self, ProcessFacts, ray};
use crate::proc_root::ProcRoot;
use crate::roles::{self, Assignment, PreviousRoles, RoleReason};
use exited_parents::ExitedParents;
use spawned_children::SpawnedChildren;

/// The roles of a run's processes.
#[derive(Debug, Default)]
pub struct RoleTracker {
    root: Option<Pid>,
    states: BTreeMap<ProcessIndex, RoleState>,
    exited_parents: ExitedParents,
    spawned: SpawnedChildren,
    ray_sessions: BTreeSet<String>,
    /// A process joined, or is to be examined again.
    has_news: bool,
    /// When it is time to see which processes are due by their age.
    next_scan: Seconds,
}

#[derive(Debug)]
struct RoleState {
    key: ProcessKey,
    /// Its parent when it was first examined, if that belongs to the run.
    origin: Option<ProcessKey>,
    facts: Option<ProcessFacts>,
    /// What was last reported of it.
    reported: Option<ProcessInfo>,
    /// Whether its role is still open.
    undecided: bool,
    /// Its assignment as a launcher, and the CPU time, in clock ticks, that it had used by then.
    as_launcher: Option<(Assignment, u64)>,
    /// When its program was first seen.
    first_seen: Seconds,
    examined_at: Option<Seconds>,
    /// The CPU time that it had used by then.
    examined_cpu: CpuMillis,
    due: bool,
}

/// A new or changed role of a process.
#[derive(Debug)]
pub struct RoleChange {
    /// What is known of the process now.
    pub info: ProcessInfo,
    /// The evidence for its role.
    pub reason: RoleReason,
    /// Whether this is the first report of the process.
    pub first: bool,
    /// Whether it is a forked copy of its parent, with the same pages.
    pub fork_copy: bool,
}

/// The shortest time between two examinations of a process.
const SHORTEST_INTERVAL: Seconds = Seconds(1.0);

/// A process is examined again when its age has grown by this share, so that examinations become rare: a
/// dozen in ten hours.
const AGE_GROWTH: f64 = 1.5;

/// The same for an undecided process: two dozen examinations in the first ten minutes.
const AGE_GROWTH_IF_UNDECIDED: f64 = 0.3;

/// Until this age a process is examined whether it has run or not.
const SURELY_EXAMINED: Seconds = Seconds(10.0);

/// Which processes are due by their age is looked up once in this share of the youngest one's age,
const SCAN_PER_AGE: f64 = 0.1;

/// and after so many seconds at the latest.
const LONGEST_SCAN_INTERVAL: f64 = 5.0;

/// CPU time that a launcher may use after its trainers have exited, in clock ticks: three seconds. With
/// more it works itself.
const LAUNCHER_TICKS: u64 = 300;

/// An examination takes a third of a millisecond; a tree of a thousand must not delay a tick.
const REEXAMINED_PER_TICK: usize = 32;

impl RoleTracker {
    /// A tracker for a run with this root, if it has one.
    pub fn new(root: Option<Pid>) -> RoleTracker {
        RoleTracker {
            root,
            ..RoleTracker::default()
        }
    }

    /// Adds a process.
    pub fn add(&mut self, index: ProcessIndex, key: ProcessKey, now: Seconds) {
        let state = RoleState {
            key,
            origin: None,
            facts: None,
            reported: None,
            undecided: false,
            as_launcher: None,
            first_seen: now,
            examined_at: None,
            examined_cpu: CpuMillis(0),
            due: true,
        };
        self.exited_parents.remove_pid(key.pid);
        self.has_news = true;
        self.states.insert(index, state);
    }

    /// Examines a process again: it has another name or parent, or executed another program.
    pub fn examine_again(&mut self, index: ProcessIndex) {
        if let Some(state) = self.states.get_mut(&index) {
            state.due = true;
            self.has_news = true;
        }
    }

    /// Removes a process that exited. Returns whether it was ever reported.
    pub fn remove(&mut self, index: ProcessIndex) -> bool {
        let Some(state) = self.states.remove(&index) else {
            return false;
        };
        self.spawned.remove(state.key.pid);
        let mut others = self.states.values();
        let has_children = others.any(|other| other.origin == Some(state.key));
        if has_children && let Some(facts) = state.facts {
            self.exited_parents.add(facts, state.origin);
        }
        state.reported.is_some()
    }

    /// What was reported of a process, if anything.
    pub fn info(&self, index: ProcessIndex) -> Option<&ProcessInfo> {
        self.states.get(&index)?.reported.as_ref()
    }

    /// The sessions of Ray that processes of the run were found to take part in since the last call.
    pub fn take_ray_sessions(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.ray_sessions)
    }

    /// What was reported of all processes.
    pub fn infos(&self) -> impl Iterator<Item = &ProcessInfo> {
        self.states
            .values()
            .filter_map(|state| state.reported.as_ref())
    }

    /// Examines the processes that are due; returns what changed. `cpu` is what each process has used so far: one that
    /// has not run since it was examined shows nothing new.
    pub fn update(
        &mut self,
        proc_root: &ProcRoot,
        now: Seconds,
        cpu: impl Fn(ProcessIndex) -> CpuMillis,
    ) -> Vec<RoleChange> {
        if !self.has_news && now < self.next_scan {
            return Vec::new();
        }
        let mut changed = false;
        let mut reexamined = 0;
        for (&index, state) in &mut self.states {
            let age_due = reexamined < REEXAMINED_PER_TICK
                && state.is_due_by_age(now)
                && state.has_run(cpu(index));
            if state.due || age_due {
                reexamined += usize::from(age_due);
                state.examined_cpu = cpu(index);
                changed |= state.examine(proc_root, now);
            }
        }
        self.has_news = reexamined == REEXAMINED_PER_TICK;
        self.next_scan = Seconds(now.0 + self.scan_interval(now).0);
        if !changed {
            return Vec::new();
        }
        let facts = self
            .states
            .values()
            .filter_map(|state| state.facts.as_ref());
        self.ray_sessions
            .extend(facts.filter_map(|facts| facts.ray_session.clone()));
        self.assign()
    }

    /// The pauses between two examinations are a share of the age, so older processes need not be asked at each tick.
    fn scan_interval(&self, now: Seconds) -> Seconds {
        let youngest = self.states.values().map(|state| (now - state.first_seen).0);
        let youngest = youngest.fold(f64::INFINITY, f64::min);
        Seconds((SCAN_PER_AGE * youngest).clamp(0.0, LONGEST_SCAN_INTERVAL))
    }

    fn assign(&mut self) -> Vec<RoleChange> {
        self.find_origins();
        let facts = self.as_created();
        let trainer = self.infos().find(|info| info.role == Role::Trainer);
        let previous = PreviousRoles {
            trainer: trainer.map(|info| info.key.pid),
            spawned: self.spawned.known(),
        };
        let mut assignments = roles::reassign(&facts, self.root, previous).into_iter();
        let stacks: BTreeMap<Pid, Option<u64>> = facts
            .iter()
            .map(|facts| (facts.key.pid, facts.stack_start))
            .collect();
        let mut changes = Vec::new();
        for (&index, state) in &mut self.states {
            let Some(facts) = &state.facts else { continue };
            let Some(assignment) = assignments.next() else {
                break;
            };
            let assignment = stay_launcher(&mut state.as_launcher, facts, assignment);
            state.undecided = assignment.reason.is_undecided();
            self.spawned.note(facts, &assignment);
            let info = process_info(index, facts, &assignment, state.reported.as_ref());
            if state.reported.as_ref() == Some(&info) {
                continue;
            }
            // A fork keeps the address of its parent's stack; an executed program gets another.
            let parents_stack = stacks.get(&facts.parent).copied().flatten();
            let fork_copy = facts.stack_start.is_some() && facts.stack_start == parents_stack;
            let first = state.reported.is_none();
            state.reported = Some(info.clone());
            changes.push(RoleChange {
                info,
                reason: assignment.reason,
                first,
                fork_copy,
            });
        }
        changes
    }

    /// Notes which processes created the new ones, while that is visible.
    fn find_origins(&mut self) {
        let keys: BTreeMap<Pid, ProcessKey> = self
            .states
            .values()
            .map(|state| (state.key.pid, state.key))
            .collect();
        for state in self.states.values_mut().filter(|s| s.reported.is_none()) {
            let parent = state.facts.as_ref().map(|facts| facts.parent);
            state.origin = parent.and_then(|pid| keys.get(&pid).copied());
        }
    }

    /// The tree as it was created: orphans with their original parents, and those parents after the
    /// living processes.
    fn as_created(&mut self) -> Vec<ProcessFacts> {
        let origins = self.states.values().map(|state| state.origin);
        self.exited_parents.keep_parents_of(origins);
        let mut processes: Vec<ProcessFacts> = Vec::with_capacity(self.states.len());
        for state in self.states.values() {
            let exited = state
                .origin
                .filter(|&key| self.exited_parents.contains(key));
            processes.extend(state.facts.clone().map(|facts| ProcessFacts {
                parent: exited.map_or(facts.parent, |origin| origin.pid),
                ..facts
            }));
        }
        processes.extend(self.exited_parents.facts().cloned());
        processes
    }
}

impl RoleState {
    fn is_due_by_age(&self, now: Seconds) -> bool {
        self.examined_at.is_some_and(|examined_at| {
            let growth = if self.undecided {
                AGE_GROWTH_IF_UNDECIDED
            } else {
                AGE_GROWTH
            };
            let age_then = (examined_at - self.first_seen).0;
            (now - examined_at).0 >= (age_then * growth).max(SHORTEST_INTERVAL.0)
        })
    }

    /// Whether it has run since it was examined. CPU time counts in clock ticks of 10 ms, so a young process may have run
    /// unnoticed: the first examinations are made in any case.
    fn has_run(&self, cpu: CpuMillis) -> bool {
        let examined = self.examined_at.unwrap_or(self.first_seen);
        (examined - self.first_seen).0 < SURELY_EXAMINED.0 || cpu != self.examined_cpu
    }

    /// Reads the facts of the process again; returns whether they changed.
    fn examine(&mut self, proc_root: &ProcRoot, now: Seconds) -> bool {
        self.due = false;
        self.examined_at = Some(now);
        match facts::read(proc_root, self.key.pid) {
            Ok(facts) if facts.key == self.key && !self.has_become_zombie(&facts) => {
                if self
                    .facts
                    .as_ref()
                    .is_some_and(|old| is_another_program(old, &facts))
                {
                    self.first_seen = now;
                    self.as_launcher = None;
                }
                let changed = self.facts.as_ref() != Some(&facts);
                self.facts = Some(facts);
                changed
            }
            // It exited, or its pid was reused: the earlier facts stay.
            Ok(_) | Err(_) => false,
        }
    }

    fn has_become_zombie(&self, facts: &ProcessFacts) -> bool {
        facts.state == ProcessState::Zombie && self.facts.is_some()
    }
}

/// The stack's address is random for each executed program; where it is hidden, the command lines are
/// compared.
fn is_another_program(before: &ProcessFacts, now: &ProcessFacts) -> bool {
    match (before.stack_start, now.stack_start) {
        (Some(before), Some(now)) => before != now,
        _ => before.command != now.command,
    }
}

/// A launcher that maps a framework looks like a trainer once its trainers have exited. It stays a launcher
/// unless it works on.
fn stay_launcher(
    as_launcher: &mut Option<(Assignment, u64)>,
    facts: &ProcessFacts,
    assignment: Assignment,
) -> Assignment {
    match (assignment.role, &as_launcher) {
        (Role::Launcher, _) => *as_launcher = Some((assignment.clone(), facts.cpu_ticks)),
        (Role::Trainer, Some((before, ticks)))
            if facts.cpu_ticks.saturating_sub(*ticks) < LAUNCHER_TICKS =>
        {
            return before.clone();
        }
        _ => *as_launcher = None,
    }
    assignment
}

fn process_info(
    index: ProcessIndex,
    facts: &ProcessFacts,
    assignment: &Assignment,
    reported: Option<&ProcessInfo>,
) -> ProcessInfo {
    let mut comm = printable(ray::steady_title(&facts.comm));
    let mut command = shown_command(&facts.command);
    let mut why = assignment.reason.to_string();
    // A worker of Ray alternates between its task and idle, which is no news.
    if let Some(reported) = reported
        && ray::is_passing_title(reported.comm.as_bytes(), &facts.comm)
        && reported.role == assignment.role
    {
        why.clone_from(&reported.why);
        comm.clone_from(&reported.comm);
        command.clone_from(&reported.command);
    }
    ProcessInfo {
        index,
        key: facts.key,
        parent: facts.parent,
        role: assignment.role,
        unknown_role: None,
        rank: assignment.rank,
        comm,
        command,
        why,
    }
}

/// A recording keeps this much of a command line. Inline scripts have thousands of bytes, and every
/// fork repeats them.
const COMMAND_KEPT: usize = 1000;

fn shown_command(arguments: &[Vec<u8>]) -> Vec<String> {
    let mut room = COMMAND_KEPT;
    let mut shown = Vec::new();
    for argument in arguments {
        let argument = ray::steady_title(argument);
        let kept = argument.len().min(room);
        let mut text = printable(&argument[..kept]);
        if kept < argument.len() {
            text.push('…');
        }
        shown.push(text);
        room -= kept;
        if room == 0 {
            break;
        }
    }
    shown
}

#[cfg(test)]
mod tests;
