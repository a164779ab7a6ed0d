//! Growth that began so late in a long run that a view of all of it is too coarse to show it.

use crate::curve::{Curve, View};
use crate::observation::XUnit;
use crate::stats::median;
use crate::units::X;
use crate::verdict::{Judgement, Verdict};

use super::{Facts, Quantity, judge_view};

/// Late growth must be this many times what is material.
const LATE_GROWTH: f64 = 2.0;

/// Fewer points than this are not looked at apart.
const FEWEST_LATE_POINTS: u64 = 96;

/// A view of fewer periods does not show that memory rises and falls: its newest rise is that of a tooth.
const FEWEST_PERIODS: f64 = 6.0;

/// How much closer each further look at the newest part is.
const CLOSER: u64 = 4;

/// The newest quarter is looked at more closely, then the newest quarter of that. What came before
/// did not grow, so only a rise that is large beside what it did then counts. The first look that
/// has the growth's beginning in it decides.
pub fn late_growth(
    curve: &Curve,
    whole: &Judgement,
    unit: XUnit,
    quantity: Quantity,
    facts: &Facts,
) -> Option<Judgement> {
    let least = (LATE_GROWTH * whole.material.0).max(6.0 * whole.noise.0);
    let mut fraction = CLOSER;
    while curve.points() / fraction >= FEWEST_LATE_POINTS {
        let view = curve.recent_view(fraction);
        if whole
            .period
            .is_some_and(|X(period)| length(&view) < FEWEST_PERIODS * period)
        {
            return None;
        }
        if rises_late(&view, least) {
            let judgement = judge_view(&view, unit, quantity, facts);
            let grows = matches!(judgement.verdict, Verdict::Leak(_) | Verdict::WarmingUp);
            let began = judgement.onset_x > view.x.first().map(|x| X(*x));
            if grows && began {
                let span = whole
                    .span
                    .zip(judgement.span)
                    .map(|(all, newest)| (all.0, newest.1));
                return Some(Judgement { span, ..judgement });
            }
        }
        fraction *= CLOSER;
    }
    None
}

fn length(view: &View) -> f64 {
    view.x[view.len() - 1] - view.x[0]
}

/// Whether the newest tenth of a view is higher than its older half by more than `least`.
fn rises_late(view: &View, least: f64) -> bool {
    let points = view.len();
    let newest = median(&mut view.y[points - points.div_ceil(10)..].to_vec());
    let older = median(&mut view.y[..points.div_ceil(2)].to_vec());
    newest - older > least
}
