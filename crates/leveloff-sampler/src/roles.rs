//! Decides the role of each process in a training's tree.
//!
//! The rules are pure functions over [`ProcessFacts`], applied in this order: what the command or name shows
//! (`commands`, `programs`, `ray`, `engines`); for a process that Python's multiprocessing created, or a copy of its parent,
//! what it set up for itself (`created_processes`); whether it maps a framework or computes on a GPU. Then
//! the tree decides: which processes own workers (`worker_owners`), started trainers (`trainers`), belong
//! to which rank (`ranks`); and when no process maps a framework, which one does the work
//! (`fallback_trainer`).
//!
//! Where evidence is missing the role is `other`, with a [`RoleReason`] that says so. A spawned worker shows
//! its role only after it has imported torch, so `RoleTracker` examines young processes again.
//!
//! A new role takes three files: its variant and name in `leveloff-model`, its name in the recording
//! (`recording/v1/names.rs`), and its rule here. A worker that names itself is a line in `commands`;
//! [`RoleReason::Program`] and [`RoleReason::Name`] serve other rules for programs and process names.
//! Outputs show a role by its name. A colour in the HTML report (`report.css`) is optional.

mod commands;
mod created_processes;
mod engines;
mod fallback_trainer;
mod programs;
mod python;
mod ranks;
mod ray;
mod reason;
pub(crate) mod role_tracker;
mod trainers;
mod tree;
mod worker_owners;

use std::collections::BTreeMap;

use leveloff_model::process::{Pid, ProcessState, Rank, Role};

use crate::facts::ProcessFacts;
use tree::Tree;
use worker_owners::WorkerOwners;

pub(crate) use commands::{is_leveloff, named_parent};
pub(crate) use programs::is_wrapper;
pub use programs::{STARTER_ARGUMENT, is_shell_name};
pub(crate) use ray::is_driver;
pub use reason::{ChildSign, Creation, OwnedWorkers, RoleReason, TrainingSign};
pub(crate) use role_tracker::{RoleChange, RoleTracker};

/// The role of a process, and the evidence for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Its role.
    pub role: Role,
    /// Which of the job's trainers it is, or belongs to.
    pub rank: Option<Rank>,
    /// The evidence.
    pub reason: RoleReason,
}

/// Assigns a role to each process, in the same order.
///
/// `root` is the process that a user named or started. With it, one process in its tree is the trainer even
/// when no framework is mapped, and the processes between it and a trainer are launchers. Without it,
/// `processes` may be a whole machine, and most are `other`.
pub fn assign(processes: &[ProcessFacts], root: Option<Pid>) -> Vec<Assignment> {
    assign_by(processes, root, None)
}

/// The same for a tree that is examined repeatedly. Where only size and work show which process trains, a
/// new process must have lived for a while, and the `previous` trainer stays until another is much larger.
pub(crate) fn reassign(
    processes: &[ProcessFacts],
    root: Option<Pid>,
    previous: PreviousRoles,
) -> Vec<Assignment> {
    assign_by(processes, root, Some(previous))
}

/// What the last examination of the tree found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PreviousRoles {
    /// The trainer, the first one if there were several.
    pub trainer: Option<Pid>,
    /// For each process, the role of all the children that it has spawned so far and whose role is known.
    pub spawned: BTreeMap<Pid, Role>,
}

/// The trainer that each process is or belongs to, in the same order.
pub(crate) fn trainers_of(
    processes: &[ProcessFacts],
    assignments: &[Assignment],
) -> Vec<Option<Pid>> {
    let tree = Tree::new(processes);
    let decided = |one: &Assignment| Some(Decision::new(one.role, one.reason.clone()));
    let roles: Vec<Option<Decision>> = assignments.iter().map(decided).collect();
    tree.indices()
        .map(|index| {
            ranks::trainer_of(&tree, &roles, index).map(|trainer| processes[trainer].pid())
        })
        .collect()
}

/// A role and its reason, before ranks are known.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Decision {
    role: Role,
    reason: RoleReason,
}

impl Decision {
    fn new(role: Role, reason: RoleReason) -> Decision {
        Decision { role, reason }
    }

    fn is_undecided(&self) -> bool {
        self.reason.is_undecided()
    }
}

fn assign_by(
    processes: &[ProcessFacts],
    root: Option<Pid>,
    previous: Option<PreviousRoles>,
) -> Vec<Assignment> {
    let tree = Tree::new(processes);
    let mut roles: Vec<Option<Decision>> = vec![None; processes.len()];
    // Parents come first, because the role of a child depends on that of its parent.
    for index in tree.parents_first() {
        roles[index] = decide(&tree, &roles, previous.as_ref(), index);
    }
    let owners = WorkerOwners::of(&tree, &roles);
    trainers::promote(&tree, &mut roles, &owners);
    trainers::demote_starters(&tree, &mut roles, &owners);
    ray::name_drivers(&tree, &mut roles, &owners);
    engines::name_servers(&tree, &mut roles);
    trainers::name_rank_assigners(&tree, &mut roles);
    let root_index = root.and_then(|pid| tree.links.index(pid));
    let was_chosen = root_index
        .filter(|&root| fallback_trainer::ensure_one(&tree, &mut roles, root, previous.as_ref()));
    trainers::name_launchers(&tree, &mut roles, root);
    if let Some(root) = was_chosen {
        fallback_trainer::mark_undecided(&tree, &mut roles, root);
    }
    let ranks = ranks::of_all(&tree, &roles);
    roles
        .into_iter()
        .zip(ranks)
        .enumerate()
        .map(|(index, (decision, rank))| {
            let (role, reason) = match decision {
                Some(decision) => (decision.role, decision.reason),
                None => (Role::Other, reason_for_other(&tree[index])),
            };
            Assignment { role, rank, reason }
        })
        .collect()
}

fn has_role(roles: &[Option<Decision>], index: usize, role: Role) -> bool {
    roles[index]
        .as_ref()
        .is_some_and(|decision| decision.role == role)
}

fn decide(
    tree: &Tree<'_>,
    roles: &[Option<Decision>],
    previous: Option<&PreviousRoles>,
    index: usize,
) -> Option<Decision> {
    let facts = &tree[index];
    if is_leveloff(facts) {
        return Some(Decision::new(Role::Other, RoleReason::Leveloff));
    }
    commands::compile_process(tree, index)
        .or_else(|| commands::compile_probe(facts))
        .or_else(|| commands::named_worker(facts))
        .or_else(|| ray::decide(tree, index))
        .or_else(|| engines::titled(tree, index))
        .or_else(|| created_processes::decide(tree, roles, previous, index))
        .or_else(|| commands::helper(facts))
        .or_else(|| programs::compiler(facts))
        .or_else(|| programs::job_launcher(facts))
        .or_else(|| trainers::by_own_evidence(facts))
}

fn reason_for_other(facts: &ProcessFacts) -> RoleReason {
    match (facts.state, &facts.libraries, &facts.notes[..]) {
        (ProcessState::Zombie, _, _) => RoleReason::Zombie,
        (_, None, [note, ..]) => RoleReason::UnreadableMappings(note.clone()),
        _ => RoleReason::NoFramework,
    }
}

#[cfg(test)]
mod tests;
