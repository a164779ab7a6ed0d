//! A tree in which nobody maps a framework: who of it does the work.
//!
//! What stands before a command comes and goes: a shim is a script that starts a dozen helpers and
//! then becomes the real program, an activation runs for a second, a shell waits. So nobody is
//! chosen who has lived for moments only, and the choice is made anew whenever the tree is looked at.

use leveloff_model::process::{Pid, Role};
use leveloff_model::units::{Bytes, Seconds};

use super::children::UNDECIDED;
use super::phrases::is_spawned;
use super::programs::{is_shell, is_wrapper};
use super::trainers::works_for;
use super::tree::Tree;
use super::{Earlier, Judged, has_role};
use crate::facts::ProcessFacts;

type Roles = [Option<Judged>];

/// Somebody in the tree of a process that the user named must be the trainer: that process, or the
/// one below it that works while it only launches. Whether one had to be chosen.
pub(super) fn ensure_one(
    tree: &Tree<'_>,
    roles: &mut Roles,
    root: usize,
    earlier: Option<Earlier>,
) -> bool {
    let below = tree.descendants(root);
    let trains = |&index: &usize| has_role(roles, index, Role::Trainer);
    if trains(&root) || below.iter().any(trains) {
        return false;
    }
    let named = Named {
        facts: &tree[root],
        is_launcher: has_role(roles, root, Role::Launcher),
    };
    let before = earlier.and_then(|earlier| earlier.trainer);
    let works = |&index: &usize| {
        let facts = &tree[index];
        let is_passing = earlier.is_some() && !has_lived(facts, LASTING);
        is_program_of_its_own(tree, roles, index)
            && !is_passing
            && named.leaves_the_work_to(facts, before)
    };
    let workers: Vec<usize> = below.into_iter().filter(works).collect();
    let (chosen, role, why) = match biggest(tree, &workers, before) {
        Some(biggest) => (
            biggest,
            Role::Trainer,
            "maps no framework; is the biggest below the process that was named",
        ),
        // Their trainers have yet to come, or have gone.
        None if named.is_launcher => return true,
        None if named.is_wrapper() => (root, Role::Launcher, "runs a command given to it"),
        None => (
            root,
            Role::Trainer,
            "maps no framework; is the process that was named",
        ),
    };
    roles[chosen] = Some(Judged::new(role, why));
    true
}

/// Who could have been chosen and has no other part may still be the one; such are looked at often.
pub(super) fn leave_open(tree: &Tree<'_>, roles: &mut Roles, root: usize) {
    for index in tree.descendants(root) {
        if roles[index].is_none() && is_program_of_its_own(tree, roles, index) {
            let why = format!("maps no framework, {UNDECIDED}");
            roles[index] = Some(Judged::new(Role::Other, why));
        }
    }
}

/// One that has lived for less may be anybody's helper. Just under the second after which a newcomer
/// is looked at again; a shim's helpers live for a tenth of that, on a busy machine too.
const LASTING: Seconds = Seconds(0.9);

/// What a program runs in passing (a version, a list of packages) is over by then.
const LONG: Seconds = Seconds(10.0);

/// So much more memory shows that one waits for the other, whatever time they used.
const HOLDS_TIMES_MORE: u64 = 4;

/// Two of about the same size would take the part from each other at every look.
const MUCH_BIGGER: u64 = 2;

/// A script that only starts programs uses a few hundredths of a second. With a whole one, in clock
/// ticks, it does something itself.
const SCRIPT_TICKS: u64 = 100;

/// The process that the user named or started.
struct Named<'a> {
    facts: &'a ProcessFacts,
    is_launcher: bool,
}

impl Named<'_> {
    /// A program that never does more than to run another. A script may.
    fn is_wrapper(&self) -> bool {
        is_wrapper(self.facts) && !is_shell(self.facts)
    }

    /// Whether it only launches, and that one works.
    fn leaves_the_work_to(&self, other: &ProcessFacts, before: Option<Pid>) -> bool {
        let is_bigger = held(other) > held(self.facts);
        if is_shell(self.facts) {
            let works_more = other.cpu_ticks > self.facts.cpu_ticks;
            return is_bigger || works_more || self.facts.cpu_ticks < SCRIPT_TICKS;
        }
        if self.is_launcher || self.is_wrapper() {
            return true;
        }
        let is_before = Some(other.pid()) == before;
        let holds_all =
            held(other) / HOLDS_TIMES_MORE >= held(self.facts) && has_lived(other, LONG);
        is_bigger && (is_before || holds_all || works_for(other, self.facts))
    }
}

/// Alive, nothing else as far as is known, nobody who waits for others, and no copy of somebody who
/// could be chosen himself: a pool's worker may be bigger than the program whose worker it is.
fn is_program_of_its_own(tree: &Tree<'_>, roles: &Roles, index: usize) -> bool {
    let facts = &tree[index];
    let is_made = || {
        let parent = tree.parent(index);
        is_spawned(facts) || parent.is_some_and(|parent| tree.is_copy_of(index, parent))
    };
    let has_maker = tree
        .maker(index)
        .is_some_and(|maker| is_alive(&tree[maker]) && !waits(&tree[maker]));
    roles[index].as_ref().is_none_or(Judged::is_undecided)
        && is_alive(facts)
        && !waits(facts)
        && !(has_maker && is_made())
}

fn biggest(tree: &Tree<'_>, workers: &[usize], before: Option<Pid>) -> Option<usize> {
    let size = |&index: &usize| held(&tree[index]);
    let biggest = workers.iter().copied().max_by_key(size)?;
    let mut others = workers.iter().copied();
    let before = others.find(|&index| Some(tree[index].pid()) == before);
    let is_much_bigger = |before: &usize| held(&tree[biggest]) / MUCH_BIGGER >= size(before);
    before
        .filter(|before| !is_much_bigger(before))
        .or(Some(biggest))
}

fn held(facts: &ProcessFacts) -> u64 {
    let memory = facts.memory.unwrap_or_default();
    let Bytes(held) = memory.anon + memory.swap;
    held
}

/// An age that is not known is held against nobody.
fn has_lived(facts: &ProcessFacts, long: Seconds) -> bool {
    facts.age.is_none_or(|age| age >= long)
}

fn waits(facts: &ProcessFacts) -> bool {
    is_shell(facts) || is_wrapper(facts) || facts.program() == b"sleep"
}

fn is_alive(facts: &ProcessFacts) -> bool {
    !facts.state.is_gone() && facts.memory.is_some()
}
