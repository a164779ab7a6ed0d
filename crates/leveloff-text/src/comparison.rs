//! A comparison in words. Text, Markdown, JSON and the check take theirs from here.

use leveloff_classifier::compare::{
    ChangeFinding, Comparison, Difference, FEWEST_POINTS, LeakChange, Outcome, USUAL_SPREAD,
};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::profile::{Quantity, Side};
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::Kind;

use crate::rate::{amount, change_with_interval};
use crate::speed::three_digits;
use crate::x_position::{XPosition, extent};

/// Lengths that differ by less than this share are the same.
const SAME_LENGTH: f64 = 0.1;

/// What a comparison comes to, as printed large.
pub fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Same => "SAME",
        Outcome::Better => "BETTER",
        Outcome::Worse => "WORSE",
        Outcome::Undecided => "UNDECIDED",
    }
}

/// Its name in files.
pub fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Same => "same",
        Outcome::Better => "better",
        Outcome::Worse => "worse",
        Outcome::Undecided => "undecided",
    }
}

/// The name of what became of a leak, in files.
pub fn leak_name(leak: LeakChange) -> &'static str {
    match leak {
        LeakChange::None => "none",
        LeakChange::Came => "came",
        LeakChange::Went => "went",
        LeakChange::Stayed => "stayed",
        LeakChange::Unclear => "unclear",
        LeakChange::Disputed => "disputed",
    }
}

/// The name of a quantity in files.
pub fn quantity_name(quantity: Quantity) -> String {
    match quantity {
        Quantity::Level => "level_bytes".to_owned(),
        Quantity::Peak => "peak_bytes".to_owned(),
        Quantity::Growth => "growth_bytes_per_x".to_owned(),
        Quantity::Baseline => "start_bytes".to_owned(),
        Quantity::WarmupEnd => "warmup_end_x".to_owned(),
        Quantity::Speed => "steps_per_second".to_owned(),
        Quantity::Role(role) => format!("role_{}_bytes", role.name()),
        Quantity::Kind(kind) => format!("kind_{}_bytes", kind.name()),
    }
}

/// A quantity as the label of a row. A rate has its base in the label, so its numbers need none.
pub fn quantity_words(quantity: Quantity, unit: XUnit) -> String {
    match quantity {
        Quantity::Level => "last fifth".to_owned(),
        Quantity::Peak => "lasting peak".to_owned(),
        Quantity::Growth => format!("growth per {}", unit.name()),
        Quantity::Baseline => "at the start".to_owned(),
        Quantity::WarmupEnd => "end of warmup".to_owned(),
        Quantity::Speed => format!("{}s per second", unit.name()),
        Quantity::Role(role) => role.name().to_owned(),
        Quantity::Kind(kind) => match kind {
            Kind::Anonymous => "anonymous".to_owned(),
            Kind::Shared => "shared".to_owned(),
            Kind::DevShm => "in /dev/shm".to_owned(),
            Kind::Memfd => "in memfds".to_owned(),
            Kind::Swap => "swapped out".to_owned(),
            Kind::Descriptors => "descriptors".to_owned(),
        },
    }
}

/// The name of what a difference comes to, in files.
pub fn finding_name(finding: ChangeFinding) -> &'static str {
    match finding {
        ChangeFinding::Noise => "noise",
        ChangeFinding::Immaterial => "immaterial",
        ChangeFinding::More => "more",
        ChangeFinding::Less => "less",
    }
}

/// What a difference comes to, in a table's cell.
pub fn finding_words(finding: ChangeFinding) -> &'static str {
    match finding {
        ChangeFinding::Noise => "noise",
        ChangeFinding::Immaterial => "below threshold",
        ChangeFinding::More => "more",
        ChangeFinding::Less => "less",
    }
}

/// The same for a quantity of which more is not more memory.
pub fn difference_words(difference: &Difference) -> &'static str {
    match (difference.quantity, difference.finding) {
        (Quantity::Speed, ChangeFinding::More) => "faster",
        (Quantity::Speed, ChangeFinding::Less) => "slower",
        (_, finding) => finding_words(finding),
    }
}

/// One of the two values of a difference.
pub fn value_words(quantity: Quantity, value: f64, unit: XUnit) -> String {
    match quantity {
        Quantity::WarmupEnd => XPosition::new(X(value), unit).to_string(),
        Quantity::Speed => three_digits(value),
        _ => amount(value),
    }
}

/// The change with its interval, and its unit once.
pub fn change_words(difference: &Difference, unit: XUnit) -> String {
    let Difference {
        change, low, high, ..
    } = *difference;
    match difference.quantity {
        Quantity::WarmupEnd => {
            let number = |x: f64| match x.round() {
                0.0 => "0".to_owned(),
                x => format!("{x:+}"),
            };
            let name = unit.name();
            format!(
                "{} {name}s ({} … {})",
                number(change),
                number(low),
                number(high)
            )
        }
        Quantity::Speed => {
            let percent = |change: f64| format!("{:+.0}", 100.0 * change / difference.before.mean);
            let (change, low, high) = (percent(change), percent(low), percent(high));
            format!("{change} % ({low} … {high})")
        }
        _ => change_with_interval(change, low, high),
    }
}

/// `WORSE: level +1.50 GiB (+1.21 … +1.79)`
pub fn headline(comparison: &Comparison) -> String {
    let words = outcome_words(comparison.outcome);
    format!("{words}: {}", because(comparison))
}

/// Why it came to that, and by how much.
pub fn because(comparison: &Comparison) -> String {
    let changed = |finding| changed(comparison, finding);
    let (before, after) = (&comparison.before, &comparison.after);
    match (comparison.outcome, comparison.leak) {
        (Outcome::Undecided, _) if before.points.min(after.points) < FEWEST_POINTS => {
            "too few points to compare".to_owned()
        }
        (_, LeakChange::Came) => format!("memory leaks{}; it did not before", of(after)),
        (Outcome::Worse, LeakChange::Stayed) => {
            format!("leaks as before, and {}", changed(ChangeFinding::More))
        }
        (Outcome::Worse, _) => changed(ChangeFinding::More),
        (Outcome::Better, LeakChange::Went) => format!("the leak is gone{}", of_before(before)),
        (Outcome::Better, LeakChange::Stayed) => {
            format!("leaks as before, but {}", changed(ChangeFinding::Less))
        }
        (Outcome::Better, _) => changed(ChangeFinding::Less),
        (Outcome::Undecided, LeakChange::Unclear) if 2 * after.leaks > after.runs => {
            "memory leaks now; the runs before are undecided".to_owned()
        }
        (Outcome::Undecided, LeakChange::Unclear) => {
            "memory leaked before; the runs after are undecided".to_owned()
        }
        (Outcome::Undecided, _) => format!(
            "{} of {} runs leak{} now; more repeats would decide",
            after.leaks,
            after.runs,
            if after.leaks == 1 { "s" } else { "" }
        ),
        (Outcome::Same, LeakChange::Stayed) => "leaks as before, no faster".to_owned(),
        (Outcome::Same, _) => "no change above noise and the reporting threshold".to_owned(),
    }
}

/// What a reader must know to read the numbers right: lengths, units, how the noise is known.
pub fn remarks(comparison: &Comparison) -> Vec<String> {
    let (before, after) = (&comparison.before, &comparison.after);
    let mut remarks = Vec::new();
    if comparison.unit.is_none() {
        remarks.push(format!(
            "before counts {}s and after {}s: only amounts of memory are compared",
            before.unit.name(),
            after.unit.name()
        ));
    } else if (before.until - after.until).0.abs() > SAME_LENGTH * before.until.max(after.until).0 {
        remarks.push(lengths(before, after));
    }
    if before.runs == 1 || after.runs == 1 {
        let share = 100.0 * USUAL_SPREAD;
        remarks.push(format!(
            "a single run has no spread: repeats are assumed to differ by {share:.0} %; more runs on each \
             side detect smaller changes"
        ));
    }
    remarks
}

fn lengths(before: &Side, after: &Side) -> String {
    format!(
        "different lengths: {} before, {} after",
        extent(before.until, before.unit),
        extent(after.until, after.unit)
    )
}

/// Every quantity that decides and changed like this.
fn changed(comparison: &Comparison, finding: ChangeFinding) -> String {
    let unit = comparison.unit.unwrap_or(comparison.after.unit);
    let parts: Vec<String> = comparison
        .differences
        .iter()
        .filter(|difference| difference.quantity.decides() && difference.finding == finding)
        .map(|difference| {
            let what = quantity_words(difference.quantity, unit);
            format!("{what} {}", change_words(difference, unit))
        })
        .collect();
    parts.join(", ")
}

fn of(side: &Side) -> String {
    match side.runs {
        1 => " now".to_owned(),
        runs => format!(" now, in {} of {runs} runs", side.leaks),
    }
}

fn of_before(side: &Side) -> String {
    match side.runs {
        1 => String::new(),
        runs => format!(", which {} of {runs} runs had", side.leaks),
    }
}
