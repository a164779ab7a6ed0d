//! One series of a run, with the few numbers that decide whether it is judged.

use crate::curve::Curve;
use crate::judge::{Facts, Quantity, judge};
use crate::observation::XUnit;
use crate::verdict::Judgement;

/// A series that knows where it began and how far it swung.
#[derive(Debug, Clone)]
pub(super) struct Track {
    curve: Curve,
    span: Option<Span>,
}

/// A count that is taken seldom and repeated until it is taken again, as tensors are. Taken as it
/// comes it would be a staircase whose steps are the counting, not the training.
#[derive(Debug, Clone, Default)]
pub(super) struct SeldomTrack {
    track: Track,
    newest: Option<f64>,
    changed_at: f64,
    values: u64,
    pushed_at: f64,
    usual_gap: f64,
    /// The number of the newest count, where counts are numbered.
    number: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    began_at: f64,
    first: f64,
    lowest: f64,
    highest: f64,
    newest: f64,
    newest_x: f64,
}

impl Default for Track {
    fn default() -> Track {
        Track {
            curve: Curve::of_finished_coarse(),
            span: None,
        }
    }
}

impl Track {
    /// A series that is kept as finely as possible: the one that the verdict is about.
    pub(super) fn fine() -> Track {
        Track {
            curve: Curve::of_finished(),
            span: None,
        }
    }

    /// The newer half of what still rises rose by this share of what it has to rise by in all.
    const STILL_RISES: f64 = 0.5;

    /// Takes the next point.
    pub(super) fn push(&mut self, x: f64, y: f64) {
        if !x.is_finite() || !y.is_finite() {
            return;
        }
        self.curve.push(x, y);
        let span = self.span.get_or_insert(Span {
            began_at: x,
            first: y,
            lowest: y,
            highest: y,
            newest: y,
            newest_x: x,
        });
        span.lowest = span.lowest.min(y);
        span.highest = span.highest.max(y);
        span.newest = y;
        span.newest_x = x;
    }

    /// Judges it.
    pub(super) fn judge(&self, unit: XUnit, quantity: Quantity, facts: &Facts) -> Judgement {
        judge(&self.curve, unit, quantity, facts)
    }

    /// Points that were taken.
    pub(super) fn points(&self) -> u64 {
        self.curve.points()
    }

    /// Its first x.
    pub(super) fn began_at(&self) -> Option<f64> {
        self.span.map(|span| span.began_at)
    }

    /// Its value at some x that it reaches.
    pub(super) fn value_at(&self, x: f64) -> Option<f64> {
        self.curve.value_at(x)
    }

    /// Its first value.
    pub(super) fn first(&self) -> f64 {
        self.span.map_or(0.0, |span| span.first)
    }

    /// Its last x.
    pub(super) fn newest_x(&self) -> Option<f64> {
        self.span.map(|span| span.newest_x)
    }

    /// The newest value; nothing when there is none.
    pub(super) fn newest(&self) -> f64 {
        self.span.map_or(0.0, |span| span.newest)
    }

    /// The highest value; nothing when there is none.
    pub(super) fn highest(&self) -> f64 {
        self.span.map_or(0.0, |span| span.highest)
    }

    /// How far its highest value lies above its lowest.
    pub(super) fn swing(&self) -> f64 {
        self.span.map_or(0.0, |span| span.highest - span.lowest)
    }

    /// How far the newest value lies above the lowest.
    pub(super) fn rise(&self) -> f64 {
        self.span.map_or(0.0, |span| span.newest - span.lowest)
    }

    /// Whether it rose by at least this much and still rises. A cheap test to be made
    /// before the costly one: what does not rise cannot leak.
    pub(super) fn rises_by(&self, least: f64) -> bool {
        let Some(span) = &self.span else { return false };
        let rise = self.rise();
        let middle = 0.5 * (span.began_at + span.newest_x);
        rise > 0.0
            && rise >= least
            && self.growth_since(middle, span.newest_x) >= Track::STILL_RISES * least
    }

    /// Growth from one x to another of something that did not exist before its first point.
    pub(super) fn growth_from_nothing(&self, from: f64, to: f64) -> f64 {
        self.growth(from, to, |_| 0.0)
    }

    /// Growth from one x to another of something that was there before its first point.
    pub(super) fn growth_since(&self, from: f64, to: f64) -> f64 {
        self.growth(from, to, |span| span.first)
    }

    fn growth(&self, from: f64, to: f64, before: impl Fn(&Span) -> f64) -> f64 {
        let Some(span) = &self.span else { return 0.0 };
        let start = if from < span.began_at {
            before(span)
        } else {
            self.curve.value_at(from).unwrap_or(span.newest)
        };
        let end = if to < span.began_at {
            before(span)
        } else {
            self.curve.value_at(to).unwrap_or(span.newest)
        };
        end - start
    }
}

impl SeldomTrack {
    /// A repetition is a point of its own after this share of the usual gap, so that a count that
    /// stopped growing is seen to be level and one that grows by jumps has points between them.
    const REPEATED_AFTER: f64 = 0.5;
    /// The usual gap grows by no more than this factor at a time.
    const STRETCH: f64 = 1.5;

    /// Takes the next value, which may be a repetition of the last.
    pub(super) fn push(&mut self, x: f64, y: f64) {
        let changed = self.newest.is_some_and(|newest| newest != y);
        if changed {
            self.learn_gap(x - self.changed_at);
        }
        if changed || self.newest.is_none() {
            self.changed_at = x;
            self.values += 1;
        } else if x - self.pushed_at < self.usual_gap * SeldomTrack::REPEATED_AFTER {
            return;
        }
        self.newest = Some(y);
        self.pushed_at = x;
        self.track.push(x, y);
    }

    /// Takes the value of the count with this number, if it is a new one. Nothing is known between two counts, so a value
    /// that is repeated until the next one is no point: it would show stairs where there is a line.
    pub(super) fn push_counted(&mut self, x: f64, y: f64, number: u64) {
        if self.number.replace(number) == Some(number) {
            return;
        }
        self.newest = Some(y);
        self.changed_at = x;
        self.values += 1;
        self.track.push(x, y);
    }

    /// Where the newest value was first seen.
    pub(super) fn changed_at(&self) -> f64 {
        self.changed_at
    }

    /// How many values were seen, one that is repeated being one.
    pub(super) fn values(&self) -> u64 {
        self.values
    }

    /// The series of counts.
    pub(super) fn track(&self) -> &Track {
        &self.track
    }

    /// A count that stays the same for long stretches its gap, which says nothing about how often
    /// it is taken; so the gap grows slowly and shrinks at once.
    fn learn_gap(&mut self, gap: f64) {
        self.usual_gap = if self.usual_gap > 0.0 {
            gap.min(self.usual_gap * SeldomTrack::STRETCH)
        } else {
            gap
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_of_what_came_later_counts_from_nothing() {
        let mut track = Track::default();
        for step in 100..200 {
            track.push(f64::from(step), 50.0);
        }
        assert_eq!(track.growth_from_nothing(10.0, 150.0), 50.0);
        assert_eq!(track.growth_since(10.0, 150.0), 0.0);
        assert_eq!(track.growth_from_nothing(120.0, 150.0), 0.0);
        assert_eq!(Track::default().growth_from_nothing(0.0, 10.0), 0.0);
    }

    #[test]
    fn a_numbered_count_has_no_points_between_two_counts() {
        let mut seldom = SeldomTrack::default();
        for step in 0..300_u32 {
            // Counted at steps 1, 2, 4, 8 …, as the package does.
            let number = step.max(1).ilog2();
            seldom.push_counted(f64::from(step), f64::from(1_u32 << number), number.into());
        }
        assert_eq!(seldom.track().points(), 9);
        let between = seldom.track().value_at(192.0).unwrap();
        assert!((between - 192.0).abs() < 1.0, "{between}");
    }

    #[test]
    fn a_repeated_count_has_few_points() {
        let mut seldom = SeldomTrack::default();
        for step in 0..300 {
            seldom.push(f64::from(step), f64::from(step / 10 * 10));
        }
        let points = seldom.track().points();
        assert!((30..=75).contains(&points), "{points} points");
    }

    #[test]
    fn a_count_that_stopped_growing_is_seen_to_be_level() {
        let mut seldom = SeldomTrack::default();
        for step in 0..400_u32 {
            seldom.push(f64::from(step), f64::from(step.min(100) / 10 * 10));
        }
        let after_the_stop = seldom.track().points() - 20;
        assert!(after_the_stop >= 15, "{after_the_stop} points since");
    }
}
