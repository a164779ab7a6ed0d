//! Ray: its servers, its workers, and the program that uses them.

use leveloff_model::process::{Role, printable};

use super::reason::{RoleReason, TrainingSign};
use super::tree::Tree;
use super::worker_owners::WorkerOwners;
use super::{Decision, has_role, trainers};
use crate::facts::ProcessFacts;
use crate::facts::ray::{self, RayProgram, TITLE, steady_title};

type Roles = [Option<Decision>];

/// Classes of Ray's libraries, and of verl, whose actors run the training loop. A name of the kernel is cut at 15 bytes,
/// so the beginning must do: `ray::RayTrainWo`.
const TRAINING_CLASSES: [&[u8]; 5] = [
    b"RayTrainWorker",
    b"_RayTrainWorker",
    b"_WrappedExecutable",
    b"ImplicitFunc",
    b"WorkerDict",
];

/// Titles of servers that the raylet starts.
const SERVER_TITLES: [&[u8]; 3] = [b"DashboardAgent", b"RuntimeEnvAgent", b"Dashboard"];

/// What the kernel keeps of a name.
const KERNEL_NAME: usize = 15;

/// A server or a worker of Ray. The title of a fork is its parent's until it sets its own, so a fork with the same
/// title is decided by what it sets up.
pub(super) fn decide(tree: &Tree<'_>, index: usize) -> Option<Decision> {
    let facts = &tree[index];
    let parent = tree.links.parent(index);
    let is_same_fork =
        |parent: usize| tree.is_copy_of(index, parent) && title(facts) == title(&tree[parent]);
    if parent.is_some_and(is_same_fork) {
        return None;
    }
    if let Some(title) = title(facts) {
        let class = steady_title(title).strip_prefix(TITLE)?;
        let role = match () {
            () if is_any(&SERVER_TITLES, title, class) => Role::Helper,
            () if is_any(&TRAINING_CLASSES, title, class) || has_training_thread(facts) => {
                Role::Trainer
            }
            () => Role::Actor,
        };
        return Some(Decision::new(
            role,
            RoleReason::Title(printable(steady_title(title))),
        ));
    }
    let (role, name) = match ray::program(&facts.command)? {
        RayProgram::Server(name) => (Role::Helper, name),
        RayProgram::Worker(name) => (Role::Actor, name),
    };
    Some(Decision::new(role, RoleReason::Program(printable(name))))
}

/// The program that started the trainers of its session only launches them, whichever framework it maps.
pub(super) fn name_drivers(tree: &Tree<'_>, roles: &mut Roles, owners: &WorkerOwners) {
    for index in tree.indices() {
        let facts = &tree[index];
        let trains = trainers::shows_training(tree, owners, index);
        let is_open = roles[index].is_none() || has_role(roles, index, Role::Trainer);
        if !is_driver(facts) || trains || !is_open {
            continue;
        }
        let of_session = |&other: &usize| {
            is_worker(&tree[other])
                && has_role(roles, other, Role::Trainer)
                && tree[other].ray_session == facts.ray_session
        };
        let started: Vec<usize> = tree.indices().filter(of_session).collect();
        if let [first, ..] = started[..] {
            let reason = RoleReason::StartedTrainers(started.len(), tree[first].pid());
            roles[index] = Some(Decision::new(Role::Launcher, reason));
        }
    }
}

/// Whether it is a program that uses Ray: neither a server nor a worker.
pub(crate) fn is_driver(facts: &ProcessFacts) -> bool {
    facts.ray_session.is_some() && !is_worker(facts) && ray::program(&facts.command).is_none()
}

fn is_worker(facts: &ProcessFacts) -> bool {
    title(facts).is_some()
}

/// Its title: of its command line, or else its name, which the kernel cuts.
fn title(facts: &ProcessFacts) -> Option<&[u8]> {
    let titles = facts.command.first().into_iter().chain([&facts.comm]);
    let mut titles = titles.map(Vec::as_slice);
    titles.find(|title| title.starts_with(TITLE))
}

fn is_any(classes: &[&[u8]], title: &[u8], class: &[u8]) -> bool {
    let is_cut = title.len() >= KERNEL_NAME && class.len() + TITLE.len() == KERNEL_NAME;
    classes.iter().any(|known| {
        class == *known
            || is_cut && known.starts_with(class)
            || class.starts_with(&[known, &b"__"[..]].concat())
    })
}

fn has_training_thread(facts: &ProcessFacts) -> bool {
    matches!(
        trainers::sign_of_training(facts),
        Some(TrainingSign::Thread(_))
    )
}
