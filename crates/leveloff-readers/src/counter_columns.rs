//! Columns with counters of the training, by the names of leveloff's own export.

use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};

use crate::number::number;
use crate::size_unit::SizeUnit;
use crate::table::{Fields, Table};

/// The column of each counter that the table has, and the unit of its numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct CounterColumns([Option<(usize, SizeUnit)>; TrainingCounter::COUNT]);

impl CounterColumns {
    /// Of a table; not the columns that are `taken`.
    pub fn of(table: &Table, taken: impl Fn(usize) -> bool) -> CounterColumns {
        let mut columns = CounterColumns::default();
        for counter in TrainingCounter::ALL {
            let is_it = |name: &str| is_column(counter, name);
            let mut found = table.names.iter().enumerate().filter_map(|(column, name)| {
                let unit = is_it(&name.plain)?;
                (!taken(column)).then_some((column, unit))
            });
            columns.0[counter as usize] = found.next();
        }
        columns
    }

    /// The counters in a row.
    pub fn read(&self, fields: Fields<'_>) -> TrainingCounters {
        let mut counters = TrainingCounters::default();
        for counter in TrainingCounter::ALL {
            let value = self.0[counter as usize].and_then(|(column, unit)| {
                let amount = unit.bytes(number(fields.get(column)?)?)?;
                Some(amount.0)
            });
            counters.set(counter, value);
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
