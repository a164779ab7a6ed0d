//! Estimates how many pages a process has copied since a fork, from its faults.
//!
//! A fork starts with all pages of its parent. The first write to one of them, by the fork or by its parent, copies it:
//! the memory of the run grows by a page, and no counter but the faults of the writer changes. So the faults since
//! the fork bound the copies. They exceed them, because a buffer that is freed and allocated again faults as well. How
//! much of the faults are copies is learned from readings: the forks of one process behave alike, and data loaders are
//! forked again in each epoch.

use leveloff_model::units::Bytes;

/// How much a process, or the forks of one process, had copied after how many faults, from readings.
#[derive(Debug, Clone)]
pub struct CopyCurve {
    /// Faulted and copied memory, by faults.
    points: Vec<(Bytes, Bytes)>,
    /// The share of the faults that counts as copies before the first reading.
    unread_share: f64,
}

/// What one process copied between its last readings. A fork copies most of what it ever will in its first seconds; later
/// its faults are buffers that come and go, which the curve of all forks does not show.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecentCopies {
    /// Faulted and copied memory at the last reading.
    last: Option<(Bytes, Bytes)>,
    /// The share of its faults that were copies.
    share: Option<f64>,
}

/// An estimate with its error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiedPages {
    /// Copied since the fork.
    pub copied: Bytes,
    /// How far off that may be.
    pub error: Bytes,
}

/// Points that are kept; more would not make a curve of this kind more exact.
const MOST_POINTS: usize = 16;

/// A new point replaces those whose faults differ by less than this part: behaviour changes, the newest counts.
const SAME_FAULTS: f64 = 0.2;

/// A new point that differs from the curve by this part ends it: what was seen beyond came from earlier forks, which
/// behaved in another way.
const OTHER_BEHAVIOUR: f64 = 0.25;

/// The first faults of a fork are nearly all copies: 15 MB of 18 MB in a torch worker.
const SHARE_OF_FORKS: f64 = 0.8;

/// A process that forks goes on with its work, which allocates and frees: a torch trainer copied 21 MB with 44 MB of
/// faults in one epoch, and 69 MB with 66 MB in another.
const SHARE_OF_PARENT: f64 = 0.4;

/// Forks of one process differ by about this part in what they have copied.
const SPREAD: u64 = 16;

impl CopyCurve {
    /// Nothing is known of the forks of a process yet.
    pub fn of_forks() -> CopyCurve {
        CopyCurve {
            points: Vec::new(),
            unread_share: SHARE_OF_FORKS,
        }
    }

    /// Nothing is known of a process that forks yet.
    pub fn of_parent() -> CopyCurve {
        CopyCurve {
            points: Vec::new(),
            unread_share: SHARE_OF_PARENT,
        }
    }

    /// Learns from a reading of a fork.
    pub fn learn(&mut self, faulted: Bytes, copied: Bytes) {
        let copied = copied.min(faulted);
        let (faults, near) = (faulted.0 as f64, SAME_FAULTS * faulted.0 as f64);
        let expected = self.at(faulted).0;
        let differs =
            expected.abs_diff(copied.0) as f64 > OTHER_BEHAVIOUR * expected.max(copied.0) as f64;
        self.points.retain(|(other, _)| {
            (other.0 as f64 - faults).abs() > near && !(differs && *other > faulted)
        });
        if self.points.len() >= MOST_POINTS {
            self.points.remove(0);
        }
        self.points.push((faulted, copied));
        self.points.sort_unstable();
    }

    /// The most faults that a reading was taken after.
    pub fn known_to(&self) -> Bytes {
        self.points.last().map_or(Bytes::ZERO, |point| point.0)
    }

    /// What a fork with these faults has copied of `inherited`.
    pub fn estimate(&self, faulted: Bytes, inherited: Bytes) -> CopiedPages {
        let copied = self.at(faulted).min(inherited);
        let beyond = faulted.saturating_sub(self.known_to());
        CopiedPages {
            copied,
            error: beyond.min(inherited) + Bytes(copied.0 / SPREAD),
        }
    }

    fn at(&self, faulted: Bytes) -> Bytes {
        let Some(&last) = self.points.last() else {
            return part(faulted, self.unread_share);
        };
        let after = self.points.iter().position(|point| point.0 >= faulted);
        let before = |place: usize| match place {
            0 => (Bytes::ZERO, Bytes::ZERO),
            place => self.points[place - 1],
        };
        match after {
            Some(place) => between(before(place), self.points[place], faulted),
            // Beyond the readings, copying goes on as between the last two of them.
            None => {
                let first = before(self.points.len() - 1);
                let slope = slope(first, last).clamp(0.0, 1.0);
                last.1 + part(faulted.saturating_sub(last.0), slope)
            }
        }
    }
}

impl RecentCopies {
    /// Fewer faults between two readings show no share.
    const FEWEST_FAULTS: Bytes = Bytes(256 << 10);

    /// Learns from the next reading.
    pub fn learn(&mut self, faulted: Bytes, copied: Bytes) {
        if let Some(last) = self.last {
            if faulted.saturating_sub(last.0) < RecentCopies::FEWEST_FAULTS {
                return;
            }
            let newest = slope(last, (faulted, copied)).clamp(0.0, 1.0);
            self.share = Some(self.share.map_or(newest, |share| 0.5 * (share + newest)));
        }
        self.last = Some((faulted, copied));
    }

    /// It forked: its faults are counted from there.
    pub fn forked(&mut self) {
        self.last = None;
    }

    /// Copies among these faults, if its readings show that.
    pub fn of(&self, faulted: Bytes) -> Option<Bytes> {
        self.share.map(|share| part(faulted, share))
    }
}

fn between(from: (Bytes, Bytes), to: (Bytes, Bytes), faulted: Bytes) -> Bytes {
    let copied = from.1.0 as f64 + slope(from, to) * faulted.saturating_sub(from.0).0 as f64;
    Bytes(copied.max(0.0) as u64)
}

fn slope(from: (Bytes, Bytes), to: (Bytes, Bytes)) -> f64 {
    (to.1.0 as f64 - from.1.0 as f64) / (to.0.saturating_sub(from.0).0.max(1)) as f64
}

fn part(amount: Bytes, share: f64) -> Bytes {
    Bytes((amount.0 as f64 * share) as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mib(amount: u64) -> Bytes {
        Bytes(amount << 20)
    }

    fn copied(curve: &CopyCurve, faulted: u64) -> u64 {
        curve.estimate(mib(faulted), mib(1000)).copied.0 >> 20
    }

    #[test]
    fn before_any_reading_most_faults_are_copies_and_all_may_be() {
        let estimate = CopyCurve::of_forks().estimate(mib(20), mib(1000));
        assert_eq!(estimate.copied, mib(16));
        assert!(estimate.error >= mib(4));
        let bounded = CopyCurve::of_forks().estimate(mib(20), mib(5));
        assert_eq!(bounded.copied, mib(5));
        let parent = CopyCurve::of_parent().estimate(mib(20), mib(1000));
        assert!(parent.copied < estimate.copied);
    }

    #[test]
    fn buffers_that_come_and_go_stop_counting_once_a_reading_shows_them() {
        let mut curve = CopyCurve::of_forks();
        curve.learn(mib(18), mib(15));
        curve.learn(mib(36), mib(15));
        assert_eq!((copied(&curve, 9), copied(&curve, 30)), (7, 15));
        assert_eq!(copied(&curve, 500), 15);
        assert_eq!(
            curve.estimate(mib(36), mib(1000)).error,
            Bytes((15 << 20) / 16)
        );
    }

    #[test]
    fn workers_that_copy_on_and_on_are_followed() {
        let mut curve = CopyCurve::of_forks();
        curve.learn(mib(10), mib(10));
        curve.learn(mib(100), mib(100));
        assert_eq!(copied(&curve, 150), 150);
    }

    #[test]
    fn the_newest_reading_counts() {
        let mut curve = CopyCurve::of_forks();
        curve.learn(mib(20), mib(15));
        curve.learn(mib(19), mib(4));
        assert_eq!(copied(&curve, 19), 4);
        curve.learn(mib(60), mib(50));
        curve.learn(mib(30), mib(4));
        assert!(copied(&curve, 60) < 10, "the earlier forks copied more");
        for n in 1..100 {
            curve.learn(mib(30 * n), mib(n));
        }
        assert!(curve.points.len() <= MOST_POINTS);
    }

    #[test]
    fn a_process_goes_on_copying_as_between_its_last_readings() {
        let mut recent = RecentCopies::default();
        recent.learn(mib(18), mib(15));
        assert_eq!(recent.of(mib(10)), None);
        recent.learn(mib(111), mib(105));
        recent.learn(mib(131), mib(105));
        recent.learn(mib(151), mib(105));
        let next = recent.of(mib(40)).unwrap();
        assert!(next < mib(12), "{next:?}");
        recent.forked();
        recent.learn(mib(3), mib(3));
        assert_eq!(recent.of(mib(40)), Some(next), "another count of faults");
    }

    proptest! {
        #[test]
        fn an_estimate_is_within_its_bounds(
            readings in proptest::collection::vec((0u64..1 << 40, 0u64..1 << 40), 0..30),
            faulted in 0u64..1 << 40,
            inherited in 0u64..1 << 40,
        ) {
            let mut curve = CopyCurve::of_forks();
            for (faulted, copied) in readings {
                curve.learn(Bytes(faulted), Bytes(copied));
            }
            let estimate = curve.estimate(Bytes(faulted), Bytes(inherited));
            prop_assert!(estimate.copied <= Bytes(inherited));
            prop_assert!(estimate.copied <= Bytes(faulted.saturating_add(faulted / 1000 + 2)));
        }
    }
}
