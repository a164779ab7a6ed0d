//! Pages that a process shares since a fork, and what it copied of them.

use leveloff_model::units::{ByteDelta, Bytes, Seconds};

use super::{AtFork, ExitedShare, PssValues, SharedSample, WatchedProcess};
use crate::processes::copied_pages::{CopiedPages, CopyCurve};
use crate::processes::handle::page_size;

/// A fault on a mapped file maps the pages around it as well: 64 KiB by default (`fault_around_bytes`).
const FILE_PAGES_PER_FAULT: u64 = 16;

impl WatchedProcess {
    /// Sets whether it is a forked copy that holds its parent's pages, `inheritable` at most.
    pub fn set_fork_copy(&mut self, fork_copy: bool, inheritable: Bytes) {
        self.is_fork_copy = fork_copy;
        self.lowest_anon = self.reading.anon.min(inheritable);
        self.lowest_as_fork = self.lowest_anon;
        if !fork_copy {
            self.reading.inherited = Bytes::ZERO;
        }
    }

    /// Most that a fork which was first seen at `seen` got from it. A fork of a process that was not watched before may have
    /// got more than its parent has now.
    pub fn inheritable(&self, seen: Seconds) -> Bytes {
        match self.first_seen < seen {
            true => self.reading.anon.max(self.anon_before),
            false => Bytes(u64::MAX),
        }
    }

    /// When it was first seen.
    pub fn first_seen(&self) -> Seconds {
        self.first_seen
    }

    /// Whether it is a forked copy of its parent.
    pub fn is_fork_copy(&self) -> bool {
        self.is_fork_copy
    }

    /// It shares its pages with new forks from now on: all that it has.
    pub fn shares_from_now(&mut self) {
        self.at_fork = AtFork {
            faults: self.reading.minor_faults,
            file: self.reading.file,
            shmem: self.reading.shmem,
        };
        self.lowest_anon = self.reading.anon;
        self.pss.sample = None;
        self.recent_copies.forked();
    }

    /// Most that it still holds of its parent's pages.
    pub fn shared_at_most(&self) -> Bytes {
        self.lowest_as_fork.min(self.reading.anon)
    }

    /// Memory that it faulted in since the fork and that its counters do not explain: copies of shared pages, and
    /// buffers that it has freed again.
    pub(super) fn faulted(&self) -> Bytes {
        let then = &self.at_fork;
        let faults = self.reading.minor_faults.saturating_sub(then.faults);
        let mapped_files = self.reading.file.saturating_sub(then.file);
        let explained = self.reading.anon.saturating_sub(self.lowest_anon)
            + self.reading.shmem.saturating_sub(then.shmem)
            + Bytes(mapped_files.0 / FILE_PAGES_PER_FAULT);
        Bytes(faults.saturating_mul(page_size().0)).saturating_sub(explained)
    }

    /// What it copied since its PSS was read with its relatives, or else since the fork.
    pub fn copies_since_reading(&self, curve: &CopyCurve) -> CopiedPages {
        let inherited = self.shared_at_most();
        match self.was_read_with_relatives() {
            true => self.copies_between(self.pss.faulted_then, curve, inherited),
            false => curve.estimate(self.faulted(), inherited),
        }
    }

    /// What it copied of `shared` since it had faulted in `then`: as lately, or as `curve` has it until its own
    /// readings show that.
    fn copies_between(&self, then: Bytes, curve: &CopyCurve, shared: Bytes) -> CopiedPages {
        let faulted = self.faulted();
        let since = faulted.saturating_sub(then);
        if let Some(copied) = self.recent_copies.of(since) {
            return CopiedPages {
                copied: copied.min(shared),
                error: self.pss.copy_share.of(since).min(shared),
            };
        }
        let now = curve.estimate(faulted, shared);
        let before = curve.estimate(then, shared);
        CopiedPages {
            copied: now.copied.saturating_sub(before.copied),
            error: now.error.saturating_sub(before.error),
        }
    }

    /// Learns from a reading after `faulted` of faults.
    pub fn learn_copies(&mut self, faulted: Bytes, copied: Bytes) {
        self.recent_copies.learn(faulted, copied);
    }

    /// Anonymous memory that it shared with others when it was last read.
    pub fn shared_part(&self) -> Bytes {
        self.reading.pss.map_or(Bytes::ZERO, |pss| {
            pss.anon.saturating_sub(self.pss.private_anon)
        })
    }

    /// What its PSS lacks of the pages that it shares, and what no exited relative has left to it: its relatives' shares of
    /// these pages are this much.
    pub fn lacking(&self) -> Bytes {
        self.reading.pss.map_or(Bytes::ZERO, |pss| {
            let shared = pss.base.anon.saturating_sub(pss.anon);
            shared.saturating_sub(self.returned)
        })
    }

    /// Before the pages that forks share are spread again.
    pub fn reset_transferred(&mut self) {
        self.reading.transferred = ByteDelta(0);
        self.with_parent = Bytes::ZERO;
    }

    /// Counts `shared` of its pages with its parent.
    pub fn move_to_parent(&mut self, shared: Bytes) {
        self.with_parent = shared;
        self.reading.transferred.0 -= shared.0.cast_signed();
    }

    /// Shared pages that it has freed since it was read, by estimate. Its relatives hold them still.
    pub fn freed_of_shared(&self) -> Bytes {
        let Some(pss) = self.reading.pss else {
            return Bytes::ZERO;
        };
        let lowest = self.pss.lowest_anon.min(self.reading.anon);
        let freed = pss.base.anon.saturating_sub(lowest);
        freed
            .saturating_sub(self.pss.private_anon)
            .min(self.shared_part())
    }

    /// Of the pages that it shares with its forks, those that it has freed or copied since: only the forks hold
    /// them now. `at_fork` is what the forks have of it.
    pub fn left_to_forks(&mut self, at_fork: Bytes) -> Bytes {
        let read = self.reading.pss.filter(|_| self.was_read_with_relatives());
        let since = self.pss.sample.unwrap_or_else(|| match read {
            Some(pss) => SharedSample {
                shared: pss.base.anon.saturating_sub(self.pss.private_anon),
                anon: pss.base.anon,
                faulted: self.pss.faulted_then,
                lowest: self.pss.lowest_anon,
            },
            None => SharedSample {
                shared: at_fork,
                anon: at_fork,
                faulted: Bytes::ZERO,
                lowest: self.lowest_anon,
            },
        });
        let reference = read.map_or(at_fork, |pss| {
            pss.base.anon.saturating_sub(self.pss.private_anon)
        });
        let known = reference.saturating_sub(since.shared);
        // A training frees the buffers of its steps, which are its own, before what it had at the fork. Of what it freed
        // beyond them, half counts as shared until it is read.
        let freed = since
            .anon
            .saturating_sub(since.lowest.min(self.reading.anon));
        let own = since.anon.saturating_sub(since.shared);
        let shared = Bytes(freed.saturating_sub(own).0 / 2);
        let uncertain = Bytes(freed.0 / 2);
        let copies = self.copies_between(since.faulted, &self.own_curve, reference);
        self.pss.copy_error = uncertain + copies.error;
        (known + shared + copies.copied).min(reference)
    }

    /// Whether its PSS was read while it shared pages with relatives.
    pub fn was_read_with_relatives(&self) -> bool {
        self.is_read() && self.pss.shared_with_relatives
    }

    /// Notes whether it shared pages when it was read.
    pub fn set_read_with_relatives(&mut self, shared: bool) {
        self.pss.shared_with_relatives = shared;
    }

    /// All relatives that shared its pages at the reading have exited: all that it maps is its own.
    pub fn settle(&mut self) {
        if let Some(pss) = self.reading.pss {
            self.returned = pss.base.anon.saturating_sub(pss.anon);
            self.reading.returned = self.returned;
            self.pss.shared_with_relatives = false;
        }
    }

    /// What it had copied when its PSS was read, and the faults until then.
    pub fn copied_by_reading(&self) -> Option<(Bytes, Bytes)> {
        let pss = self.reading.pss?;
        let copied = self.copied(self.pss.private_anon, pss.base.anon);
        Some((self.pss.faulted_then, copied))
    }

    /// What it had copied by a reading that is not counted, because its relatives were not read with it.
    pub fn copied_by_sample(&self, values: &PssValues) -> (Bytes, Bytes) {
        let own = values.rollup.private_anon();
        (
            self.pss.faulted_at_sample,
            self.copied(own, values.base.anon),
        )
    }

    /// Of what it has for itself, what is beyond its growth since the fork.
    fn copied(&self, own: Bytes, anon: Bytes) -> Bytes {
        own.saturating_sub(anon.saturating_sub(self.lowest_anon))
    }

    /// Takes the estimate of a fork that was never read. `kept` are pages of its parent that only its forks hold now.
    pub fn set_unread_estimate(&mut self, estimate: CopiedPages, kept: Bytes) {
        let inherited = self.shared_at_most();
        self.reading.inherited = inherited
            .saturating_sub(estimate.copied)
            .saturating_sub(kept);
        self.pss.copy_error = estimate.error;
    }

    /// Takes the estimate of what it got since its PSS was read without a change of its counters: its copies, and
    /// `kept`, pages that it was counted without.
    pub fn set_copied_since_reading(&mut self, estimate: CopiedPages, kept: Bytes) {
        self.reading.returned = self.returned + estimate.copied + kept;
        self.pss.copy_error = estimate.error;
    }

    /// Counts what an exited fork had shared with it.
    pub fn take_returned(&mut self, exited: Bytes) {
        self.returned += exited;
        self.reading.returned += exited;
    }

    /// Counts what an exited relative had shared with several forks, of which it is one.
    pub fn take_left_to_forks(&mut self, exited: Bytes) {
        self.left_to_forks += exited;
        self.take_returned(exited);
    }

    /// What it shared, for its relatives; zero when it was taken before.
    pub fn take_exited_share(&mut self) -> ExitedShare {
        let was_taken = std::mem::replace(&mut self.share_was_taken, true);
        let (shared, with_parent) = match was_taken {
            true => (Bytes::ZERO, Bytes::ZERO),
            false => (self.shared_part() + self.left_to_forks, self.with_parent),
        };
        ExitedShare {
            pid: self.pid(),
            parent: self.parent,
            is_fork_copy: self.is_fork_copy(),
            shared,
            with_parent,
        }
    }
}

impl ExitedShare {
    /// Whether this is the process that forked it.
    pub fn is_of_parent(&self, process: &WatchedProcess) -> bool {
        self.is_fork_copy && process.pid() == self.parent
    }

    /// How likely this one holds what it shared with other forks: its own forks are closer than its siblings.
    pub fn closeness_of_fork(&self, process: &WatchedProcess) -> u8 {
        let is_read_fork = process.is_fork_copy() && process.is_read() && process.pid() != self.pid;
        match is_read_fork {
            true if process.parent == self.pid => 2,
            true if self.is_fork_copy && process.parent == self.parent => 1,
            _ => 0,
        }
    }
}
