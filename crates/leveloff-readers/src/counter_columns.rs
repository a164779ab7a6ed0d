//! Columns with counters of the training, by the names of leveloff's own export.

use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};

use crate::number::number;
use crate::size_unit::SizeUnit;
use crate::table::{Fields, Table};

/// The counters that a table has: the column of each, and the unit of its numbers.
#[derive(Debug, Clone, Default)]
pub struct CounterColumns(Vec<(TrainingCounter, usize, SizeUnit)>);

impl CounterColumns {
    /// Of a table; not the columns that are `taken`.
    pub fn of(table: &Table, taken: impl Fn(usize) -> bool) -> CounterColumns {
        let column_of = |counter: TrainingCounter| {
            let mut names = table.names.iter().enumerate();
            names.find_map(|(column, name)| {
                let unit = is_column(counter, &name.plain)?;
                (!taken(column)).then_some((counter, column, unit))
            })
        };
        let counters = TrainingCounter::ALL.into_iter();
        CounterColumns(counters.filter_map(column_of).collect())
    }

    /// The counters in a row.
    pub fn read(&self, fields: Fields<'_>) -> TrainingCounters {
        let mut counters = TrainingCounters::default();
        for &(counter, column, unit) in &self.0 {
            let value = fields.get(column).and_then(number);
            let amount = value.and_then(|value| unit.bytes(value));
            counters.set(counter, amount.map(|amount| amount.0));
        }
        counters
    }
}

/// Whether a column of this name holds the counter; then, in what unit. `tensor_mb` will do.
fn is_column(counter: TrainingCounter, plain: &str) -> Option<SizeUnit> {
    if !counter.is_bytes() {
        let is_it = plain == counter.name()
            || (counter == TrainingCounter::Tensors && plain == "tensor_count");
        return is_it.then_some(SizeUnit::B);
    }
    let (base, unit) = plain.rsplit_once('_')?;
    let unit = SizeUnit::of_word(unit.as_bytes())?;
    (counter.name().strip_suffix("_bytes") == Some(base)).then_some(unit)
}
