//! Which of a job's trainers a process is, or belongs to.

use leveloff_model::process::{Rank, Role};

use super::commands::named_parent;
use super::tree::Tree;
use super::{Decision, has_role};
use crate::facts::ProcessFacts;

type Roles = [Option<Decision>];

/// Each process's rank: a trainer's own, and for the others that of the trainer they belong to.
pub(super) fn of_all(tree: &Tree<'_>, roles: &Roles) -> Vec<Option<Rank>> {
    let own: Vec<Option<Rank>> = tree
        .indices()
        .map(|index| trainer_rank(tree, roles, index))
        .collect();
    tree.indices()
        .map(|index| {
            if has_role(roles, index, Role::Launcher) {
                None
            } else {
                own[trainer_of(tree, roles, index)?]
            }
        })
        .collect()
}

fn trainer_rank(tree: &Tree<'_>, roles: &Roles, index: usize) -> Option<Rank> {
    if !has_role(roles, index, Role::Trainer) {
        return None;
    }
    match &tree[index].environment {
        Some(environment) if environment.any_rank().is_some() => environment.any_rank(),
        _ => is_first_of_copies(tree, roles, index).then_some(Rank(0)),
    }
}

/// Itself, the nearest trainer above, or the one that an orphaned compile worker names.
pub(super) fn trainer_of(tree: &Tree<'_>, roles: &Roles, index: usize) -> Option<usize> {
    let trains = |&at: &usize| has_role(roles, at, Role::Trainer);
    std::iter::once(index)
        .chain(tree.links.ancestors(index))
        .find(trains)
        .or_else(|| {
            tree.by_own_pid(index, named_parent(&tree[index])?)
                .filter(trains)
        })
}

/// The trainers that a process started and gave ranks that it does not have itself. Those that it only
/// adopted, as the user's service manager does, have another session.
pub(super) fn given_by(tree: &Tree<'_>, roles: &Roles, parent: usize) -> Vec<usize> {
    trainer_children(tree, roles, parent)
        .filter(|&child| is_ranked_by(tree, child, parent))
        .filter(|&child| tree[child].session == tree[parent].session)
        .collect()
}

fn rank_in_environment(facts: &ProcessFacts) -> Option<Rank> {
    facts.environment.as_ref()?.any_rank()
}

pub(super) fn is_ranked_by(tree: &Tree<'_>, child: usize, parent: usize) -> bool {
    rank_in_environment(&tree[child]).is_some() && rank_in_environment(&tree[parent]).is_none()
}

/// Whether it is rank 0: it runs the same command as its children, which have ranks from 1 on, as Lightning
/// starts them. A process that also started rank 0 only launches the ranks.
pub(super) fn is_first_of_copies(tree: &Tree<'_>, roles: &Roles, index: usize) -> bool {
    let is_ranked_copy = |&child: &usize| {
        tree[child].command == tree[index].command && is_ranked_by(tree, child, index)
    };
    let is_first = |child: usize| rank_in_environment(&tree[child]) == Some(Rank(0));
    let copies = tree
        .links
        .children(index)
        .iter()
        .copied()
        .filter(is_ranked_copy);
    trainer_children(tree, roles, index).any(|child| is_ranked_copy(&child))
        && !copies.into_iter().any(is_first)
}

/// The children of a process that train.
pub(super) fn trainer_children(
    tree: &Tree<'_>,
    roles: &Roles,
    index: usize,
) -> impl Iterator<Item = usize> {
    tree.links
        .children(index)
        .iter()
        .copied()
        .filter(|&child| has_role(roles, child, Role::Trainer))
}
