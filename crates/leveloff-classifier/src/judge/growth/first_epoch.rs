//! What the facts of a run say of growth: a cache that the first epoch fills, and the plan.

use crate::units::{Amount, X};
use crate::verdict::FullCache;

use super::super::Facts;
use super::super::prepared_curve::PreparedCurve;
use super::super::prior::Before;
use super::Growth;

/// Behind the end of the first epoch, growth is seen to go on from so many points: the shortest
/// stretch has as many.
const POINTS_BEHIND: usize = 4;

/// And from this many epochs on: a few batches may belong to the epoch's end.
const EPOCH_IS_OVER: f64 = 1.05;

/// There it must be known to grow at this share of the whole's rate. A cache that is full does not.
const GOES_ON_BEHIND: f64 = 0.3;

/// That is known at so many standard errors, which leave out one in forty at either end.
const STANDARD_ERRORS: f64 = 2.0;

/// From so many epochs on, a cache that the first fills explains growth less.
const EPOCHS_SEEN: f64 = 1.5;

/// And only growth that is older than this many epochs: a younger one began behind that end.
const EPOCHS_OLD: f64 = 0.5;

/// Long runs warm up for longer: growth younger than this share of the plan is not called a leak.
const SHARE_OF_PLAN: f64 = 0.08;

impl Growth {
    /// A cache of the data set pays only in a second epoch, and only if it fits below the limit.
    fn cache_would_pay(&self, prepared: &PreparedCurve<'_>, epoch: f64) -> bool {
        let planned = prepared.facts.planned;
        let has_second = planned.is_none_or(|X(planned)| planned > SECOND_EPOCH * epoch);
        let filled = self.at_end_of_epoch(prepared, epoch);
        let fits = |Amount(limit): Amount| filled < limit;
        has_second && prepared.facts.limit.is_none_or(fits)
    }

    /// What is held at the end of the first epoch, or now if that is over.
    fn at_end_of_epoch(&self, prepared: &PreparedCurve<'_>, epoch: f64) -> f64 {
        let rest = (epoch - prepared.end()).max(0.0);
        self.line.at(prepared.end()) + self.line.slope * rest
    }

    /// The cache that would explain this growth, once it is full. Nothing is foretold of an epoch that is over.
    pub fn full_cache(&self, prepared: &PreparedCurve<'_>) -> Option<FullCache> {
        let X(epoch) = prepared.facts.epoch?;
        (epoch > prepared.end()).then(|| FullCache {
            at: X(epoch),
            amount: Amount(self.at_end_of_epoch(prepared, epoch)),
        })
    }

    /// Where a cache of the data set no longer explains this growth, if one may: a few points behind the first epoch.
    pub fn excused_until(&self, prepared: &PreparedCurve<'_>) -> Option<f64> {
        let X(epoch) = prepared.facts.epoch?;
        let is_over = prepared.end() >= EPOCH_IS_OVER * epoch;
        (!is_over && self.in_first_epoch(prepared)).then_some(EPOCH_IS_OVER * epoch)
    }

    /// Whether all of it may be a cache that the first epoch fills: it has not gone on behind the
    /// end of that epoch for long enough.
    pub fn in_first_epoch(&self, prepared: &PreparedCurve<'_>) -> bool {
        let epoch = prepared.facts.epoch.map(|epoch| epoch.0);
        let Some(epoch) = epoch.filter(|&epoch| self.onset < epoch) else {
            return false;
        };
        if !self.cache_would_pay(prepared, epoch) {
            return false;
        }
        let past = prepared.x.partition_point(|&x| x < epoch);
        if past + POINTS_BEHIND > prepared.len() || prepared.end() < EPOCH_IS_OVER * epoch {
            return true;
        }
        let after = prepared.line_from(past);
        after.slope - STANDARD_ERRORS * after.slope_error < GOES_ON_BEHIND * self.line.slope
    }
}

/// A second epoch is planned if the plan is longer than so many.
const SECOND_EPOCH: f64 = 1.05;

/// Fewer seconds decide nothing, however many steps they have: a cache of the data set takes as long to fill.
const FEWEST_SECONDS: f64 = 30.0;

/// Where such a cache explains nothing any more, fewer are enough: a process that starts takes as long for its libraries.
const FEWEST_SECONDS_WITHOUT_CACHE: f64 = 8.0;

/// From this share of a plan of one epoch on, there is no second epoch that a cache could serve.
const SHARE_OF_ONE_EPOCH: f64 = 0.5;

/// The age at which growth is a leak that is `age` old and came after `before`.
pub fn decided_after(prepared: &PreparedCurve<'_>, age: f64, before: Before) -> f64 {
    let past_first_epoch = is_past_first_epoch(prepared, age);
    let decided = prepared.decision_ages.at(before, past_first_epoch);
    let plan = share_of_plan(&prepared.facts);
    decided.max(plan).max(fewest_seconds(prepared, age))
}

/// Whether it went on for so long behind the first epoch that a cache which that fills is no explanation.
fn is_past_first_epoch(prepared: &PreparedCurve<'_>, age: f64) -> bool {
    let is_past = |X(epoch): X| prepared.end() > EPOCHS_SEEN * epoch && age > EPOCHS_OLD * epoch;
    prepared.facts.epoch.is_some_and(is_past)
}

/// Whether the run is far in a plan of a single epoch.
fn is_in_only_epoch(prepared: &PreparedCurve<'_>) -> bool {
    let (epoch, planned) = (prepared.facts.epoch, prepared.facts.planned);
    epoch.zip(planned).is_some_and(|(X(epoch), X(planned))| {
        planned <= SECOND_EPOCH * epoch && prepared.end() >= SHARE_OF_ONE_EPOCH * planned
    })
}

fn share_of_plan(facts: &Facts) -> f64 {
    SHARE_OF_PLAN * facts.planned.map_or(0.0, |planned| planned.0)
}

/// Younger growth is no leak, whatever its prior says, while nothing else is known of it.
pub fn least_age(facts: &Facts) -> f64 {
    share_of_plan(facts).max(on_axis(FEWEST_SECONDS, facts))
}

/// The seconds that growth of this age must have lasted, on the axis of the curve, where its pace is known.
pub fn fewest_seconds(prepared: &PreparedCurve<'_>, age: f64) -> f64 {
    let seconds = match is_past_first_epoch(prepared, age) || is_in_only_epoch(prepared) {
        true => FEWEST_SECONDS_WITHOUT_CACHE,
        false => FEWEST_SECONDS,
    };
    on_axis(seconds, &prepared.facts)
}

fn on_axis(seconds: f64, facts: &Facts) -> f64 {
    let pace = facts.pace.filter(|pace| *pace > 0.0);
    pace.map_or(0.0, |pace| seconds / pace)
}
