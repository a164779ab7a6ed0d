//! Who is who in a training tree: a pure function over what was seen of its processes.
//!
//! A process is asked in this order. What does its command or name say of it (`phrases`,
//! `programs`)? If it was made by Python's multiprocessing or is a copy of its parent, what did
//! it set up for itself (`children`)? Does it map a framework, or compute on a GPU? Then the tree
//! is asked: who owns workers, who started trainers, who belongs to which rank; and when nobody
//! shows a framework, who does the work (`workhorse`).
//!
//! Where evidence is missing the answer is `other` and says so. A spawned worker shows what it is
//! only after it has imported torch, so a young process is worth asking again.

mod children;
mod owners;
mod phrases;
mod programs;
mod python;
mod ranks;
mod trainers;
mod tree;
mod workhorse;

use leveloff_model::process::{Pid, ProcessState, Rank, Role};

use crate::facts::ProcessFacts;
use owners::Owners;
use tree::Tree;

pub(crate) use phrases::{is_ours, named_parent};
pub(crate) use programs::is_wrapper;
pub use programs::{STARTER_ARGUMENT, is_shell_name};

/// The part that a process plays, and why it is thought to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Its part.
    pub role: Role,
    /// Which of the job's trainers it is, or belongs to.
    pub rank: Option<Rank>,
    /// The evidence, in words.
    pub why: String,
}

impl Assignment {
    /// Whether it may still show what it is: a training process had it made, or nobody in its tree
    /// shows a framework.
    pub fn is_undecided(&self) -> bool {
        children::is_undecided(self.role, &self.why)
    }
}

/// Assigns a role to each process, in the same order.
///
/// `root` is the process that a user named or started. With it, something in its tree is the
/// trainer even when no framework is mapped, and whoever stands between it and a trainer is a
/// launcher. Without it, `processes` may be a whole machine, and most are `other`.
pub fn assign(processes: &[ProcessFacts], root: Option<Pid>) -> Vec<Assignment> {
    assign_by(processes, root, None)
}

/// The same for a tree that is looked at again and again, so that there is time: where only size and
/// work tell who trains, newcomers have to last, and `earlier` holds until another is plainly the one.
pub fn assign_again(
    processes: &[ProcessFacts],
    root: Option<Pid>,
    earlier: Earlier,
) -> Vec<Assignment> {
    assign_by(processes, root, Some(earlier))
}

/// What was found when the tree was last looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Earlier {
    /// The trainer, the first one if there were several.
    pub trainer: Option<Pid>,
}

/// The trainer that each process is or belongs to, in the same order.
pub fn trainers_of(processes: &[ProcessFacts], assignments: &[Assignment]) -> Vec<Option<Pid>> {
    let tree = Tree::new(processes);
    let judged = |assignment: &Assignment| Some(Judged::new(assignment.role, ""));
    let roles: Vec<Option<Judged>> = assignments.iter().map(judged).collect();
    tree.indices()
        .map(|index| {
            ranks::trainer_of(&tree, &roles, index).map(|trainer| processes[trainer].pid())
        })
        .collect()
}

/// A role and its reason, before ranks are known.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Judged {
    role: Role,
    why: String,
}

impl Judged {
    fn new(role: Role, why: impl Into<String>) -> Judged {
        Judged {
            role,
            why: why.into(),
        }
    }

    fn is_undecided(&self) -> bool {
        children::is_undecided(self.role, &self.why)
    }

    fn into_assignment(self, rank: Option<Rank>) -> Assignment {
        Assignment {
            role: self.role,
            rank,
            why: self.why,
        }
    }
}

fn assign_by(
    processes: &[ProcessFacts],
    root: Option<Pid>,
    earlier: Option<Earlier>,
) -> Vec<Assignment> {
    let tree = Tree::new(processes);
    let mut roles: Vec<Option<Judged>> = vec![None; processes.len()];
    // Parents come first, because a child is judged by what its parent is.
    for index in tree.parents_first() {
        roles[index] = judge(&tree, &roles, index);
    }
    let owners = Owners::of(&tree, &roles);
    trainers::promote(&tree, &mut roles, &owners);
    trainers::demote_starters(&tree, &mut roles, &owners);
    trainers::name_givers_of_ranks(&tree, &mut roles);
    let named = root.and_then(|pid| tree.index(pid));
    let chosen_in = named.filter(|&named| workhorse::ensure_one(&tree, &mut roles, named, earlier));
    trainers::name_launchers(&tree, &mut roles, root);
    if let Some(named) = chosen_in {
        workhorse::leave_open(&tree, &mut roles, named);
    }
    let ranks = ranks::of_all(&tree, &roles);
    roles
        .into_iter()
        .zip(ranks)
        .enumerate()
        .map(|(index, (judged, rank))| {
            judged
                .unwrap_or_else(|| other(&tree, index))
                .into_assignment(rank)
        })
        .collect()
}

fn has_role(roles: &[Option<Judged>], index: usize, role: Role) -> bool {
    roles[index]
        .as_ref()
        .is_some_and(|judged| judged.role == role)
}

fn judge(tree: &Tree<'_>, roles: &[Option<Judged>], index: usize) -> Option<Judged> {
    let facts = &tree[index];
    if is_ours(facts) {
        return Some(Judged::new(Role::Other, "leveloff itself"));
    }
    phrases::compile_process(tree, index)
        .or_else(|| phrases::compile_probe(facts))
        .or_else(|| phrases::named_loader(facts))
        .or_else(|| children::judge(tree, roles, index))
        .or_else(|| phrases::helper(facts))
        .or_else(|| programs::compiler(facts))
        .or_else(|| programs::job_launcher(facts))
        .or_else(|| trainers::by_own_evidence(facts))
}

fn other(tree: &Tree<'_>, index: usize) -> Judged {
    let facts = &tree[index];
    let why = match (facts.state, &facts.libraries) {
        (ProcessState::Zombie, _) => "has ended and is not yet collected by its parent".to_owned(),
        (_, None) if !facts.notes.is_empty() => {
            format!("its mappings could not be read ({})", facts.notes[0])
        }
        _ => "maps no framework".to_owned(),
    };
    Judged::new(Role::Other, why)
}

#[cfg(test)]
mod tests;
