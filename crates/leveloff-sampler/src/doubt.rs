//! How wrong a process's share of the tree's memory may be by now, and whom to read next.
//!
//! Between two PSS readings the fast counters carry a process's share. They follow pages that it
//! maps and frees for itself exactly. They miss three things: a page that was shared and is now
//! its own (copy-on-write changes no counter but the faults), pages that it shares with a relative
//! who came or went, and shared memory whose other users changed. Each of these is bounded here in
//! bytes, so that the budget goes where the number is most uncertain.

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
    /// Most anonymous memory that it may have shared then. What it did not share it cannot copy.
    pub shared: Bytes,
    /// Faults since.
    pub minor_faults: u64,
    /// Share of its faults that are to be taken for copies.
    pub copying: Copying,
    /// Whether it has used any CPU since.
    pub ran: bool,
    /// Whether a relative that shares its anonymous pages came or went.
    pub kin_changed: bool,
    /// Time since.
    pub age: Seconds,
}

/// The share of a process's faults, beyond its growth, that may be copies of shared pages. At first
/// any of them may be. A data loader that churns through buffers faults all the time, and readings
/// that bring no surprise show that these are no copies; one that does says the opposite at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Copying(f64);

/// Faults are never taken for harmless altogether: of those that never were copies, this share.
const LEAST_COPYING: f64 = 1.0 / 256.0;

impl Default for Copying {
    fn default() -> Copying {
        Copying(1.0)
    }
}

impl Copying {
    /// How much of what was faulted in may have been copied.
    pub fn of(self, faulted: Bytes) -> Bytes {
        Bytes((faulted.0 as f64 * self.0) as u64)
    }

    /// Learns from a reading that was `surprise` off after `faulted` of faults. Twice what was
    /// seen is expected next, and trust grows by no more than a half for each reading.
    pub fn learn(&mut self, surprise: Bytes, faulted: Bytes) {
        let seen = surprise.0 as f64 / faulted.0.max(1) as f64;
        self.0 = (2.0 * seen).max(self.0 / 2.0).clamp(LEAST_COPYING, 1.0);
    }
}

/// An error in the total that is not worth a page-table walk: a quarter of a percent of it, and
/// never less than a megabyte. Four times finer than the 1 % that the total is held to.
pub fn tolerable(total: Bytes) -> Bytes {
    Bytes((total.0 / 400).max(1 << 20))
}

/// A process that runs is read again after this long, whatever the counters say: MADV_FREE and
/// huge pages move memory without a trace in them.
const STALE_WHEN_RUNNING: Seconds = Seconds(30.0);

/// One that does not run changes only through others.
const STALE_WHEN_IDLE: Seconds = Seconds(600.0);

/// How far off its share may be.
pub fn doubt(since: &SinceReading, tolerable: Bytes, page_size: Bytes) -> Bytes {
    let now = since.now;
    let Some(then) = since.then else {
        // Read a process with nothing in it once as well: one more than tolerable.
        return (now.anon + now.shmem + now.swap).max(Bytes(tolerable.0 + 1));
    };
    let grown = now.anon.saturating_sub(then.anon);
    let shrunk = then.anon.saturating_sub(now.anon);
    let faulted = Bytes(since.minor_faults.saturating_mul(page_size.0));
    // Faults beyond the growth may each have made a shared page its own. A program that maps and
    // unmaps all the time faults as much, and shares nothing: it must not be walked for that.
    let copied = since
        .copying
        .of(faulted.saturating_sub(grown))
        .min(since.shared);
    // What it freed of its own is certain; of a page that it shared it had only a part.
    let shrunk = shrunk.min(since.shared);
    let shared = Bytes(now.shmem.0.abs_diff(then.shmem.0));
    let kin = if since.kin_changed {
        now.anon
    } else {
        Bytes::ZERO
    };
    let limit = if since.ran {
        STALE_WHEN_RUNNING
    } else {
        STALE_WHEN_IDLE
    };
    let stale = Bytes((tolerable.0 as f64 * since.age.0.max(0.0) / limit.0) as u64);
    copied.max(shrunk).max(shared).max(kin) + stale
}

/// A walk over less than this tells how long opening takes, not walking.
const WALK_THAT_TELLS: Bytes = Bytes(16 << 20);

/// What a read is expected to cost: as the last one did, by the memory it had to walk. A process
/// that was never read, or was small then, is taken to be all 4 KiB pages, at 30 µs for a MiB
/// (240 ms for 8 GiB).
pub fn expected_cost(last: Option<(Duration, Bytes)>, rss: Bytes) -> Duration {
    const FIXED: Duration = Duration::from_micros(50);
    let nanos_per_mib = match last {
        Some((cost, walked)) if walked >= WALK_THAT_TELLS => {
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
            copying: Copying::default(),
            ran: false,
            kin_changed: false,
            age: Seconds(1.0),
        }
    }

    fn doubt_of(since: SinceReading) -> Bytes {
        doubt(&since, tolerable(Bytes(400 * MIB)), PAGE)
    }

    #[test]
    fn growth_that_the_counters_follow_is_certain() {
        let grown = SinceReading {
            now: counters(300),
            minor_faults: 100 * MIB / 4096,
            ran: true,
            ..quiet(200)
        };
        assert!(doubt_of(grown) < Bytes(MIB));
    }

    #[test]
    fn faults_without_growth_may_be_copies_of_shared_pages() {
        let copied = SinceReading {
            minor_faults: 50 * MIB / 4096,
            ran: true,
            ..quiet(200)
        };
        assert!(doubt_of(copied) >= Bytes(50 * MIB));
    }

    #[test]
    fn a_process_that_shares_nothing_cannot_copy_however_much_it_faults() {
        let churning = SinceReading {
            shared: Bytes::ZERO,
            minor_faults: 50_000 * MIB / 4096,
            ran: true,
            ..quiet(200)
        };
        assert!(doubt_of(churning) < Bytes(MIB));
        let shrinking = SinceReading {
            now: counters(100),
            ..churning
        };
        assert!(doubt_of(shrinking) < Bytes(MIB));
        let shared_a_little = SinceReading {
            shared: Bytes(10 * MIB),
            ..churning
        };
        let doubt = doubt_of(shared_a_little);
        assert!(doubt >= Bytes(10 * MIB) && doubt < Bytes(11 * MIB));
    }

    #[test]
    fn readings_without_a_surprise_make_faults_harmless_and_one_with_makes_them_suspect_again() {
        let mut copying = Copying::default();
        for _reading in 0..10 {
            copying.learn(Bytes::ZERO, Bytes(12 * MIB));
        }
        assert_eq!(copying.of(Bytes(256 * MIB)), Bytes(MIB));
        copying.learn(Bytes(3 * MIB), Bytes(12 * MIB));
        assert_eq!(copying.of(Bytes(12 * MIB)), Bytes(6 * MIB));
        copying.learn(Bytes(90 * MIB), Bytes(12 * MIB));
        assert_eq!(copying, Copying::default());
    }

    #[test]
    fn a_relative_that_came_makes_everything_shared_uncertain() {
        assert!(
            doubt_of(SinceReading {
                kin_changed: true,
                ..quiet(200)
            }) >= Bytes(200 * MIB)
        );
    }

    #[test]
    fn an_idle_process_is_left_alone_for_minutes_and_a_running_one_for_seconds() {
        let tolerable = tolerable(Bytes(400 * MIB));
        let at = |age: f64, ran: bool| {
            doubt_of(SinceReading {
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
            doubt_of(SinceReading {
                then: None,
                ..quiet(200)
            }) >= Bytes(200 * MIB)
        );
        assert!(
            doubt_of(SinceReading {
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
