//! Bounds how far a process's PSS may be off since it was read.
//!
//! Between two PSS readings the fast counters update a process's share. They follow pages that it maps and
//! frees for itself exactly. They miss a page that was shared and is now its own (copy-on-write changes no counter but
//! the faults), and shared memory whose other users changed. Both are bounded here in bytes, so that the budget
//! goes to the processes with the largest uncertainty. A relative that starts or exits moves shares between
//! processes and leaves their sum as it is; `fork_families` follows that.

use std::time::Duration;

use leveloff_model::sample::FastCounters;
use leveloff_model::units::{Bytes, Seconds};

/// What has happened to a process since its PSS was read.
#[derive(Debug, Clone, Copy)]
pub struct SinceReading {
    /// The fast counters then; `None` if it was never read.
    pub then: Option<FastCounters>,
    /// The fast counters now.
    pub now: FastCounters,
    /// Upper bound of the anonymous memory that it shared then. Only shared pages can be copied.
    pub shared: Bytes,
    /// Faults since.
    pub minor_faults: u64,
    /// Share of its faults that may be copies.
    pub copy_share: CopyShare,
    /// Whether it has used any CPU since.
    pub ran: bool,
    /// Of a fork and of its parent: how far off the estimate of what it copied may be.
    pub estimate_error: Option<Bytes>,
    /// Time since; of a process that was never read, since it was first seen.
    pub age: Seconds,
}

/// The share of a process's faults, beyond its growth, that may be copies of shared pages. It starts at 1.
/// A data loader that allocates and frees buffers faults all the time; readings that match the estimate show
/// that these are no copies, and a reading that does not raises the share at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CopyShare(f64);

/// The share never falls below this.
const LEAST_COPY_SHARE: f64 = 1.0 / 256.0;

impl Default for CopyShare {
    fn default() -> CopyShare {
        CopyShare(1.0)
    }
}

impl CopyShare {
    /// How much of the faulted memory may have been copied.
    pub fn of(self, faulted: Bytes) -> Bytes {
        Bytes((faulted.0 as f64 * self.0) as u64)
    }

    /// Learns from a reading that was off by `error` after `faulted` of faults. Twice the observed share is
    /// expected next, and the share at most halves with each reading.
    pub fn learn(&mut self, error: Bytes, faulted: Bytes) {
        let seen = error.0 as f64 / faulted.0.max(1) as f64;
        self.0 = (2.0 * seen).max(self.0 / 2.0).clamp(LEAST_COPY_SHARE, 1.0);
    }
}

/// An error in the total that is not worth a page-table walk: a quarter of a percent, and at least a
/// megabyte. Four times finer than the 1 % that the total must meet.
pub fn tolerable(total: Bytes) -> Bytes {
    Bytes((total.0 / 400).max(1 << 20))
}

/// A running process is read again after this long, even without changes in the counters: MADV_FREE and
/// huge pages change memory without changing them.
const STALE_WHEN_RUNNING: Seconds = Seconds(30.0);

/// The same for an idle process, whose share only other processes can change.
const STALE_WHEN_IDLE: Seconds = Seconds(600.0);

/// How far off its share may be.
pub fn uncertainty(since: &SinceReading, tolerable: Bytes, page_size: Bytes) -> Bytes {
    let now = since.now;
    let Some(then) = since.then else {
        let held = now.anon + now.shmem + now.swap;
        return match since.estimate_error {
            Some(error) => error + now.shmem + stale(since, tolerable),
            // An empty process is read once as well, hence more than tolerable.
            None => held.max(Bytes(tolerable.0 + 1)),
        };
    };
    let grown = now.anon.saturating_sub(then.anon);
    let shrunk = then.anon.saturating_sub(now.anon);
    let faulted = Bytes(since.minor_faults.saturating_mul(page_size.0));
    // Each fault beyond the growth may have copied a shared page. A program that maps and unmaps all the
    // time faults as much without sharing anything, and must not be read for that.
    let may_be_copied = since.copy_share.of(faulted.saturating_sub(grown));
    let copied = since
        .estimate_error
        .unwrap_or(may_be_copied)
        .min(since.shared);
    // Freed private pages are certain; of a shared page it had only a part.
    let shrunk = shrunk.min(since.shared);
    let shared = Bytes(now.shmem.0.abs_diff(then.shmem.0));
    copied.max(shrunk).max(shared) + stale(since, tolerable)
}

fn stale(since: &SinceReading, tolerable: Bytes) -> Bytes {
    let limit = if since.ran {
        STALE_WHEN_RUNNING
    } else {
        STALE_WHEN_IDLE
    };
    Bytes((tolerable.0 as f64 * since.age.0.max(0.0) / limit.0) as u64)
}

/// The cost of a smaller walk is mostly that of opening the file.
const SMALLEST_MEASURED_WALK: Bytes = Bytes(16 << 20);

/// The expected cost of a read, from the last one and the memory it walked. A process that was never read,
/// or was small then, is assumed to have 4 KiB pages only, at 30 µs per MiB (240 ms for 8 GiB).
pub fn expected_cost(last: Option<(Duration, Bytes)>, rss: Bytes) -> Duration {
    const FIXED: Duration = Duration::from_micros(50);
    let nanos_per_mib = match last {
        Some((cost, walked)) if walked >= SMALLEST_MEASURED_WALK => {
            cost.as_nanos() as f64 / (walked.0 as f64 / f64::from(1 << 20))
        }
        _ => 30_000.0,
    };
    FIXED + Duration::from_nanos((nanos_per_mib * rss.0 as f64 / f64::from(1 << 20)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const PAGE: Bytes = Bytes(4096);

    fn counters(anon_mib: u64) -> FastCounters {
        FastCounters {
            anon: Bytes(anon_mib * MIB),
            ..FastCounters::default()
        }
    }

    fn quiet(anon_mib: u64) -> SinceReading {
        SinceReading {
            then: Some(counters(anon_mib)),
            now: counters(anon_mib),
            shared: counters(anon_mib).anon,
            minor_faults: 0,
            copy_share: CopyShare::default(),
            ran: false,
            estimate_error: None,
            age: Seconds(1.0),
        }
    }

    fn uncertainty_of(since: SinceReading) -> Bytes {
        uncertainty(&since, tolerable(Bytes(400 * MIB)), PAGE)
    }

    #[test]
    fn growth_that_the_counters_follow_is_certain() {
        let grown = SinceReading {
            now: counters(300),
            minor_faults: 100 * MIB / 4096,
            ran: true,
            ..quiet(200)
        };
        assert!(uncertainty_of(grown) < Bytes(MIB));
    }

    #[test]
    fn faults_without_growth_may_be_copies_of_shared_pages() {
        let copied = SinceReading {
            minor_faults: 50 * MIB / 4096,
            ran: true,
            ..quiet(200)
        };
        assert!(uncertainty_of(copied) >= Bytes(50 * MIB));
    }

    #[test]
    fn a_process_that_shares_nothing_cannot_copy_however_much_it_faults() {
        let churning = SinceReading {
            shared: Bytes::ZERO,
            minor_faults: 50_000 * MIB / 4096,
            ran: true,
            ..quiet(200)
        };
        assert!(uncertainty_of(churning) < Bytes(MIB));
        let shrinking = SinceReading {
            now: counters(100),
            ..churning
        };
        assert!(uncertainty_of(shrinking) < Bytes(MIB));
        let shared_a_little = SinceReading {
            shared: Bytes(10 * MIB),
            ..churning
        };
        let uncertain = uncertainty_of(shared_a_little);
        assert!(uncertain >= Bytes(10 * MIB) && uncertain < Bytes(11 * MIB));
    }

    #[test]
    fn readings_without_a_surprise_make_faults_harmless_and_one_with_makes_them_suspect_again() {
        let mut copy_share = CopyShare::default();
        for _reading in 0..10 {
            copy_share.learn(Bytes::ZERO, Bytes(12 * MIB));
        }
        assert_eq!(copy_share.of(Bytes(256 * MIB)), Bytes(MIB));
        copy_share.learn(Bytes(3 * MIB), Bytes(12 * MIB));
        assert_eq!(copy_share.of(Bytes(12 * MIB)), Bytes(6 * MIB));
        copy_share.learn(Bytes(90 * MIB), Bytes(12 * MIB));
        assert_eq!(copy_share, CopyShare::default());
    }

    #[test]
    fn a_fork_that_was_never_read_is_as_uncertain_as_its_estimate() {
        let fork = |error: u64, age: f64| SinceReading {
            then: None,
            estimate_error: Some(Bytes(error * MIB)),
            ran: true,
            age: Seconds(age),
            ..quiet(200)
        };
        assert!(uncertainty_of(fork(0, 1.0)) < Bytes(MIB));
        assert!(uncertainty_of(fork(5, 1.0)) >= Bytes(5 * MIB));
        assert!(uncertainty_of(fork(0, 31.0)) > tolerable(Bytes(400 * MIB)));
    }

    #[test]
    fn an_idle_process_is_left_alone_for_minutes_and_a_running_one_for_seconds() {
        let tolerable = tolerable(Bytes(400 * MIB));
        let at = |age: f64, ran: bool| {
            uncertainty_of(SinceReading {
                age: Seconds(age),
                ran,
                ..quiet(200)
            })
        };
        assert!(at(500.0, false) < tolerable);
        assert!(at(700.0, false) > tolerable);
        assert!(at(20.0, true) < tolerable);
        assert!(at(31.0, true) > tolerable);
    }

    #[test]
    fn a_process_never_read_comes_before_all() {
        assert!(
            uncertainty_of(SinceReading {
                then: None,
                ..quiet(200)
            }) >= Bytes(200 * MIB)
        );
        assert!(
            uncertainty_of(SinceReading {
                then: None,
                ..quiet(0)
            }) > tolerable(Bytes(400 * MIB))
        );
    }

    #[test]
    fn cost_follows_the_last_reading() {
        assert_eq!(expected_cost(None, Bytes(8192 * MIB)).as_millis(), 245);
        let small = Some((Duration::from_micros(500), Bytes(200 << 10)));
        assert_eq!(expected_cost(small, Bytes(8192 * MIB)).as_millis(), 245);
        let huge_pages = Some((Duration::from_micros(130), Bytes(2048 * MIB)));
        assert!(expected_cost(huge_pages, Bytes(4096 * MIB)) < Duration::from_millis(1));
    }
}
