//! Columns with counters of the training, by the names of leveloff's own export.

use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};

use crate::number::number;
use crate::size_unit::SizeUnit;
use crate::table::{Fields, Table};

/// Where each fact is, if it is there: the column, and what one of its units is worth.
#[derive(Debug, Clone, Copy, Default)]
pub struct InsideColumns([Option<(usize, SizeUnit)>; TrainingCounter::COUNT]);

impl InsideColumns {
    /// Of a table; not the columns that are `taken`.
    pub fn of(table: &Table, taken: impl Fn(usize) -> bool) -> InsideColumns {
        let mut columns = InsideColumns::default();
        for fact in TrainingCounter::ALL {
            let is_it = |name: &str| is_column(fact, name);
            let mut found = table.names.iter().enumerate().filter_map(|(column, name)| {
                let unit = is_it(&name.plain)?;
                (!taken(column)).then_some((column, unit))
            });
            columns.0[fact as usize] = found.next();
        }
        columns
    }

    /// The counters in a row.
    pub fn read(&self, fields: Fields<'_>) -> TrainingCounters {
        let mut inside = TrainingCounters::default();
        for fact in TrainingCounter::ALL {
            let value = self.0[fact as usize].and_then(|(column, unit)| {
                let amount = unit.bytes(number(fields.get(column)?)?)?;
                Some(amount.0)
            });
            inside.set(fact, value);
        }
        inside
    }
}

/// Whether a column of this name holds the fact; then, in what unit. `tensor_mb` will do.
fn is_column(fact: TrainingCounter, plain: &str) -> Option<SizeUnit> {
    if !fact.is_bytes() {
        let is_it =
            plain == fact.name() || (fact == TrainingCounter::Tensors && plain == "tensor_count");
        return is_it.then_some(SizeUnit::B);
    }
    let (base, unit) = plain.rsplit_once('_')?;
    let unit = SizeUnit::of_word(unit.as_bytes())?;
    (fact.name().strip_suffix("_bytes") == Some(base)).then_some(unit)
}
