//! Readings of a process's PSS: which are due, and what the last one said.

use std::time::Duration;

use leveloff_model::sample::PssReading;
use leveloff_model::units::{Bytes, Seconds};

use super::{PssValues, SharedSample, WatchedProcess};
use crate::processes::handle::page_size;
use crate::processes::pss_uncertainty::SinceReading;

/// How often the memory of the largest process is read by kind, together with its PSS.
const KINDS_EVERY: Seconds = Seconds(60.0);

/// While it grows, it is read at least so far apart,
const KINDS_OF_GROWTH: Seconds = Seconds(5.0);

/// and when it was watched for so much longer: which mapping is filled has to be known before the growth is judged.
const KINDS_PER_AGE: f64 = 0.125;

impl WatchedProcess {
    /// What happened since its PSS was read; `None` when it must not be read now.
    pub fn since_reading(&self, now: Seconds, in_family: bool) -> Option<SinceReading> {
        let zombie = self.reading.state.is_gone();
        if self.pss.requested || self.pss.forbidden || zombie {
            return None;
        }
        Some(SinceReading {
            then: self.reading.pss.map(|pss| pss.base),
            now: self.reading.fast(),
            shared: self.pss.shared,
            minor_faults: self
                .reading
                .minor_faults
                .saturating_sub(self.pss.faults_then),
            copy_share: self.pss.copy_share,
            ran: self.reading.cpu != self.pss.cpu_then,
            estimate_error: in_family.then_some(self.pss.copy_error),
            age: now - self.reading.pss.map_or(self.first_seen, |pss| pss.at),
        })
    }

    /// Notes how far off its memory may be. A value that is recorded changes in powers of two.
    pub fn set_uncertainty(&mut self, uncertainty: Bytes, tolerable: Bytes) {
        self.reading.uncertainty = match uncertainty > tolerable {
            true => Bytes(
                uncertainty
                    .0
                    .checked_next_power_of_two()
                    .unwrap_or(u64::MAX),
            ),
            false => Bytes::ZERO,
        };
    }

    /// Notes that a process that shares its pages started or exited.
    pub fn set_relatives_changed(&mut self) {
        self.pss.relatives_changed = true;
    }

    /// CPU time of the last PSS reading, and the memory that it walked.
    pub fn last_pss_cost(&self) -> Option<(Duration, Bytes)> {
        self.pss.cost
    }

    /// Whether its memory is due to be read by kind: now and then, and more often while it grows notably.
    pub fn kinds_are_due(&self, now: Seconds, notable: Bytes) -> bool {
        let Some(at) = self.pss.kinds_at else {
            return true;
        };
        let grown = self.reading.anon.saturating_sub(self.pss.anon_at_kinds);
        let age = (now - self.first_seen).0;
        let every = match grown > notable {
            true => (KINDS_PER_AGE * age).clamp(KINDS_OF_GROWTH.0, KINDS_EVERY.0),
            false => KINDS_EVERY.0,
        };
        (now - at).0 >= every
    }

    /// Notes that a reading was requested that will not count.
    pub fn sample_requested(&mut self) {
        self.pss.requested = true;
        self.pss.faulted_at_sample = self.faulted();
    }

    /// Notes that a reading was requested.
    pub fn pss_requested(&mut self) {
        self.pss.requested = true;
        self.pss.faults_between = self
            .reading
            .minor_faults
            .saturating_sub(self.pss.faults_then);
        // Changes during the reading count as changes after it.
        self.pss.faults_then = self.reading.minor_faults;
        self.pss.faulted_then = self.faulted();
        self.pss.cpu_then = self.reading.cpu;
        self.pss.relatives_changed = false;
    }

    /// Stores a reading. Returns how far it is from the estimate.
    pub fn take_pss(&mut self, at: Seconds, cost: Duration, values: &PssValues) -> Bytes {
        let (rollup, base) = (values.rollup, values.base);
        let estimate = self
            .reading
            .pss
            .map(|before| before.carried_to(base) + self.reading.returned);
        self.pss.requested = false;
        self.pss.shared = rollup.shared;
        self.pss.private_anon = rollup.private_anon();
        self.pss.cost = Some((cost, self.reading.rss()));
        if values.kinds.is_some() {
            self.set_kinds_at(at);
        }
        let reading = PssReading {
            at,
            pss: rollup.pss,
            anon: rollup.anon,
            file: rollup.file,
            shmem: rollup.shmem,
            private: rollup.private,
            swap: rollup.swap,
            lazy_free: rollup.lazy_free,
            hugetlb: rollup.hugetlb,
            base,
        };
        self.reading.pss = Some(reading);
        self.reading.returned = Bytes::ZERO;
        self.returned = Bytes::ZERO;
        self.left_to_forks = Bytes::ZERO;
        self.pss.lowest_anon = base.anon.min(self.reading.anon);
        self.pss.copy_error = Bytes::ZERO;
        self.pss.sample = None;
        let Some(estimate) = estimate else {
            return Bytes::ZERO;
        };
        let error = Bytes(estimate.0.abs_diff(reading.memory().0));
        let faulted = Bytes(self.pss.faults_between.saturating_mul(page_size().0));
        self.pss.copy_share.learn(error, faulted);
        error
    }

    /// Whether a process that shares its pages started or exited since its reading was requested.
    pub fn relatives_changed(&self) -> bool {
        self.pss.relatives_changed
    }

    /// Notes that a reading arrived that does not count.
    pub fn sample_taken(&mut self, at: Seconds, cost: Duration, values: &PssValues) {
        self.pss.requested = false;
        let anon = values.base.anon;
        self.pss.sample = Some(SharedSample {
            shared: anon.saturating_sub(values.rollup.private_anon()),
            anon,
            faulted: self.pss.faulted_at_sample,
            lowest: anon.min(self.reading.anon),
        });
        self.pss.sampled_at = Some(at);
        self.pss.cost = Some((cost, self.reading.rss()));
    }

    /// Notes that its memory was read by kind.
    pub fn set_kinds_at(&mut self, at: Seconds) {
        self.pss.anon_at_kinds = self.reading.anon;
        self.pss.kinds_at = Some(at);
    }

    /// When it was last read without its relatives.
    pub fn sampled_at(&self) -> Option<Seconds> {
        self.pss.sampled_at
    }

    /// Notes a failed reading. It is repeated later, unless it is forbidden.
    pub fn pss_failed(&mut self, forbidden: bool) {
        self.pss.requested = false;
        self.pss.forbidden = forbidden;
    }
}
