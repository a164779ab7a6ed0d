//! Who plays which part, as far as it is known by now.
//!
//! A process is examined when it appears and a few times more while it is young: a spawned worker
//! renames itself, and a trainer maps torch, only seconds after its start. Later it is examined
//! when its name or its parent changes.

use std::collections::BTreeMap;

use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, Role, printable};
use leveloff_model::units::Seconds;

use crate::facts::{self, Depth, ProcessFacts};
use crate::proc_root::ProcRoot;
use crate::roles::{self, Assignment};

/// The parts of the tree's processes.
#[derive(Debug, Default)]
pub struct Cast {
    root: Option<Pid>,
    players: BTreeMap<ProcessIndex, Player>,
}

#[derive(Debug)]
struct Player {
    key: ProcessKey,
    facts: Option<ProcessFacts>,
    /// What was last said of it.
    said: Option<ProcessInfo>,
    first_seen: Seconds,
    examinations: usize,
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

/// Ages at which a process is examined again.
const EXAMINE_AT: [Seconds; 6] = [
    Seconds(1.0),
    Seconds(2.0),
    Seconds(5.0),
    Seconds(10.0),
    Seconds(30.0),
    Seconds(120.0),
];

/// A look takes a third of a millisecond; a tree of a thousand must not hold a tick up.
const SECOND_LOOKS_PER_TICK: usize = 32;

impl Cast {
    /// An empty cast for a run whose root the user named, if so.
    pub fn new(root: Option<Pid>) -> Cast {
        Cast {
            root,
            players: BTreeMap::new(),
        }
    }

    /// A process joined.
    pub fn joined(&mut self, index: ProcessIndex, key: ProcessKey, now: Seconds) {
        let player = Player {
            key,
            facts: None,
            said: None,
            first_seen: now,
            examinations: 0,
            due: true,
        };
        self.players.insert(index, player);
    }

    /// A process has another name or parent.
    pub fn renamed(&mut self, index: ProcessIndex) {
        if let Some(player) = self.players.get_mut(&index) {
            player.due = true;
        }
    }

    /// A process is gone. Returns whether anything was ever said of it.
    pub fn left(&mut self, index: ProcessIndex) -> bool {
        self.players
            .remove(&index)
            .is_some_and(|player| player.said.is_some())
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
            let age_due = second_looks < SECOND_LOOKS_PER_TICK
                && EXAMINE_AT
                    .get(player.examinations.wrapping_sub(1))
                    .is_some_and(|age| (now - player.first_seen).0 >= age.0);
            if player.due || age_due {
                second_looks += usize::from(age_due);
                looked |= player.examine(proc_root, age_due);
            }
        }
        if looked { self.assign() } else { Vec::new() }
    }

    fn assign(&mut self) -> Vec<Part> {
        let facts: Vec<ProcessFacts> = self
            .players
            .values()
            .filter_map(|player| player.facts.clone())
            .collect();
        let mut assignments = roles::assign(&facts, self.root).into_iter();
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
}

impl Player {
    /// Looks again; whether there is anything to assign by.
    fn examine(&mut self, proc_root: &ProcRoot, on_schedule: bool) -> bool {
        self.due = false;
        if on_schedule || self.examinations == 0 {
            self.examinations += 1;
        }
        match facts::read(proc_root, self.key.pid, Depth::Full) {
            Ok(facts) if facts.key == self.key => {
                let news = self.facts.is_none() || self.facts.as_ref() != Some(&facts);
                self.facts = Some(facts);
                news
            }
            // Gone, or its number is somebody else's by now: what was known stands.
            Ok(_) | Err(_) => false,
        }
    }
}

fn process_info(index: ProcessIndex, facts: &ProcessFacts, assignment: Assignment) -> ProcessInfo {
    ProcessInfo {
        index,
        key: facts.key,
        parent: facts.parent,
        role: assignment.role,
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
