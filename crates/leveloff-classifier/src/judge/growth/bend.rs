//! Does growth slow down, or is it known to go on as it was?

use super::Growth;

/// A newer half that grows at less than this share of the older half's rate is a bend.
const BENDS_BELOW: f64 = 0.85;

/// It is seen when the upper end, two standard errors higher, is below this share: what may as well
/// be straight counts as straight.
const SEEN_BEND: f64 = 0.97;

/// To be a leak, growth must be known, at two standard errors, not to slow down below this share.
/// A saturating curve that is seen over a third of its time constant slows down to 0.85.
const KNOWN_STRAIGHT: f64 = 0.7;

/// After faster growth that slowed down, more has to be known: a logarithm seen over its newer half
/// slows down to 0.71.
const KNOWN_STRAIGHT_AFTER_SLOWING: f64 = 0.85;

/// All is eased from the decision age on, and by most at this many times of it: growth that old is
/// no warmup, even if less is known of it.
const EASED_AT: f64 = 4.0;

/// How much less has to be known for growth of four times the decision age.
const KNOWN_STRAIGHT_EASED: f64 = 0.25;

/// Growth that slows down below this share is no leak, whatever is known of it.
const LEAST_SLOWING: f64 = 0.8;

/// How much less strict that is for growth of four times the decision age.
const LEAST_SLOWING_EASED: f64 = 0.1;

/// Growth that slows down below this share is no leak, when that it slows down is certain.
const KNOWN_BEND: f64 = 0.96;

/// How much less strict that is for growth of four times the decision age.
const KNOWN_BEND_EASED: f64 = 0.05;

/// It is certain when the upper end, two standard errors higher, is below this share.
const CERTAIN_BEND: f64 = 0.98;

/// A parabola whose newer half has less than a third of the older half's rate has its top before the
/// newest point. Below this, which leaves a little for noise, growth may have ended by now.
const STOPS_BELOW: f64 = 0.4;

/// Growth looks straight if it is known, at two standard errors, not to slow down below this share: less than a leak
/// has to be known to be.
const LOOKS_STRAIGHT: f64 = 0.5;

/// The newest part must grow at this share of the whole's rate.
const TAIL_SHARE: f64 = 0.6;

/// And be known, give or take a standard error, to grow at this share.
const TAIL_KNOWN: f64 = 0.2;

impl Growth {
    /// Whether it slows down.
    pub fn bends(&self) -> bool {
        self.curvature
            .is_some_and(|bend| bend.slowing < BENDS_BELOW && bend.slowing_high < SEEN_BEND)
    }

    /// Whether it slows down so much that it may have ended by now.
    pub fn bends_to_a_stop(&self) -> bool {
        self.curvature
            .is_some_and(|bend| bend.slowing < STOPS_BELOW)
    }

    /// Whether it is known to go on as it was.
    pub fn is_straight(&self) -> bool {
        let Some(bend) = self.curvature else {
            return false;
        };
        let old = ((self.age / self.decision_age - 1.0) / (EASED_AT - 1.0)).clamp(0.0, 1.0);
        let young = if self.slowed {
            KNOWN_STRAIGHT_AFTER_SLOWING
        } else {
            KNOWN_STRAIGHT
        };
        let known = young - KNOWN_STRAIGHT_EASED * old;
        let known_to_bend =
            bend.slowing < KNOWN_BEND - KNOWN_BEND_EASED * old && bend.slowing_high < CERTAIN_BEND;
        !known_to_bend
            && bend.slowing >= LEAST_SLOWING - LEAST_SLOWING_EASED * old
            && bend.slowing_low >= known
            && self.goes_on()
    }

    /// Whether it may be straight as far as can be seen: it does not slow down notably, and its newest part goes on.
    pub fn looks_straight(&self) -> bool {
        let bend = self.curvature;
        let straight = bend.is_some_and(|bend| {
            let known_to_bend = bend.slowing < KNOWN_BEND && bend.slowing_high < CERTAIN_BEND;
            !known_to_bend && bend.slowing >= LEAST_SLOWING && bend.slowing_low >= LOOKS_STRAIGHT
        });
        straight && !self.slowed && self.goes_on()
    }

    /// Whether its newest part still grows.
    pub fn goes_on(&self) -> bool {
        self.tail.slope >= TAIL_SHARE * self.line.slope
            && self.tail.slope - self.tail.slope_error >= TAIL_KNOWN * self.line.slope
    }
}
