//! Where training begins on a time axis: import and model loading are not growth.
//!
//! With steps, a curve begins with the first step. Without, it begins where the steep rise of the start ends: where memory
//! grows several times more slowly than just before.

use crate::curve::View;
use crate::observation::XUnit;
use crate::stats::median;

use super::{Quantity, material};

/// The start is over before this share of what was seen.
const LATEST_SHARE: f64 = 0.4;

/// The rise just before the end of the start is at least so many times as steep as what follows.
const STEEPER: f64 = 5.0;

/// What follows is compared over so many times the length of the rise before.
const COMPARED_OVER: usize = 4;

/// The rise is looked at over so many points before, and over twice as many, and so on.
const SHORTEST: usize = 2;

/// Fewer points are not cut.
const FEWEST: usize = 16;

/// The view from the end of the start on.
pub fn without_startup(view: View, unit: XUnit, quantity: Quantity) -> View {
    if unit != XUnit::Second || quantity != Quantity::Memory || view.len() < FEWEST {
        return view;
    }
    match end_of_startup(&view) {
        Some(end) => view.since(end),
        None => view,
    }
}

/// The newest point at which a steep rise ends, if there is one.
fn end_of_startup(view: &View) -> Option<usize> {
    let points = view.len();
    let latest = (LATEST_SHARE * points as f64) as usize;
    let level = median(&mut view.y[points - points.div_ceil(4)..].to_vec());
    let least = material(level.abs(), Quantity::Memory);
    (1..=latest).rev().find(|&end| {
        let mut width = SHORTEST;
        while width <= latest {
            if is_end(view, end, width, least) {
                return true;
            }
            width *= 2;
        }
        false
    })
}

fn is_end(view: &View, end: usize, width: usize, least: f64) -> bool {
    let from = end.saturating_sub(width);
    let to = (end + COMPARED_OVER * width).min(view.len() - 1);
    let rise = view.y[end] - view.y[from];
    let before = rise / (view.x[end] - view.x[from]);
    let after = (view.y[to] - view.y[end]) / (view.x[to] - view.x[end]);
    let falls_back = view.y[to] < view.y[from] + 0.5 * rise;
    rise > 2.0 * least && before > STEEPER * after.max(0.0) && !falls_back
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use crate::judge::{Facts, judge};
    use crate::verdict::Judgement;

    /// Seconds over which a program loads 90 MB, and then holds them.
    fn judged(unit: XUnit, loading: f64) -> Judgement {
        let mut curve = Curve::of_finished();
        for n in 0..170 {
            let t = f64::from(n) / 10.0;
            curve.push(t, 3e5 + 15e6 * t.min(loading));
        }
        judge(&curve, unit, Quantity::Memory, &Facts::default())
    }

    #[test]
    fn what_is_level_behind_its_start_up_was_not_level_from_the_start() {
        let judgement = judged(XUnit::Second, 6.0);
        assert!(judgement.verdict.is_level());
        assert_eq!(judgement.startup_end, judgement.level_since_x);
        // The newest point that qualifies lies a little behind the corner.
        let end = judgement.startup_end.unwrap().0;
        assert!((6.0..8.0).contains(&end), "{end}");
    }

    #[test]
    fn steps_and_flat_runs_have_no_start_up() {
        assert_eq!(judged(XUnit::Step, 6.0).startup_end, None);
        assert_eq!(judged(XUnit::Second, 0.0).startup_end, None);
    }
}
