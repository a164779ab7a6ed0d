//! A comparison for programs: one JSON object, every key always there. What is not known is null.

use leveloff_classifier::compare::{Comparison, Difference, LineChange, LineRate};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::profile::Side;
use leveloff_text::comparison::{
    because, finding_name, leak_name, outcome_name, quantity_name, remarks,
};
use serde_json::Value;

use crate::comparison::compared::Compared;
use crate::json::{list, merged, object};

/// Memory at this many common places at most.
const MOST_PLACES: usize = 32;

/// The object, without the end of its line.
pub fn object(compared: &Compared) -> String {
    let comparison = compared.comparison;
    let head = object! {
        outcome: outcome_name(comparison.outcome),
        text: because(comparison),
        before_names: compared.before_names,
        after_names: compared.after_names,
    };
    let tail = object! {
        memory: list(compared.common_places(MOST_PLACES), |place| object! {
            x: place.x,
            before_bytes: place.before,
            after_bytes: place.after,
        }),
        lines: compared.lines.map(|lines| list(lines, line_row)),
        notes: [compared.notes, &remarks(comparison)].concat(),
    };
    merged([head, numbers(comparison), tail]).to_string()
}

/// What a comparison holds, which other documents have as well.
pub(crate) fn numbers(comparison: &Comparison) -> Value {
    object! {
        leak: leak_name(comparison.leak),
        x_unit: comparison.unit.map(XUnit::name),
        before: side_row(&comparison.before),
        after: side_row(&comparison.after),
        differences: list(&comparison.differences, difference_row),
    }
}

/// A line of the program, before and after, in bytes for each unit of the axis.
fn line_row(line: &LineChange) -> Value {
    let own = line.site.own_frame();
    let rate = |side: Option<LineRate>| side.map(|it| it.rate.0);
    let margin = |side: Option<LineRate>| side.map(|it| it.margin.0);
    object! {
        file: own.and_then(|frame| frame.file.as_deref()),
        line: own.and_then(|frame| frame.line),
        function: own.map(|frame| frame.function.as_str()),
        source: line.site.source,
        before_rate_bytes: rate(line.before),
        before_margin_bytes: margin(line.before),
        after_rate_bytes: rate(line.after),
        after_margin_bytes: margin(line.after),
        change_bytes: line.change.0,
        low_bytes: line.low.0,
        high_bytes: line.high.0,
        finding: finding_name(line.finding),
    }
}

fn side_row(side: &Side) -> Value {
    object! {
        runs: side.runs,
        leaks: side.leaks,
        levels: side.levels,
        x_unit: side.unit.name(),
        shortest_x: side.until,
        longest_x: side.longest,
    }
}

fn difference_row(difference: &Difference) -> Value {
    let (before, after) = (difference.before, difference.after);
    object! {
        quantity: quantity_name(difference.quantity),
        before: before.mean,
        before_spread: before.spread,
        before_error: before.error,
        before_runs: before.runs,
        after: after.mean,
        after_spread: after.spread,
        after_error: after.error,
        after_runs: after.runs,
        change: difference.change,
        low: difference.low,
        high: difference.high,
        material: difference.material,
        finding: finding_name(difference.finding),
        decides: difference.quantity.decides(),
    }
}
