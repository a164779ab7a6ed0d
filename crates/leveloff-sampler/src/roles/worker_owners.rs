//! Which process owns which workers: the best evidence for a trainer that a tree gives.

use leveloff_model::process::{Pid, Role};

use super::commands::named_parent;
use super::reason::OwnedWorkers;
use super::tree::Tree;
use super::{Decision, has_role};

/// For each process, the workers that it created.
pub(super) struct WorkerOwners(Vec<Owned>);

#[derive(Default, Clone)]
struct Owned {
    /// Its own pid, as its compile pool names it.
    pool: Option<Pid>,
    loaders: usize,
    compilers: usize,
}

impl WorkerOwners {
    pub(super) fn of(tree: &Tree<'_>, roles: &[Option<Decision>]) -> WorkerOwners {
        let mut owned = vec![Owned::default(); tree.indices().len()];
        for worker in tree.indices() {
            if let Some(named) = named_parent(&tree[worker]) {
                // Orphans name their trainer, too.
                if let Some(owner) = tree.by_own_pid(worker, named) {
                    owned[owner].pool = Some(named);
                }
            } else if let Some(owner) = tree.creator(worker) {
                owned[owner].loaders +=
                    usize::from(has_role(roles, worker, Role::DataloaderWorker));
                owned[owner].compilers += usize::from(has_role(roles, worker, Role::CompileWorker));
            }
        }
        WorkerOwners(owned)
    }

    /// The workers that a process owns, if any.
    pub(super) fn owned(&self, index: usize) -> Option<OwnedWorkers> {
        let owned = &self.0[index];
        match (owned.pool, owned.loaders, owned.compilers) {
            (Some(pid), _, _) => Some(OwnedWorkers::CompilePool(pid)),
            (None, 0, 0) => None,
            (None, 0, compilers) => Some(OwnedWorkers::Compilers(compilers)),
            (None, loaders, _) => Some(OwnedWorkers::Loaders(loaders)),
        }
    }
}
