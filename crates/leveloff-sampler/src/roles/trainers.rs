//! Who trains, by its own evidence and by the tree's.

use leveloff_model::process::{Pid, Role};

use super::owners::Owners;
use super::phrases::is_spawned;
use super::programs::{is_shell, is_wrapper};
use super::ranks::{given_by, is_first_of_copies, is_ranked_by};
use super::tree::Tree;
use super::{Judged, has_role};
use crate::facts::{Framework, ProcessFacts};

type Roles = [Option<Judged>];

/// Maps a framework, or computes on a GPU, and is nobody's copy.
pub(super) fn by_own_evidence(facts: &ProcessFacts) -> Option<Judged> {
    let why = match facts.framework() {
        Some(Framework::TensorFlow) if facts.program() == b"tensorboard" => return None,
        Some(Framework::Candle) => format!("has {}", facts.libraries.as_ref()?.evidence),
        Some(_) => format!(
            "maps {}, is nobody's copy",
            facts.libraries.as_ref()?.evidence
        ),
        None => format!(
            "holds {} open and draws no windows",
            computing_device(facts)?
        ),
    };
    Some(Judged::new(Role::Trainer, why))
}

/// What a process does that only a training one does; a mapped framework is not enough for one
/// that multiprocessing made.
pub(super) fn sign_of_training(facts: &ProcessFacts) -> Option<String> {
    let thread = facts
        .training_threads
        .as_ref()
        .and_then(|threads| threads.0.first());
    match thread {
        Some(thread) => Some(format!("has a thread {thread}")),
        None => computing_device(facts).map(|device| format!("holds {device} open")),
    }
}

/// Owners of workers train, whatever made them; so do those that work while their maker waits, and
/// siblings of the same making.
pub(super) fn promote(tree: &Tree<'_>, roles: &mut Roles, owners: &Owners) {
    for index in tree.indices() {
        if let Some(sign) = owners.sign(index) {
            match &mut roles[index] {
                Some(judged) if judged.role == Role::Trainer => judged.why += &format!(", {sign}"),
                Some(judged) if judged.is_undecided() => *judged = Judged::new(Role::Trainer, sign),
                _ => {}
            }
        }
    }
    promote_undecided(tree, roles, |roles, index| {
        works_for_its_maker(tree, roles, owners, index)
    });
    promote_undecided(tree, roles, |roles, index| {
        like_a_sibling(tree, roles, index)
    });
}

/// A process that only started the trainers with multiprocessing, or set their ranks, does not
/// train itself, though it maps the framework.
pub(super) fn demote_starters(tree: &Tree<'_>, roles: &mut Roles, owners: &Owners) {
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
            let (count, first) = (started.len(), tree[first].pid());
            let why = format!(
                "started {count} of the trainers ({first} first), shows no training of its own"
            );
            roles[index] = Some(Judged::new(Role::Launcher, why));
        }
    }
}

/// Whoever gave several trainers their ranks launched them, whatever program it is. A shell that
/// somebody types into is none, and process 1 collects everybody's orphans.
pub(super) fn name_givers_of_ranks(tree: &Tree<'_>, roles: &mut Roles) {
    for index in tree.indices() {
        let facts = &tree[index];
        let is_typed_into = is_shell(facts) && !is_wrapper(facts);
        if roles[index].is_some() || is_typed_into || facts.pid() == Pid(1) {
            continue;
        }
        if let given @ [first, _, ..] = &given_by(tree, roles, index)[..] {
            let (count, first) = (given.len(), tree[*first].pid());
            let why = format!("gave {count} trainers their ranks ({first} first)");
            roles[index] = Some(Judged::new(Role::Launcher, why));
        }
    }
}

/// Whoever stands above a trainer and is nothing else launched it: all of them up to `root`; when
/// there is none, only known wrappers, or half the machine would be launchers.
pub(super) fn name_launchers(tree: &Tree<'_>, roles: &mut Roles, root: Option<Pid>) {
    for index in tree.indices() {
        if !has_role(roles, index, Role::Trainer) {
            continue;
        }
        let started = tree[index].pid();
        for above in tree.ancestors(index) {
            let known = is_wrapper(&tree[above]);
            if roles[above].is_none() && (root.is_some() || known) {
                roles[above] = Some(Judged::new(
                    Role::Launcher,
                    format!("started the trainer {started}"),
                ));
            } else if root.is_none() && roles[above].is_none() {
                break;
            }
            if root == Some(tree[above].pid()) {
                break;
            }
        }
    }
}

fn computing_device(facts: &ProcessFacts) -> Option<&str> {
    let draws = facts
        .libraries
        .as_ref()
        .is_none_or(|libraries| libraries.displays);
    facts.gpu.as_ref()?.compute().filter(|_| !draws)
}

fn shows_training(tree: &Tree<'_>, owners: &Owners, index: usize) -> bool {
    sign_of_training(&tree[index]).is_some() || owners.sign(index).is_some()
}

fn promote_undecided(
    tree: &Tree<'_>,
    roles: &mut Roles,
    why: impl Fn(&Roles, usize) -> Option<String>,
) {
    for index in tree.indices() {
        if roles[index].as_ref().is_some_and(Judged::is_undecided)
            && tree[index].framework().is_some()
            && let Some(why) = why(roles, index)
        {
            roles[index] = Some(Judged::new(Role::Trainer, why));
        }
    }
}

/// A child that has worked for long while its maker, which shows no training, waits for it.
fn works_for_its_maker(
    tree: &Tree<'_>,
    roles: &Roles,
    owners: &Owners,
    index: usize,
) -> Option<String> {
    let maker = tree.maker(index)?;
    let works = works_for(&tree[index], &tree[maker]);
    let waits = has_role(roles, maker, Role::Trainer) && !shows_training(tree, owners, maker);
    (works && waits).then(|| {
        let maker = tree[maker].pid();
        format!("was made by {maker}, works while that one waits, and shows no sign of a worker")
    })
}

/// Has worked for long, while the other one hardly did.
pub(super) fn works_for(facts: &ProcessFacts, maker: &ProcessFacts) -> bool {
    let (mine, makers) = (facts.cpu_ticks, maker.cpu_ticks);
    mine >= LONG_WORK_TICKS && mine / WORKS_TIMES_MORE >= makers
}

/// Half a minute: ten times what the import of torch takes, in clock ticks.
const LONG_WORK_TICKS: u64 = 3000;
const WORKS_TIMES_MORE: u64 = 4;

fn like_a_sibling(tree: &Tree<'_>, roles: &Roles, index: usize) -> Option<String> {
    let siblings = tree.children(tree.parent(index)?);
    let trains = |sibling: usize| {
        has_role(roles, sibling, Role::Trainer)
            && is_spawned(&tree[sibling]) == is_spawned(&tree[index])
    };
    let sibling = siblings.iter().copied().find(|&sibling| trains(sibling))?;
    Some(format!(
        "was made like its sibling {}, which trains",
        tree[sibling].pid()
    ))
}

pub(super) fn trainer_children(
    tree: &Tree<'_>,
    roles: &Roles,
    index: usize,
) -> impl Iterator<Item = usize> {
    tree.children(index)
        .iter()
        .copied()
        .filter(|&child| has_role(roles, child, Role::Trainer))
}
