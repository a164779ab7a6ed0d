//! Who plays which part, as far as it is known by now.
//!
//! A process is examined when it appears and again as it ages, most often while it is young: a
//! spawned worker renames itself, and a trainer maps torch, only seconds after its start. It is also
//! examined when its name or its parent changes.
//!
//! A process that executes another program is young again, and nothing that was known of it holds:
//! `python3` may be a script that looks for the real one and then becomes it.
//!
//! What was known of a process stays true when it ends, or when its parent does: a dead process shows
//! nothing, and an orphan no longer shows who made it.

mod departed;

use std::collections::BTreeMap;

use leveloff_model::process::{
    Pid, ProcessIndex, ProcessInfo, ProcessKey, ProcessState, Role, printable,
};
use leveloff_model::units::Seconds;

use crate::facts::{self, Depth, ProcessFacts};
use crate::proc_root::ProcRoot;
use crate::roles::{self, Assignment, Earlier};
use departed::Departed;

/// The parts of the tree's processes.
#[derive(Debug, Default)]
pub struct Cast {
    root: Option<Pid>,
    players: BTreeMap<ProcessIndex, Player>,
    departed: Departed,
}

#[derive(Debug)]
struct Player {
    key: ProcessKey,
    /// The member that was its parent when it was first looked at.
    origin: Option<ProcessKey>,
    facts: Option<ProcessFacts>,
    /// What was last said of it.
    said: Option<ProcessInfo>,
    /// Whether it could still turn out to be anything.
    undecided: bool,
    /// What was said of it as a launcher, and the CPU time, in clock ticks, that it had used by then.
    launched: Option<(Assignment, u64)>,
    /// When its program was first seen.
    first_seen: Seconds,
    looked_at: Option<Seconds>,
    due: bool,
}

/// Something new about a process's part.
#[derive(Debug)]
pub struct Part {
    /// What is known of it now.
    pub info: ProcessInfo,
    /// Whether this is the first that is said of it.
    pub first: bool,
    /// Whether it is a fork's copy of its parent, holding the same pages.
    pub fork_copy: bool,
}

/// A process is looked at again after this long at the earliest.
const SOONEST_LOOK: Seconds = Seconds(1.0);

/// Later looks come when its age has grown by this share of itself, so that they cost less and less:
/// a dozen in ten hours.
const LOOK_AFTER_GROWTH: f64 = 1.5;

/// One that has not shown what it is: two dozen looks in the first ten minutes.
const LOOK_AFTER_GROWTH_IF_UNDECIDED: f64 = 0.3;

/// What a launcher whose trainers are gone may still use, in clock ticks: three seconds. With more it
/// works itself.
const LAUNCHER_TICKS: u64 = 300;

/// A look takes a third of a millisecond; a tree of a thousand must not hold a tick up.
const SECOND_LOOKS_PER_TICK: usize = 32;

impl Cast {
    /// An empty cast for a run whose root the user named, if so.
    pub fn new(root: Option<Pid>) -> Cast {
        Cast {
            root,
            ..Cast::default()
        }
    }

    /// A process joined.
    pub fn joined(&mut self, index: ProcessIndex, key: ProcessKey, now: Seconds) {
        let player = Player {
            key,
            origin: None,
            facts: None,
            said: None,
            undecided: false,
            launched: None,
            first_seen: now,
            looked_at: None,
            due: true,
        };
        self.departed.number_reused(key.pid);
        self.players.insert(index, player);
    }

    /// A process has another name or parent, or is another program.
    pub fn renamed(&mut self, index: ProcessIndex) {
        if let Some(player) = self.players.get_mut(&index) {
            player.due = true;
        }
    }

    /// A process is gone. Returns whether anything was ever said of it.
    pub fn left(&mut self, index: ProcessIndex) -> bool {
        let Some(player) = self.players.remove(&index) else {
            return false;
        };
        let has_children = self
            .players
            .values()
            .any(|other| other.origin == Some(player.key));
        if has_children && let Some(facts) = player.facts {
            self.departed.remember(facts, player.origin);
        }
        player.said.is_some()
    }

    /// Its part, if it has one.
    pub fn info(&self, index: ProcessIndex) -> Option<&ProcessInfo> {
        self.players.get(&index)?.said.as_ref()
    }

    /// All parts.
    pub fn infos(&self) -> impl Iterator<Item = &ProcessInfo> {
        self.players
            .values()
            .filter_map(|player| player.said.as_ref())
    }

    /// Examines whoever is due and says what is new.
    pub fn review(&mut self, proc_root: &ProcRoot, now: Seconds) -> Vec<Part> {
        let mut looked = false;
        let mut second_looks = 0;
        for player in self.players.values_mut() {
            let age_due = second_looks < SECOND_LOOKS_PER_TICK && player.is_due_by_age(now);
            if player.due || age_due {
                second_looks += usize::from(age_due);
                looked |= player.examine(proc_root, now);
            }
        }
        if looked { self.assign() } else { Vec::new() }
    }

    fn assign(&mut self) -> Vec<Part> {
        self.find_origins();
        let facts = self.as_made();
        let trainer = self.infos().find(|info| info.role == Role::Trainer);
        let earlier = Earlier {
            trainer: trainer.map(|info| info.key.pid),
        };
        let mut assignments = roles::assign_again(&facts, self.root, earlier).into_iter();
        let stacks: BTreeMap<Pid, Option<u64>> = facts
            .iter()
            .map(|facts| (facts.key.pid, facts.stack_start))
            .collect();
        let mut news = Vec::new();
        for (&index, player) in &mut self.players {
            let Some(facts) = &player.facts else { continue };
            let Some(assignment) = assignments.next() else {
                break;
            };
            let assignment = stay_launcher(&mut player.launched, facts, assignment);
            player.undecided = assignment.is_undecided();
            let info = process_info(index, facts, assignment);
            if player.said.as_ref() == Some(&info) {
                continue;
            }
            // A fork keeps the address of its parent's stack; a program of its own gets another.
            let parents_stack = stacks.get(&facts.parent).copied().flatten();
            let fork_copy = facts.stack_start.is_some() && facts.stack_start == parents_stack;
            let first = player.said.is_none();
            player.said = Some(info.clone());
            news.push(Part {
                info,
                first,
                fork_copy,
            });
        }
        news
    }

    /// Who made the newcomers, while it can be seen.
    fn find_origins(&mut self) {
        let keys: BTreeMap<Pid, ProcessKey> = self
            .players
            .values()
            .map(|player| (player.key.pid, player.key))
            .collect();
        for player in self.players.values_mut().filter(|p| p.said.is_none()) {
            let parent = player.facts.as_ref().map(|facts| facts.parent);
            player.origin = parent.and_then(|pid| keys.get(&pid).copied());
        }
    }

    /// The tree as it was made: orphans with the parents that they had, and those parents with them,
    /// behind the living.
    fn as_made(&mut self) -> Vec<ProcessFacts> {
        let origins = self.players.values().map(|player| player.origin);
        self.departed.keep_parents_of(origins);
        let mut made: Vec<ProcessFacts> = Vec::with_capacity(self.players.len());
        for player in self.players.values() {
            let gone = player.origin.filter(|&key| self.departed.contains(key));
            made.extend(player.facts.clone().map(|facts| ProcessFacts {
                parent: gone.map_or(facts.parent, |origin| origin.pid),
                ..facts
            }));
        }
        made.extend(self.departed.facts().cloned());
        made
    }
}

impl Player {
    fn is_due_by_age(&self, now: Seconds) -> bool {
        self.looked_at.is_some_and(|looked_at| {
            let growth = if self.undecided {
                LOOK_AFTER_GROWTH_IF_UNDECIDED
            } else {
                LOOK_AFTER_GROWTH
            };
            let age_then = (looked_at - self.first_seen).0;
            (now - looked_at).0 >= (age_then * growth).max(SOONEST_LOOK.0)
        })
    }

    /// Looks again; whether there is anything to assign by.
    fn examine(&mut self, proc_root: &ProcRoot, now: Seconds) -> bool {
        self.due = false;
        self.looked_at = Some(now);
        match facts::read(proc_root, self.key.pid, Depth::Full) {
            Ok(facts) if facts.key == self.key && !self.has_only_died(&facts) => {
                if self
                    .facts
                    .as_ref()
                    .is_some_and(|old| is_another_program(old, &facts))
                {
                    self.first_seen = now;
                    self.launched = None;
                }
                let news = self.facts.as_ref() != Some(&facts);
                self.facts = Some(facts);
                news
            }
            // Gone, or its number is somebody else's by now: what was known stands.
            Ok(_) | Err(_) => false,
        }
    }

    fn has_only_died(&self, facts: &ProcessFacts) -> bool {
        facts.state == ProcessState::Zombie && self.facts.is_some()
    }
}

/// The stack's address is random for each executed program; where it is hidden, the command line has
/// to do.
fn is_another_program(before: &ProcessFacts, now: &ProcessFacts) -> bool {
    match (before.stack_start, now.stack_start) {
        (Some(before), Some(now)) => before != now,
        _ => before.command != now.command,
    }
}

/// A launcher that maps a framework looks like a trainer once its trainers have ended. It stays what
/// it was, unless it goes on to work.
fn stay_launcher(
    launched: &mut Option<(Assignment, u64)>,
    facts: &ProcessFacts,
    assignment: Assignment,
) -> Assignment {
    match (assignment.role, &launched) {
        (Role::Launcher, _) => *launched = Some((assignment.clone(), facts.cpu_ticks)),
        (Role::Trainer, Some((before, ticks)))
            if facts.cpu_ticks.saturating_sub(*ticks) < LAUNCHER_TICKS =>
        {
            return before.clone();
        }
        _ => *launched = None,
    }
    assignment
}

fn process_info(index: ProcessIndex, facts: &ProcessFacts, assignment: Assignment) -> ProcessInfo {
    ProcessInfo {
        index,
        key: facts.key,
        parent: facts.parent,
        role: assignment.role,
        unknown_role: None,
        rank: assignment.rank,
        comm: printable(&facts.comm),
        command: shown_command(&facts.command),
        why: assignment.why,
    }
}

/// A recording keeps this much of a command line. Inline scripts have thousands of bytes, and every
/// fork has them again.
const COMMAND_KEPT: usize = 1000;

fn shown_command(arguments: &[Vec<u8>]) -> Vec<String> {
    let mut room = COMMAND_KEPT;
    let mut shown = Vec::new();
    for argument in arguments {
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

/// Whether any trainer or launcher is left to watch.
pub fn anyone_training<'a>(mut infos: impl Iterator<Item = &'a ProcessInfo>) -> bool {
    infos.any(|info| matches!(info.role, Role::Trainer | Role::Launcher))
}

#[cfg(test)]
mod tests;
