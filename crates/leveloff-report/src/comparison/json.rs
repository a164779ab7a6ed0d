//! A comparison for programs: one JSON object, every key always there. What is not known is null.

use leveloff_classifier::compare::{Comparison, Difference};
use leveloff_classifier::profile::Side;
use leveloff_text::comparison::{
    because, finding_name, leak_name, outcome_name, quantity_name, remarks,
};
use serde::Serialize;

use crate::comparison::compared::{CommonPlace, Compared};
use crate::verdict::json::{Plain, to_line};

/// Memory at this many common places at most.
const MOST_PLACES: usize = 32;

/// The object, without the end of its line.
pub fn object(compared: &Compared) -> String {
    let comparison = compared.comparison;
    to_line(&ComparisonRow {
        outcome: outcome_name(comparison.outcome),
        text: because(comparison),
        before_names: compared.before_names,
        after_names: compared.after_names,
        numbers: NumbersRow::of(comparison),
        memory: compared
            .common_places(MOST_PLACES)
            .iter()
            .map(PlaceRow::of)
            .collect(),
        notes: [compared.notes, &remarks(comparison)].concat(),
    })
}

#[derive(Serialize)]
struct ComparisonRow<'a> {
    outcome: &'static str,
    text: String,
    before_names: &'a [String],
    after_names: &'a [String],
    #[serde(flatten)]
    numbers: NumbersRow,
    memory: Vec<PlaceRow>,
    notes: Vec<String>,
}

/// What a comparison holds, wherever it is told.
#[derive(Serialize)]
pub(crate) struct NumbersRow {
    leak: &'static str,
    x_unit: Option<&'static str>,
    before: SideRow,
    after: SideRow,
    differences: Vec<DifferenceRow>,
}

#[derive(Serialize)]
struct SideRow {
    runs: u32,
    leaks: u32,
    levels: u32,
    x_unit: &'static str,
    shortest_x: Plain,
    longest_x: Plain,
}

#[derive(Serialize)]
struct DifferenceRow {
    quantity: String,
    before: Plain,
    before_spread: Plain,
    before_error: Plain,
    before_runs: u32,
    after: Plain,
    after_spread: Plain,
    after_error: Plain,
    after_runs: u32,
    change: Plain,
    low: Plain,
    high: Plain,
    material: Plain,
    finding: &'static str,
    decides: bool,
}

#[derive(Serialize)]
struct PlaceRow {
    x: Plain,
    before_bytes: Plain,
    after_bytes: Plain,
}

impl NumbersRow {
    pub(crate) fn of(comparison: &Comparison) -> NumbersRow {
        NumbersRow {
            leak: leak_name(comparison.leak),
            x_unit: comparison
                .unit
                .map(leveloff_classifier::observation::XUnit::name),
            before: SideRow::of(&comparison.before),
            after: SideRow::of(&comparison.after),
            differences: comparison
                .differences
                .iter()
                .map(DifferenceRow::of)
                .collect(),
        }
    }
}

impl SideRow {
    fn of(side: &Side) -> SideRow {
        SideRow {
            runs: side.runs,
            leaks: side.leaks,
            levels: side.levels,
            x_unit: side.unit.name(),
            shortest_x: Plain(Some(side.until)),
            longest_x: Plain(Some(side.longest)),
        }
    }
}

impl DifferenceRow {
    fn of(difference: &Difference) -> DifferenceRow {
        let (before, after) = (difference.before, difference.after);
        DifferenceRow {
            quantity: quantity_name(difference.quantity),
            before: Plain(Some(before.mean)),
            before_spread: Plain(before.spread),
            before_error: Plain(Some(before.error)),
            before_runs: before.runs,
            after: Plain(Some(after.mean)),
            after_spread: Plain(after.spread),
            after_error: Plain(Some(after.error)),
            after_runs: after.runs,
            change: Plain(Some(difference.change)),
            low: Plain(Some(difference.low)),
            high: Plain(Some(difference.high)),
            material: Plain(Some(difference.material)),
            finding: finding_name(difference.finding),
            decides: difference.quantity.decides(),
        }
    }
}

impl PlaceRow {
    fn of(place: &CommonPlace) -> PlaceRow {
        PlaceRow {
            x: Plain(Some(place.x)),
            before_bytes: Plain(Some(place.before)),
            after_bytes: Plain(Some(place.after)),
        }
    }
}
