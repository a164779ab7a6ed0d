//! Chooses the trainer of a tree in which no process maps a framework.
//!
//! The processes in front of a command are short-lived: a shim is a script that starts a dozen helpers and
//! then becomes the real program, an activation runs for a second, a shell waits. So a process must have
//! lived for a while to be chosen, and the choice is repeated whenever the tree is examined.

use leveloff_model::process::{Pid, Role};
use leveloff_model::units::{Bytes, Seconds};

use super::programs::{is_shell, is_wrapper};
use super::python::is_spawned;
use super::reason::RoleReason;
use super::trainers::works_for;
use super::tree::Tree;
use super::{Decision, PreviousRoles, has_role};
use crate::facts::ProcessFacts;

type Roles = [Option<Decision>];

/// Makes a trainer of one process in the tree of the root, unless there is one: the root, or the process
/// below it that works while the root only launches. Returns whether one had to be chosen.
pub(super) fn ensure_one(
    tree: &Tree<'_>,
    roles: &mut Roles,
    root: usize,
    previous: Option<&PreviousRoles>,
) -> bool {
    let below = tree.descendants(root);
    let trains = |&index: &usize| has_role(roles, index, Role::Trainer);
    if trains(&root) || below.iter().any(trains) {
        return false;
    }
    let root_process = Root {
        facts: &tree[root],
        is_launcher: has_role(roles, root, Role::Launcher),
    };
    let before = previous.and_then(|previous| previous.trainer);
    let works = |&index: &usize| {
        let facts = &tree[index];
        let is_passing = previous.is_some() && !has_lived(facts, LASTING);
        is_program_of_its_own(tree, roles, index)
            && !is_passing
            && root_process.leaves_work_to(facts, before)
    };
    let workers: Vec<usize> = below.into_iter().filter(works).collect();
    let (chosen, role, reason) = match largest(tree, &workers, before) {
        Some(largest) => (largest, Role::Trainer, RoleReason::Largest),
        // Its trainers have not started yet, or have exited.
        None if root_process.is_launcher => return true,
        None if root_process.is_wrapper() => (root, Role::Launcher, RoleReason::RunsCommand),
        None => (root, Role::Trainer, RoleReason::Root),
    };
    roles[chosen] = Some(Decision::new(role, reason));
    true
}

/// Marks the processes that could have been chosen as undecided, so that they are examined often.
pub(super) fn mark_undecided(tree: &Tree<'_>, roles: &mut Roles, root: usize) {
    for index in tree.descendants(root) {
        if roles[index].is_none() && is_program_of_its_own(tree, roles, index) {
            roles[index] = Some(Decision::new(Role::Other, RoleReason::NoFrameworkYet));
        }
    }
}

/// A process that has lived for less may be a short-lived helper. Just under the second after which a new
/// process is examined again; the helpers of a shim live for a tenth of that, even on a busy machine.
const LASTING: Seconds = Seconds(0.9);

/// Short commands that a program runs (a version, a list of packages) have ended by then.
const LONG: Seconds = Seconds(10.0);

/// With this much more memory a process counts as the worker, whatever CPU time both used.
const HOLDS_TIMES_MORE: u64 = 4;

/// A new trainer must be this much larger, or two of about the same size would alternate.
const MUCH_LARGER: u64 = 2;

/// A script that only starts programs uses a few hundredths of a second of CPU time. With a whole second,
/// in clock ticks, it works itself.
const SCRIPT_TICKS: u64 = 100;

/// The process that the user named or started.
struct Root<'a> {
    facts: &'a ProcessFacts,
    is_launcher: bool,
}

impl Root<'_> {
    /// Whether it only ever runs another program. A shell script may do more.
    fn is_wrapper(&self) -> bool {
        is_wrapper(self.facts) && !is_shell(self.facts)
    }

    /// Whether it only launches, and `other` works.
    fn leaves_work_to(&self, other: &ProcessFacts, before: Option<Pid>) -> bool {
        let is_larger = held(other) > held(self.facts);
        if is_shell(self.facts) {
            let works_more = other.cpu_ticks > self.facts.cpu_ticks;
            return is_larger || works_more || self.facts.cpu_ticks < SCRIPT_TICKS;
        }
        if self.is_launcher || self.is_wrapper() {
            return true;
        }
        let is_before = Some(other.pid()) == before;
        let holds_all =
            held(other) / HOLDS_TIMES_MORE >= held(self.facts) && has_lived(other, LONG);
        is_larger && (is_before || holds_all || works_for(other, self.facts))
    }
}

/// Whether it may be chosen: it is alive, has no other role, does not wait for others, and is not a copy of
/// a process that may be chosen itself. A worker of a pool may be larger than the program that owns it.
fn is_program_of_its_own(tree: &Tree<'_>, roles: &Roles, index: usize) -> bool {
    let facts = &tree[index];
    let is_created = || {
        let parent = tree.links.parent(index);
        is_spawned(facts) || parent.is_some_and(|parent| tree.is_copy_of(index, parent))
    };
    let has_creator = tree
        .creator(index)
        .is_some_and(|creator| is_alive(&tree[creator]) && !waits(&tree[creator]));
    roles[index].as_ref().is_none_or(Decision::is_undecided)
        && is_alive(facts)
        && !waits(facts)
        && !(has_creator && is_created())
}

fn largest(tree: &Tree<'_>, workers: &[usize], before: Option<Pid>) -> Option<usize> {
    let size = |&index: &usize| held(&tree[index]);
    let largest = workers.iter().copied().max_by_key(size)?;
    let mut others = workers.iter().copied();
    let before = others.find(|&index| Some(tree[index].pid()) == before);
    let is_much_larger = |before: &usize| held(&tree[largest]) / MUCH_LARGER >= size(before);
    before
        .filter(|before| !is_much_larger(before))
        .or(Some(largest))
}

fn held(facts: &ProcessFacts) -> u64 {
    let memory = facts.memory.unwrap_or_default();
    let Bytes(held) = memory.anon + memory.swap;
    held
}

/// An unknown age counts as long enough.
fn has_lived(facts: &ProcessFacts, long: Seconds) -> bool {
    facts.age.is_none_or(|age| age >= long)
}

fn waits(facts: &ProcessFacts) -> bool {
    is_shell(facts) || is_wrapper(facts) || facts.program() == b"sleep"
}

fn is_alive(facts: &ProcessFacts) -> bool {
    !facts.state.is_gone() && facts.memory.is_some()
}
