//! Which processes train, by their own evidence and by that of the tree.

use leveloff_model::process::{Pid, Role};

use super::programs::{is_shell, is_wrapper};
use super::python::is_spawned;
use super::ranks::{given_by, is_first_of_copies, is_ranked_by, trainer_children};
use super::reason::{RoleReason, TrainingSign};
use super::tree::Tree;
use super::worker_owners::WorkerOwners;
use super::{Decision, has_role};
use crate::facts::{Framework, ProcessFacts};

type Roles = [Option<Decision>];

/// A trainer by its own evidence: it maps a framework or computes on a GPU, and is not a forked copy.
pub(super) fn by_own_evidence(facts: &ProcessFacts) -> Option<Decision> {
    let evidence = || Some(facts.libraries.as_ref()?.evidence.clone());
    let reason = match facts.framework() {
        Some(Framework::TensorFlow) if facts.program() == b"tensorboard" => return None,
        Some(Framework::Candle) => RoleReason::FrameworkInside(evidence()?),
        Some(_) => RoleReason::Framework(evidence()?),
        None => RoleReason::ComputeDevice(computing_device(facts)?),
    };
    Some(Decision::new(Role::Trainer, reason))
}

/// What only a training process has. A mapped framework is not enough for a process that multiprocessing
/// created.
pub(super) fn sign_of_training(facts: &ProcessFacts) -> Option<TrainingSign> {
    let thread = facts
        .training_threads
        .as_ref()
        .and_then(|threads| threads.0.first());
    match thread {
        Some(thread) => Some(TrainingSign::Thread(thread.clone())),
        None => computing_device(facts).map(TrainingSign::Device),
    }
}

/// Makes trainers of the owners of workers, of processes that work while their creator waits, and of their
/// siblings.
pub(super) fn promote(tree: &Tree<'_>, roles: &mut Roles, owners: &WorkerOwners) {
    for index in tree.indices() {
        if let (Some(workers), Some(decision)) = (owners.owned(index), &mut roles[index]) {
            let reason = if decision.role == Role::Trainer {
                RoleReason::AlsoWorkers(Box::new(decision.reason.clone()), workers)
            } else if decision.reason.is_undecided() || decision.role == Role::Actor {
                RoleReason::Workers(workers)
            } else {
                continue;
            };
            *decision = Decision::new(Role::Trainer, reason);
        }
    }
    promote_undecided(tree, roles, |roles, index| {
        works_for_creator(tree, roles, owners, index)
    });
    promote_undecided(tree, roles, |roles, index| {
        like_a_sibling(tree, roles, index)
    });
}

/// A process that only started the trainers with multiprocessing, or set their ranks, does not
/// train itself, though it maps the framework.
pub(super) fn demote_starters(tree: &Tree<'_>, roles: &mut Roles, owners: &WorkerOwners) {
    for index in tree.indices() {
        if !has_role(roles, index, Role::Trainer)
            || shows_training(tree, owners, index)
            || is_first_of_copies(tree, roles, index)
        {
            continue;
        }
        let is_started = |&child: &usize| {
            is_spawned(&tree[child])
                || tree.is_copy_of(child, index)
                || is_ranked_by(tree, child, index)
        };
        let started: Vec<usize> = trainer_children(tree, roles, index)
            .filter(is_started)
            .collect();
        if let [first, ..] = started[..] {
            let reason = RoleReason::StartedTrainers(started.len(), tree[first].pid());
            roles[index] = Some(Decision::new(Role::Launcher, reason));
        }
    }
}

/// A process that gave several trainers their ranks is a launcher, whatever program it runs. An interactive
/// shell is not, and process 1 adopts all orphans.
pub(super) fn name_rank_assigners(tree: &Tree<'_>, roles: &mut Roles) {
    for index in tree.indices() {
        let facts = &tree[index];
        let is_interactive = is_shell(facts) && !is_wrapper(facts);
        if roles[index].is_some() || is_interactive || facts.pid() == Pid(1) {
            continue;
        }
        if let given @ [first, _, ..] = &given_by(tree, roles, index)[..] {
            let reason = RoleReason::AssignedRanks(given.len(), tree[*first].pid());
            roles[index] = Some(Decision::new(Role::Launcher, reason));
        }
    }
}

/// The ancestors of a trainer that have no other role are launchers: all of them up to `root`; without a
/// root only known wrappers, or half the machine would be launchers.
pub(super) fn name_launchers(tree: &Tree<'_>, roles: &mut Roles, root: Option<Pid>) {
    for index in tree.indices() {
        if !has_role(roles, index, Role::Trainer) {
            continue;
        }
        let started = tree[index].pid();
        for above in tree.links.ancestors(index) {
            let known = is_wrapper(&tree[above]);
            if roles[above].is_none() && (root.is_some() || known) {
                let reason = RoleReason::StartedTrainer(started);
                roles[above] = Some(Decision::new(Role::Launcher, reason));
            } else if root.is_none() && roles[above].is_none() {
                break;
            }
            if root == Some(tree[above].pid()) {
                break;
            }
        }
    }
}

fn computing_device(facts: &ProcessFacts) -> Option<String> {
    let draws = facts
        .libraries
        .as_ref()
        .is_none_or(|libraries| libraries.displays);
    let device = facts.gpu.as_ref()?.compute().filter(|_| !draws)?;
    Some(device.to_owned())
}

pub(super) fn shows_training(tree: &Tree<'_>, owners: &WorkerOwners, index: usize) -> bool {
    sign_of_training(&tree[index]).is_some() || owners.owned(index).is_some()
}

fn promote_undecided(
    tree: &Tree<'_>,
    roles: &mut Roles,
    reason: impl Fn(&Roles, usize) -> Option<RoleReason>,
) {
    for index in tree.indices() {
        if roles[index].as_ref().is_some_and(Decision::is_undecided)
            && tree[index].framework().is_some()
            && let Some(reason) = reason(roles, index)
        {
            roles[index] = Some(Decision::new(Role::Trainer, reason));
        }
    }
}

/// A child that has worked for long while its creator, which shows no training, waits for it.
fn works_for_creator(
    tree: &Tree<'_>,
    roles: &Roles,
    owners: &WorkerOwners,
    index: usize,
) -> Option<RoleReason> {
    let creator = tree.creator(index)?;
    let works = works_for(&tree[index], &tree[creator]);
    let waits = has_role(roles, creator, Role::Trainer) && !shows_training(tree, owners, creator);
    (works && waits).then(|| RoleReason::WorksForCreator(tree[creator].pid()))
}

/// Whether it has used much CPU time, and `other` little.
pub(super) fn works_for(facts: &ProcessFacts, other: &ProcessFacts) -> bool {
    facts.cpu_ticks >= LONG_WORK_TICKS && facts.cpu_ticks / WORKS_TIMES_MORE >= other.cpu_ticks
}

/// Half a minute: ten times what the import of torch takes, in clock ticks.
const LONG_WORK_TICKS: u64 = 3000;
const WORKS_TIMES_MORE: u64 = 4;

fn like_a_sibling(tree: &Tree<'_>, roles: &Roles, index: usize) -> Option<RoleReason> {
    let siblings = tree.links.children(tree.links.parent(index)?);
    let trains = |sibling: usize| {
        has_role(roles, sibling, Role::Trainer)
            && is_spawned(&tree[sibling]) == is_spawned(&tree[index])
    };
    let sibling = siblings.iter().copied().find(|&sibling| trains(sibling))?;
    Some(RoleReason::LikeSibling(tree[sibling].pid()))
}
