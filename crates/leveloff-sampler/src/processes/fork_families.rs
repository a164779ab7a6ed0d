//! Spreads the pages that forks share over the processes of a run, so that each page counts once.
//!
//! A fork shares all pages with its parent until one of them writes. These pages count with the parent, and a fork
//! counts with what it has for itself, and with its share of the pages that only forks hold. So nothing moves between
//! processes when forks start, are read or exit. Until the PSS of a fork is read, what it copied is estimated from its
//! faults ([`super::copied_pages`]).

use std::collections::BTreeMap;

use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::units::Bytes;

use super::copied_pages::{CopiedPages, CopyCurve};
use super::watched_process::WatchedProcess;

/// A process and its living forks, by their places in the list of watched processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkFamily {
    /// The process that forked them, if it is watched.
    pub parent: Option<usize>,
    /// The forks, oldest first.
    pub forks: Vec<usize>,
}

/// The families of a run. A process may be a fork in one and the parent in another.
pub fn families(watched: &[WatchedProcess]) -> Vec<ForkFamily> {
    let mut forks_of: BTreeMap<Pid, Vec<usize>> = BTreeMap::new();
    for (place, process) in watched.iter().enumerate() {
        if process.is_fork_copy() && !process.reading.state.is_gone() {
            forks_of.entry(process.parent).or_default().push(place);
        }
    }
    let is_parent = |process: &WatchedProcess, pid: Pid| {
        process.pid() == pid && !process.reading.state.is_gone()
    };
    forks_of
        .into_iter()
        .map(|(pid, forks)| ForkFamily {
            parent: watched.iter().position(|process| is_parent(process, pid)),
            forks,
        })
        .collect()
}

/// Estimates and spreads the pages that forks share.
pub fn update(families: &[ForkFamily], watched: &mut [WatchedProcess]) {
    let has_read_forks = |place: usize, watched: &[WatchedProcess]| {
        let mut own = families
            .iter()
            .filter(|family| family.parent == Some(place));
        own.any(|family| family.forks.iter().any(|&fork| watched[fork].is_read()))
    };
    for place in 0..watched.len() {
        watched[place].reset_transferred();
        if watched[place].was_read_with_relatives()
            && !watched[place].is_fork_copy()
            && !has_read_forks(place, watched)
        {
            watched[place].settle();
        }
    }
    let parents: Vec<usize> = families.iter().filter_map(|family| family.parent).collect();
    for family in families {
        family.transfer(watched);
        family.estimate(watched, &parents);
    }
}

impl ForkFamily {
    /// All members.
    pub fn members(&self) -> impl Iterator<Item = usize> {
        self.parent.into_iter().chain(self.forks.iter().copied())
    }

    /// Estimates what the forks have for themselves, and what only forks hold.
    ///
    /// A fork that has forks of its own shares its newest pages with them. What it copies is counted in their family.
    fn estimate(&self, watched: &mut [WatchedProcess], parents: &[usize]) {
        let curve = match self.parent {
            Some(parent) => watched[parent].forks_curve.clone(),
            None => CopyCurve::of_forks(),
        };
        let left = self.held_by_forks_only(watched);
        // The pages that only forks hold are shared among them.
        let kept = Bytes(left.0 / self.forks.len().max(1) as u64);
        for &place in &self.forks {
            let fork = &mut watched[place];
            let estimate = match parents.contains(&place) {
                true => CopiedPages::default(),
                false => fork.copies_since_reading(&curve),
            };
            if fork.is_read() {
                fork.set_copied_since_reading(estimate, fork.freed_of_shared() + kept);
            } else {
                fork.set_unread_estimate(estimate, kept);
            }
        }
    }

    /// Pages that the parent had when it forked, and that only its forks hold now: it has freed or copied them.
    fn held_by_forks_only(&self, watched: &mut [WatchedProcess]) -> Bytes {
        let forks = self.forks.iter().map(|&place| &watched[place]);
        let most = forks.map(WatchedProcess::shared_at_most).max();
        let most = most.unwrap_or_default();
        match self.parent {
            Some(parent) => watched[parent].left_to_forks(most),
            // What forks that were read shared with an exited parent was returned to one of them.
            None if self.forks.iter().any(|&place| watched[place].is_read()) => Bytes::ZERO,
            None => most,
        }
    }

    /// Learns what the members in `read` had copied when they were read.
    pub fn learn(&self, watched: &mut [WatchedProcess], read: &[ProcessIndex]) {
        let Some(parent) = self.parent else { return };
        for place in self.members() {
            let member = &mut watched[place];
            if !read.contains(&member.index()) {
                continue;
            }
            member.set_read_with_relatives(true);
            if let Some((faulted, copied)) = member.copied_by_reading() {
                learn_of(watched, parent, place, faulted, copied);
            }
        }
    }

    /// Counts the pages that the forks share with the parent where the parent is. Pages that it has copied or freed are
    /// shared by the forks alone, and stay with them: it takes no more than its own PSS lacks.
    fn transfer(&self, watched: &mut [WatchedProcess]) {
        let Some(parent) = self
            .parent
            .filter(|&place| watched[place].was_read_with_relatives())
        else {
            return;
        };
        let was_read = |&place: &usize| watched[place].was_read_with_relatives();
        let forks: Vec<usize> = self.forks.iter().copied().filter(was_read).collect();
        let shared: Bytes = forks
            .iter()
            .map(|&place| watched[place].shared_part())
            .sum();
        let taken = shared.min(watched[parent].lacking());
        for place in forks {
            let moved = part_of(watched[place].shared_part(), taken, shared);
            watched[place].move_to_parent(moved);
            watched[parent].reading.transferred.0 += moved.0.cast_signed();
        }
    }
}

/// `amount` in the proportion of `part` to `whole`.
fn part_of(amount: Bytes, part: Bytes, whole: Bytes) -> Bytes {
    let product = u128::from(amount.0) * u128::from(part.0);
    Bytes((product / u128::from(whole.0.max(1))) as u64)
}

/// Learns what the process at `place` had copied, for itself or for the other forks of its parent.
pub fn learn_of(
    watched: &mut [WatchedProcess],
    parent: usize,
    place: usize,
    faulted: Bytes,
    copied: Bytes,
) {
    let curve = match place == parent {
        true => &mut watched[parent].own_curve,
        false => &mut watched[parent].forks_curve,
    };
    curve.learn(faulted, copied);
    watched[place].learn_copies(faulted, copied);
}
