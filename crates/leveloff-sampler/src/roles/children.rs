//! Processes that Python's multiprocessing made, or that are a fork of their parent: what they are
//! shows in what they set up for themselves, compared with the process that had them made.

use leveloff_model::process::Role;
use leveloff_model::units::Seconds;

use super::phrases::{is_fork_server, is_spawned};
use super::tree::Tree;
use super::{Judged, has_role, trainers};
use crate::facts::{ProcessFacts, Signals};

/// By this age a spawned dataloader worker has long imported torch and named itself; measured: 2 to
/// 5 s on two busy cores.
const SETTLED: Seconds = Seconds(20.0);
/// A compile worker on a CPU idles for its whole life. Half a second, in clock ticks.
const IDLE_TICKS: u64 = 50;

/// Judges a spawned or forked child; `None` for a process that is neither.
pub(super) fn judge(tree: &Tree<'_>, roles: &[Option<Judged>], index: usize) -> Option<Judged> {
    let facts = &tree[index];
    let parent = tree.parent(index);
    let is_copy = parent.is_some_and(|parent| tree.is_copy_of(index, parent));
    if !is_spawned(facts) && !is_copy {
        return None;
    }
    let Some(maker) = tree.maker(index) else {
        return Some(unknown(
            "was made by multiprocessing, and its parent is gone",
        ));
    };
    // A shell's own forks, or a server's, are nothing to wonder about.
    if !is_spawned(facts) && facts.framework().is_none() && tree[maker].framework().is_none() {
        return None;
    }
    let made = Made {
        facts,
        maker: &tree[maker],
        manner: manner(tree, index, is_copy),
    };
    if has_role(roles, maker, Role::CompilePool) {
        let why = format!("{} by the compile pool {}", made.manner, made.maker.pid());
        return Some(Judged::new(Role::CompileWorker, why));
    }
    Some(made.judge())
}

/// A child that could be anything its maker's code wanted it to be. Roles of this kind may be
/// overturned when the tree tells more.
pub(super) fn is_undecided(role: Role, why: &str) -> bool {
    role == Role::Other && why.ends_with(UNDECIDED)
}

/// How the reason ends for one of which more is to be seen.
pub(super) const UNDECIDED: &str = "has not shown what it is";

struct Made<'a> {
    facts: &'a ProcessFacts,
    maker: &'a ProcessFacts,
    manner: &'static str,
}

impl Made<'_> {
    fn judge(&self) -> Judged {
        let (manner, maker) = (self.manner, self.maker.pid());
        let judged = |role, sign: &str| Judged::new(role, format!("{manner} by {maker}, {sign}"));
        if self.is_loader() {
            return judged(
                Role::DataloaderWorker,
                "handles signals as torch's dataloader workers do",
            );
        }
        if let Some(sign) = self.compile_sign() {
            return judged(Role::CompileWorker, sign);
        }
        if let Some(sign) = trainers::sign_of_training(self.facts) {
            return judged(Role::Trainer, &sign);
        }
        match &self.facts.libraries {
            Some(own) if own.framework.is_some() && self.maker.framework().is_none() => judged(
                Role::Trainer,
                &format!("which maps no framework, and maps {} itself", own.evidence),
            ),
            _ => judged(Role::Other, UNDECIDED),
        }
    }

    /// It handles the loaders' signals, and did not merely inherit that.
    fn is_loader(&self) -> bool {
        let catches = |facts: &ProcessFacts| facts.signals.is_some_and(Signals::catches_as_loader);
        catches(self.facts) && !catches(self.maker)
    }

    fn compile_sign(&self) -> Option<&'static str> {
        let (mine, makers) = (self.facts.signals?, self.maker.signals?);
        if !mine.ignores_interrupt() || self.facts.framework().is_none() {
            return None;
        }
        if !makers.ignores_interrupt() {
            return Some("ignores Ctrl-C as torch's compile workers do");
        }
        // A run in the background ignores Ctrl-C as a whole. What is left: torch spawns compile
        // workers with the pool forbidden; forked ones have a watchdog thread and nothing to do.
        let settled = self.facts.age >= Some(SETTLED);
        let was_told = |facts: &ProcessFacts| {
            facts
                .environment
                .as_ref()
                .is_some_and(|e| e.compile_pool_forbidden)
        };
        if was_told(self.facts) && !was_told(self.maker) && settled {
            return Some("was started with TORCH_WARM_POOL=0, as torch's compile workers are");
        }
        let idles = self.facts.threads == 2 && self.facts.cpu_ticks < IDLE_TICKS;
        (self.manner == FORKED && idles)
            .then_some("idles with a watchdog thread, as torch's compile workers do")
    }
}

const FORKED: &str = "forked";

fn manner(tree: &Tree<'_>, index: usize, is_copy: bool) -> &'static str {
    let parent_serves = tree
        .parent(index)
        .is_some_and(|parent| is_fork_server(&tree[parent]));
    match (is_copy, parent_serves) {
        (_, true) => "forked by a fork server",
        (true, false) => FORKED,
        (false, false) => "spawned",
    }
}

fn unknown(what: &str) -> Judged {
    Judged::new(Role::Other, format!("{what}, {UNDECIDED}"))
}
