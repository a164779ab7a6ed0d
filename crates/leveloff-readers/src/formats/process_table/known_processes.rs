//! The processes of a table from moment to moment, and what each of them holds.

use std::collections::HashMap;

use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::units::Bytes;

use super::columns::Amounts;

/// The processes seen lately.
#[derive(Debug, Default)]
pub struct KnownProcesses {
    known: HashMap<Pid, Known>,
    next: u32,
    moment: u64,
}

#[derive(Debug, Clone)]
struct Known {
    index: ProcessIndex,
    start: Option<u64>,
    seen: u64,
    /// What it really held when that was last read, and what it mapped at that moment.
    measured: Option<(Bytes, Option<Bytes>)>,
    /// What it mapped when first seen that may be its parent's.
    inherited: Bytes,
    anon: Bytes,
}

/// More processes than this are swept for those that are gone.
const MANY: usize = 4096;

/// A process that was not seen for so many moments is gone.
const GONE: u64 = 600;

impl KnownProcesses {
    /// The rows to come are of another moment.
    pub fn begin_moment(&mut self) {
        self.moment += 1;
        if self.known.len() > MANY {
            let moment = self.moment;
            self.known.retain(|_, known| known.seen + GONE > moment);
        }
    }

    /// The index of a process and its share of the run's memory; `None` when the row has no value and
    /// none is known from before.
    pub fn memory_of(
        &mut self,
        pid: Pid,
        start: Option<u64>,
        parent: Option<i32>,
        amounts: &Amounts,
    ) -> Option<(ProcessIndex, Bytes)> {
        let is_same = self.known.get(&pid).is_some_and(|known| {
            // Without a start time, a pid that was away for a moment may be another's by now.
            let was_here = known.seen + 1 >= self.moment;
            known.start == start && (start.is_some() || was_here)
        });
        if !is_same {
            let newcomer = self.newcomer(start, parent, amounts);
            self.known.insert(pid, newcomer);
        }
        let known = self.known.get_mut(&pid)?;
        known.seen = self.moment;
        known.anon = amounts.anon.unwrap_or(known.anon);
        known.memory(amounts).map(|memory| (known.index, memory))
    }

    fn newcomer(&mut self, start: Option<u64>, parent: Option<i32>, amounts: &Amounts) -> Known {
        let index = ProcessIndex(self.next);
        self.next += 1;
        let parents = parent.and_then(|pid| self.known.get(&Pid(pid)));
        let parents_anon = parents.map_or(Bytes::ZERO, |parent| parent.anon);
        Known {
            index,
            start,
            seen: self.moment,
            measured: None,
            inherited: amounts.anon.unwrap_or(Bytes::ZERO).min(parents_anon),
            anon: Bytes::ZERO,
        }
    }
}

impl Known {
    /// The best that the row allows. Shared pages must be counted once over the whole run, so in
    /// order: what leveloff made of it; PSS; the last PSS moved by what the process mapped since;
    /// pages of its own alone. Mapped memory counts every page of a fork in full, so of that
    /// only what came after the fork is its own: whether a child was forked or started a program
    /// cannot be seen here, and counting too little of a helper is better than counting a whole
    /// trainer twice. A table without any of these has only PSS or RSS as a whole.
    fn memory(&mut self, amounts: &Amounts) -> Option<Bytes> {
        let mapped = amounts.mapped();
        if let Some(memory) = amounts.memory.or_else(|| by_pss(amounts)) {
            self.measured = Some((memory, mapped));
            return Some(memory);
        }
        let carried = self.measured.map(|(memory, then)| match (then, mapped) {
            (Some(then), Some(now)) => memory.moved_by(now.since(then)),
            // Nothing moved that could be seen: what it was is the best that is known.
            _ => memory,
        });
        let swap = amounts.swapped();
        carried
            .or_else(|| amounts.private.map(|private| private + swap))
            .or_else(|| mapped.map(|mapped| mapped.saturating_sub(self.inherited)))
            .or(amounts.pss)
            .or(amounts.rss)
    }
}

/// Anonymous and shared memory by proportion, and swap. File pages are left out: other runs move
/// them.
fn by_pss(amounts: &Amounts) -> Option<Bytes> {
    let shmem = amounts.pss_shmem.unwrap_or(Bytes::ZERO);
    let lazy_free = amounts.lazy_free.unwrap_or(Bytes::ZERO);
    Some((amounts.pss_anon? + shmem + amounts.swapped()).saturating_sub(lazy_free))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anon(bytes: u64) -> Amounts {
        Amounts {
            anon: Some(Bytes(bytes)),
            ..Amounts::default()
        }
    }

    fn pss(bytes: u64, mapped: u64) -> Amounts {
        Amounts {
            pss_anon: Some(Bytes(bytes)),
            ..anon(mapped)
        }
    }

    fn memory(known: &mut KnownProcesses, pid: i32, parent: i32, amounts: &Amounts) -> u64 {
        let (_, memory) = known
            .memory_of(Pid(pid), None, Some(parent), amounts)
            .unwrap();
        memory.0
    }

    #[test]
    fn a_fork_is_not_counted_twice() {
        let mut known = KnownProcesses::default();
        known.begin_moment();
        assert_eq!(memory(&mut known, 1, 0, &anon(500)), 500);
        assert_eq!(memory(&mut known, 2, 1, &anon(480)), 0);
        known.begin_moment();
        assert_eq!(memory(&mut known, 2, 1, &anon(490)), 10);
    }

    #[test]
    fn the_last_pss_is_carried_by_what_is_mapped() {
        let mut known = KnownProcesses::default();
        known.begin_moment();
        assert_eq!(memory(&mut known, 1, 0, &pss(100, 400)), 100);
        known.begin_moment();
        assert_eq!(memory(&mut known, 1, 0, &anon(430)), 130);
        assert_eq!(memory(&mut known, 1, 0, &Amounts::default()), 100);
        assert_eq!(
            known.memory_of(Pid(9), None, None, &Amounts::default()),
            None
        );
    }

    #[test]
    fn a_pid_that_comes_back_is_another_process_unless_it_started_at_the_same_time() {
        let mut known = KnownProcesses::default();
        let mut index = |start: Option<u64>| {
            let seen = known.memory_of(Pid(1), start, None, &anon(1));
            (0..3).for_each(|_| known.begin_moment());
            seen.unwrap().0
        };
        assert_ne!(index(None), index(None));
        assert_eq!(index(Some(7)), index(Some(7)));
        assert_ne!(index(Some(7)), index(Some(8)));
    }
}
