//! Which process owns which workers: the best sign of a trainer that a tree gives.

use leveloff_model::process::Role;

use super::phrases::named_parent;
use super::tree::Tree;
use super::{Judged, has_role};

/// For each process, the workers that it had made.
pub(super) struct Owners(Vec<Owned>);

#[derive(Default, Clone)]
struct Owned {
    /// Its own number, as its compile pool names it.
    pool: Option<i32>,
    loaders: usize,
    compilers: usize,
}

impl Owners {
    pub(super) fn of(tree: &Tree<'_>, roles: &[Option<Judged>]) -> Owners {
        let mut owned = vec![Owned::default(); tree.indices().len()];
        for worker in tree.indices() {
            if let Some(named) = named_parent(&tree[worker]) {
                // Orphans name their trainer, too.
                if let Some(owner) = tree.by_own_pid(worker, named) {
                    owned[owner].pool = Some(named.0);
                }
            } else if let Some(owner) = tree.maker(worker) {
                owned[owner].loaders +=
                    usize::from(has_role(roles, worker, Role::DataloaderWorker));
                owned[owner].compilers += usize::from(has_role(roles, worker, Role::CompileWorker));
            }
        }
        Owners(owned)
    }

    /// What it owns, in words; `None` when it owns no worker.
    pub(super) fn sign(&self, index: usize) -> Option<String> {
        let owned = &self.0[index];
        if let Some(pid) = owned.pool {
            return Some(format!("owns the compile pool (--parent={pid})"));
        }
        match (owned.loaders, owned.compilers) {
            (0, 0) => None,
            (0, compilers) => Some(format!("owns {compilers} compile workers")),
            (loaders, _) => Some(format!("owns {loaders} dataloader workers")),
        }
    }
}
