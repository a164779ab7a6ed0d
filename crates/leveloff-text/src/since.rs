//! When growth counts from, in words.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_analysis::{GrowthOrigin, RunAccount};
use leveloff_classifier::units::X;

use crate::x_position::XPosition;

/// When growth counts from: `step 12`, `the marker (step 40)`, `the first sample`.
pub fn since_words(account: &RunAccount) -> String {
    let (since, unit) = (account.since, account.unit());
    let span = account.verdict.as_ref().and_then(|verdict| verdict.span);
    let is_first = |x: X| span.is_none_or(|(first, _)| x <= first);
    match (since.origin, since.moment.x(unit).map(X)) {
        (GrowthOrigin::Marker, Some(x)) => format!("the marker ({})", XPosition::new(x, unit)),
        (GrowthOrigin::Marker, None) => "the marker".to_owned(),
        // The clock's zero means little.
        (_, Some(x)) if unit != XUnit::Second || !is_first(x) => {
            XPosition::new(x, unit).to_string()
        }
        _ => "the first sample".to_owned(),
    }
}
