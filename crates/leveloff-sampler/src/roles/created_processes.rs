//! Processes that Python's multiprocessing created, or that are a fork of their parent. Their role shows in
//! what they set up for themselves, compared with the process that created them.

use leveloff_model::process::Role;
use leveloff_model::units::Seconds;

use super::python::{is_fork_server, is_spawned};
use super::reason::{ChildSign, Creation, RoleReason};
use super::tree::Tree;
use super::{Decision, PreviousRoles, has_role, trainers};
use crate::facts::{ProcessFacts, Signals};

/// By this age a spawned dataloader worker has long imported torch and named itself; measured: 2 to
/// 5 s on two busy cores.
const SETTLED: Seconds = Seconds(20.0);
/// A compile worker on a CPU is idle for its whole life. Half a second, in clock ticks.
const IDLE_TICKS: u64 = 50;

/// Decides the role of a spawned or forked child; `None` for a process that is neither.
pub(super) fn decide(
    tree: &Tree<'_>,
    roles: &[Option<Decision>],
    previous: Option<&PreviousRoles>,
    index: usize,
) -> Option<Decision> {
    let facts = &tree[index];
    let parent = tree.links.parent(index);
    let is_copy = parent.is_some_and(|parent| tree.is_copy_of(index, parent));
    if !is_spawned(facts) && !is_copy {
        return None;
    }
    let Some(creator) = tree.creator(index) else {
        return Some(Decision::new(Role::Other, RoleReason::Orphan));
    };
    // Forks of a shell or a server, without a framework on either side, need no role of their own.
    if !is_spawned(facts) && facts.framework().is_none() && tree[creator].framework().is_none() {
        return None;
    }
    let how = creation(tree, index, is_copy);
    let by = tree[creator].pid();
    if has_role(roles, creator, Role::CompilePool) {
        let reason = RoleReason::CreatedByCompilePool(how, by);
        return Some(Decision::new(Role::CompileWorker, reason));
    }
    let child = Child {
        facts,
        creator: &tree[creator],
        how,
    };
    let (role, sign) = match (child.role(), previous) {
        // A worker that was spawned a moment ago has not imported torch. Those that the same process spawned before
        // show what it will be.
        ((_, ChildSign::None), Some(previous)) if how == Creation::Spawned => {
            match previous.spawned.get(&by) {
                Some(&role) => (role, ChildSign::LikeEarlier),
                None => (Role::Other, ChildSign::None),
            }
        }
        (decided, _) => decided,
    };
    Some(Decision::new(role, RoleReason::Created { how, by, sign }))
}

struct Child<'a> {
    facts: &'a ProcessFacts,
    creator: &'a ProcessFacts,
    how: Creation,
}

impl Child<'_> {
    fn role(&self) -> (Role, ChildSign) {
        if self.is_loader() {
            return (Role::DataloaderWorker, ChildSign::LoaderSignals);
        }
        if let Some(sign) = self.compile_sign() {
            return (Role::CompileWorker, sign);
        }
        if let Some(sign) = trainers::sign_of_training(self.facts) {
            return (Role::Trainer, ChildSign::Training(sign));
        }
        match &self.facts.libraries {
            Some(own) if own.framework.is_some() && self.creator.framework().is_none() => {
                let sign = ChildSign::OwnFramework(own.evidence.clone());
                (Role::Trainer, sign)
            }
            _ => (Role::Other, ChildSign::None),
        }
    }

    /// It handles the loaders' signals, and did not inherit that.
    fn is_loader(&self) -> bool {
        let catches = |facts: &ProcessFacts| facts.signals.is_some_and(Signals::catches_as_loader);
        catches(self.facts) && !catches(self.creator)
    }

    fn compile_sign(&self) -> Option<ChildSign> {
        let (own, creators) = (self.facts.signals?, self.creator.signals?);
        if !own.ignores_interrupt() || self.facts.framework().is_none() {
            return None;
        }
        if !creators.ignores_interrupt() {
            return Some(ChildSign::IgnoresInterrupt);
        }
        // A run in the background ignores Ctrl-C as a whole. Two signs remain: torch spawns compile
        // workers with the pool forbidden; forked ones have a watchdog thread and are idle.
        let settled = self.facts.age >= Some(SETTLED);
        let pool_forbidden = |facts: &ProcessFacts| {
            facts
                .environment
                .as_ref()
                .is_some_and(|e| e.compile_pool_forbidden)
        };
        if pool_forbidden(self.facts) && !pool_forbidden(self.creator) && settled {
            return Some(ChildSign::NoWarmPool);
        }
        let is_idle = self.facts.threads == 2 && self.facts.cpu_ticks < IDLE_TICKS;
        (self.how == Creation::Forked && is_idle).then_some(ChildSign::IdleWithWatchdog)
    }
}

fn creation(tree: &Tree<'_>, index: usize, is_copy: bool) -> Creation {
    let parent = tree.links.parent(index);
    match (
        is_copy,
        parent.is_some_and(|parent| is_fork_server(&tree[parent])),
    ) {
        (_, true) => Creation::ForkedByServer,
        (true, false) => Creation::Forked,
        (false, false) => Creation::Spawned,
    }
}
